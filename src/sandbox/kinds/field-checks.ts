import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { fieldOf, isJsonList } from '../json-fields.ts';
import type { NameRule } from '../metadata/name-rules.ts';
import {
  type FieldError,
  invalidField,
  requiredField,
  unsupportedValue,
} from '../status/field-error.ts';

/** A value of an object that is validated. */
export interface Found {
  readonly value: Json | undefined;
  readonly at: string;
  /** The object that has the field. */
  readonly owner: JsonObject;
}

export type Check = (found: Found) => readonly FieldError[];

/**
 * Checks by path: `spec.limits[].max{}` are all values of the maps `max`. A path ends where a field is absent; `spec!.x` takes an absent
 * `spec` for an empty one.
 */
export type Checks = Readonly<Record<string, Check | readonly Check[]>>;

/** All checks of a table. */
export function fields(checks: Checks): Check {
  const rows = Object.entries(checks).map(([path, check]) => ({
    steps: path.split('.').map(stepOf),
    checks: typeof check === 'function' ? [check] : check,
  }));
  return ({ value, at }) => {
    if (!isJsonObject(value)) return [];
    return rows.flatMap((row) =>
      find(value, row.steps, 0, at).flatMap((found) => row.checks.flatMap((check) => check(found))),
    );
  };
}

/** Validates an object, or a part of it that is at this path. */
export function errorsOf(check: Check, object: JsonObject, at = ''): readonly FieldError[] {
  return check({ value: object, at, owner: object });
}

/** An error for each of these fields that differs, with what an absent one is: `{ 'spec.selector': null }`. */
export function changedFields(
  object: JsonObject,
  before: JsonObject,
  fixed: Readonly<Record<string, Json>>,
): readonly FieldError[] {
  return Object.entries(fixed).flatMap(([path, absent]) => {
    const [value, old] = [object, before].map((each) => valueAt(each, path.split('.')) ?? absent);
    return deepEqual(value, old) ? [] : [invalidField(path, value, 'field is immutable')];
  });
}

function valueAt(object: JsonObject, [name = '', ...rest]: readonly string[]): Json | undefined {
  const value = fieldOf(object, name);
  if (rest.length === 0) return value;
  return isJsonObject(value) ? valueAt(value, rest) : undefined;
}

interface Step {
  readonly name: string;
  readonly of: 'field' | 'items' | 'values' | 'struct';
}

function stepOf(text: string): Step {
  if (text.endsWith('[]')) return { name: text.slice(0, -2), of: 'items' };
  if (text.endsWith('{}')) return { name: text.slice(0, -2), of: 'values' };
  return text.endsWith('!')
    ? { name: text.slice(0, -1), of: 'struct' }
    : { name: text, of: 'field' };
}

function find(
  owner: JsonObject,
  steps: readonly Step[],
  index: number,
  at: string,
): readonly Found[] {
  const step = steps[index];
  if (step === undefined) return [];
  const values = valuesAt(owner, step, at === '' ? step.name : `${at}.${step.name}`);
  if (index === steps.length - 1) return values;
  return values.flatMap((found) => {
    const inner = found.value ?? (step.of === 'struct' ? {} : undefined);
    return isJsonObject(inner) ? find(inner, steps, index + 1, found.at) : [];
  });
}

function valuesAt(owner: JsonObject, { name, of }: Step, at: string): readonly Found[] {
  const value = fieldOf(owner, name);
  if (of === 'items')
    return isJsonList(value)
      ? value.map((item, index) => ({ value: item, at: `${at}[${index}]`, owner }))
      : [];
  if (of !== 'values') return [{ value, at, owner }];
  return Object.entries(isJsonObject(value) ? value : {}).map(([key, item]) => ({
    value: item,
    at: `${at}[${key}]`,
    owner,
  }));
}

/** Not absent, empty or zero. */
export function required(detail = ''): Check {
  return ({ value, at }) => (isEmpty(value) ? [requiredField(at, detail)] : []);
}

export function isEmpty(value: Json | undefined): boolean {
  if (isJsonList(value)) return value.length === 0;
  return value === undefined || value === null || value === '' || value === 0 || value === false;
}

/** A text that follows a rule, unless it is empty. */
export function named(rule: NameRule): Check {
  const check = matching(rule);
  return (found) => (found.value === '' ? [] : check(found));
}

/** A text that follows a rule, unless it is absent. */
export function matching(rule: NameRule): Check {
  return ({ value, at }) =>
    typeof value === 'string' ? rule(value).map((message) => invalidField(at, value, message)) : [];
}

/** One of these texts; an absent one is empty. */
export function oneOf(...choices: readonly string[]): Check {
  return ({ value = '', at }) =>
    choices.includes(String(value)) ? [] : [unsupportedValue(at, value, choices)];
}

/** Only if the field is there. */
export function optional(check: Check): Check {
  return (found) => (found.value === undefined || found.value === null ? [] : check(found));
}

/** Only if the field is there, and not empty. */
export function unlessEmpty(check: Check): Check {
  return (found) => (isEmpty(found.value) ? [] : check(found));
}

/** Invalid where the number, 0 if absent, does not pass. */
export function number(isValid: (value: number) => boolean, detail: string): Check {
  return ({ value, at }) =>
    isValid(Number(value ?? 0)) ? [] : [invalidField(at, value ?? 0, detail)];
}

export const notNegative: Check = number(
  (value) => value >= 0,
  'must be greater than or equal to 0',
);

export function between(least: number, most: number): Check {
  const detail = `must be between ${least} and ${most}, inclusive`;
  return number((value) => value >= least && value <= most, detail);
}
