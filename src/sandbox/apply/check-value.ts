import { isJsonObject, type Json } from '#util/json.ts';
import { goSyntax, goText, goType } from '../go-value.ts';
import { isJsonList } from '../json-fields.ts';
import { ApplyError } from './apply-error.ts';
import {
  type FieldType,
  type ListShape,
  type MapShape,
  type ScalarName,
  shapeOf,
  typeOfField,
} from './field-type.ts';
import { describeElement, fieldElement, itemElement, type PathElement } from './path-element.ts';

/** Why a value does not fit a type, with the server's message. */
export interface TypeProblem {
  /** `.spec.ports[port=80].name`; empty = the value itself. */
  readonly path: string;
  readonly message: string;
}

/** All reasons why a value cannot be merged: unknown fields, wrong types, duplicate items. */
export function checkValue(type: FieldType | undefined, value: Json): readonly TypeProblem[] {
  const problems: TypeProblem[] = [];
  checkAt({ type, value, at: undefined }, problems);
  return problems;
}

/** Returns whether a stored value has this type. Duplicate items are allowed. */
export function isOfType(type: FieldType | undefined, value: Json): boolean {
  return checkValue(type, value).every(({ message }) => message.startsWith(duplicateText));
}

const duplicateText = 'duplicate entries for key ';

/** The path to a value; converted to text only when there is an error. */
interface Place {
  readonly above: Place | undefined;
  /** A field or an item; the index for items of atomic lists. */
  readonly step: PathElement | number;
}

interface Check {
  readonly type: FieldType | undefined;
  readonly value: Json;
  /** Undefined = the value itself. */
  readonly at: Place | undefined;
}

function pathText(at: Place | undefined): string {
  if (at === undefined) return '';
  const { above, step } = at;
  return pathText(above) + (typeof step === 'number' ? `[${step}]` : describeElement(step));
}

function checkAt({ type, value, at }: Check, problems: TypeProblem[]): void {
  if (type === undefined) {
    problems.push({ path: pathText(at), message: 'field not declared in schema' });
    return;
  }
  if (value === null) return;
  switch (shapeOf(type, value)) {
    case 'map':
      if (type.map !== undefined) checkMap(type.map, { value, at }, problems);
      return;
    case 'list':
      if (type.list !== undefined) checkList(type.list, { value, at }, problems);
      return;
    case 'scalar':
      checkScalar(type.scalar, { value, at }, problems);
      return;
  }
}

type Found = Omit<Check, 'type'>;

function checkMap(map: MapShape, { value, at }: Found, problems: TypeProblem[]): void {
  if (!isJsonObject(value)) {
    problems.push({ path: pathText(at), message: `expected map, got &{${goText(value)}}` });
    return;
  }
  for (const [name, field = null] of Object.entries(value)) {
    const type = typeOfField(map, name);
    checkAt({ type, value: field, at: { above: at, step: fieldElement(name) } }, problems);
  }
}

function checkList(list: ListShape, { value, at }: Found, problems: TypeProblem[]): void {
  if (!isJsonList(value)) {
    problems.push({ path: pathText(at), message: `expected list, got &{${goText(value)}}` });
    return;
  }
  const seen = new Set<string>();
  for (const [index, item] of value.entries()) {
    const step = list.atomic ? index : elementOrProblem(list, item);
    if (step instanceof ApplyError) {
      problems.push({ path: pathText(at), message: `element ${index}: ${step.message}` });
      return;
    }
    if (typeof step === 'string') {
      if (seen.has(step)) {
        const message = duplicateText + describeElement(step);
        problems.push({ path: pathText(at), message });
      }
      seen.add(step);
    }
    checkAt({ type: list.item, value: item, at: { above: at, step } }, problems);
  }
}

function elementOrProblem(list: ListShape, item: Json): PathElement | ApplyError {
  try {
    return itemElement(list, item);
  } catch (error) {
    if (error instanceof ApplyError) return error;
    throw error;
  }
}

function checkScalar(
  scalar: ScalarName | undefined,
  { value, at }: Found,
  problems: TypeProblem[],
): void {
  const message = scalarProblem(scalar, value);
  if (message !== undefined) problems.push({ path: pathText(at), message });
}

function scalarProblem(scalar: ScalarName | undefined, value: Json): string | undefined {
  switch (scalar) {
    case 'numeric':
      if (typeof value === 'number' || typeof value === 'bigint') return undefined;
      return `expected numeric (int or float), got ${goType(value)}`;
    case 'string':
      if (typeof value === 'string') return undefined;
      return `expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`;
    case 'boolean':
      if (typeof value === 'boolean') return undefined;
      return `expected boolean, got &{${goText(value)}}`;
    default:
      if (typeof value !== 'object') return undefined;
      return `expected any scalar, got &{${goText(value)}}`;
  }
}
