import { isJsonObject, type Json } from '../../util/json.ts';
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
import { describeElement, itemElement } from './path-element.ts';

/** Why a value does not fit a type, in the server's words. */
export interface TypeProblem {
  /** `.spec.ports[port=80].name`; empty = the value itself. */
  readonly path: string;
  readonly message: string;
}

/** All that keeps a value from being merged: unknown fields, wrong types, items that are there twice. */
export function checkValue(type: FieldType | undefined, value: Json): readonly TypeProblem[] {
  const problems: TypeProblem[] = [];
  checkAt({ type, value, path: '' }, problems);
  return problems;
}

interface Place {
  readonly type: FieldType | undefined;
  readonly value: Json;
  readonly path: string;
}

function checkAt({ type, value, path }: Place, problems: TypeProblem[]): void {
  if (type === undefined) {
    problems.push({ path, message: 'field not declared in schema' });
    return;
  }
  if (value === null) return;
  switch (shapeOf(type, value)) {
    case 'map':
      if (type.map !== undefined) checkMap(type.map, { value, path }, problems);
      return;
    case 'list':
      if (type.list !== undefined) checkList(type.list, { value, path }, problems);
      return;
    case 'scalar':
      checkScalar(type.scalar, { value, path }, problems);
      return;
  }
}

type Found = Omit<Place, 'type'>;

function checkMap(map: MapShape, { value, path }: Found, problems: TypeProblem[]): void {
  if (!isJsonObject(value)) {
    problems.push({ path, message: `expected map, got &{${goText(value)}}` });
    return;
  }
  for (const [name, field] of Object.entries(value)) {
    const place = {
      type: typeOfField(map, name),
      value: field ?? null,
      path: `${path}.${name}`,
    };
    checkAt(place, problems);
  }
}

function checkList(list: ListShape, { value, path }: Found, problems: TypeProblem[]): void {
  if (!isJsonList(value)) {
    problems.push({ path, message: `expected list, got &{${goText(value)}}` });
    return;
  }
  const seen = new Set<string>();
  for (const [index, item] of value.entries()) {
    let step = `[${index}]`;
    if (!list.atomic) {
      const element = elementOrProblem(list, item);
      if (element instanceof ApplyError) {
        problems.push({ path, message: `element ${index}: ${element.message}` });
        return;
      }
      step = describeElement(element);
      if (seen.has(element)) problems.push({ path, message: `duplicate entries for key ${step}` });
      seen.add(element);
    }
    checkAt({ type: list.item, value: item, path: path + step }, problems);
  }
}

function elementOrProblem(list: ListShape, item: Json): string | ApplyError {
  try {
    return itemElement(list, item);
  } catch (error) {
    if (error instanceof ApplyError) return error;
    throw error;
  }
}

function checkScalar(
  scalar: ScalarName | undefined,
  { value, path }: Found,
  problems: TypeProblem[],
): void {
  const message = scalarProblem(scalar, value);
  if (message !== undefined) problems.push({ path, message });
}

function scalarProblem(scalar: ScalarName | undefined, value: Json): string | undefined {
  switch (scalar) {
    case 'numeric':
      if (typeof value === 'number') return undefined;
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
