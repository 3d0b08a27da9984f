/** Properties of JSONata's built-in functions for checks, reference analysis and metering. */
import type { Meter } from './meter.ts';
import {
  characterSteps,
  elementSteps,
  searchSteps,
  shallowSteps,
  textSteps,
  walkSteps,
} from './step-costs.ts';

interface BuiltinFunction {
  /** With fewer arguments than this, the context is the first argument. */
  readonly usesContextBelow?: number;
  /** The result is (part of) its first argument or of all its arguments; otherwise a new value. */
  readonly gives?: 'first' | 'all';
  /**
   * Cost by the size of the arguments. JSONata counts a call as one step and does not interrupt it. Calibrated so
   * that a step takes a few tenths of a microsecond.
   */
  readonly cost: Cost;
}

type Args = readonly unknown[];

/** Steps of a call with these arguments. Costs above `most` need not be exact. */
type Cost = (args: Args, most: number) => number;

const ofText: Cost = ([text]) => (typeof text === 'string' ? textSteps(text) : 1);
const ofCharacters: Cost = ([text]) => (typeof text === 'string' ? characterSteps(text) : 1);
const ofSearch: Cost = ([text, pattern]) => searchSteps(text, pattern);
const ofElements: Cost = ([list]) => listSteps(list);
const ofFieldNames: Cost = ([object]) => shallowSteps(object);
/** Includes nested lists, but not objects. */
const ofElementsWithin: Cost = ([list]) =>
  Array.isArray(list) ? elementSteps(list) : shallowSteps(list);
const ofAll: Cost = ([value], most) => walkSteps(value, most);
const ofBoth: Cost = ([a, b]) => listSteps(a) + listSteps(b);
const ofFields: Cost = ([list]) => {
  if (!Array.isArray(list)) return shallowSteps(list);
  let steps = 1;
  for (const each of list) steps += 1 + shallowSteps(each);
  return steps;
};
/** Each element is appended to a copy of all previous ones. */
const ofCopies: Cost = ([list]) => {
  const length = Array.isArray(list) ? list.length : 0;
  return shallowSteps(list) + length + (length * length) / 256;
};
const ofSorting: Cost = ([list]) => {
  if (!Array.isArray(list)) return 1;
  let steps = 0;
  for (const each of list) steps += typeof each === 'string' ? textSteps(each) : 1;
  return steps * Math.ceil(Math.log2(list.length + 2));
};
const ofJoining: Cost = ([list]) => {
  if (!Array.isArray(list)) return 1;
  let steps = 1;
  for (const each of list) steps += typeof each === 'string' ? textSteps(each) : 1;
  return steps;
};
const constant: Cost = () => 1;
const fixed: Cost = () => 50;

/** Without `$eval`, which is not supported. */
export const builtinFunctions: ReadonlyMap<string, BuiltinFunction> = new Map(
  Object.entries({
    abs: { usesContextBelow: 1, cost: constant },
    append: { gives: 'all', cost: ofBoth },
    assert: { cost: constant },
    average: { cost: ofElements },
    base64decode: { usesContextBelow: 1, cost: ofCharacters },
    base64encode: { usesContextBelow: 1, cost: ofCharacters },
    boolean: { usesContextBelow: 1, cost: ofElementsWithin },
    ceil: { usesContextBelow: 1, cost: constant },
    clone: { usesContextBelow: 1, gives: 'first', cost: ofAll },
    contains: { usesContextBelow: 2, cost: ofSearch },
    count: { cost: constant },
    decodeUrl: { usesContextBelow: 1, cost: ofCharacters },
    decodeUrlComponent: { usesContextBelow: 1, cost: ofCharacters },
    distinct: { gives: 'first', cost: ofAll },
    each: { usesContextBelow: 2, cost: ofFieldNames },
    encodeUrl: { usesContextBelow: 1, cost: ofCharacters },
    encodeUrlComponent: { usesContextBelow: 1, cost: ofCharacters },
    error: { cost: constant },
    exists: { cost: constant },
    filter: { cost: ofElements },
    floor: { usesContextBelow: 1, cost: constant },
    formatBase: { usesContextBelow: 1, cost: constant },
    formatInteger: { usesContextBelow: 2, cost: fixed },
    formatNumber: { usesContextBelow: 2, cost: fixed },
    fromMillis: { usesContextBelow: 1, cost: fixed },
    join: { cost: ofJoining },
    keys: { usesContextBelow: 1, cost: ofFields },
    length: { usesContextBelow: 1, cost: ofCharacters },
    lookup: {
      usesContextBelow: 2,
      cost: ([list]) => (Array.isArray(list) ? elementSteps(list) : 1),
    },
    lowercase: { usesContextBelow: 1, cost: ofText },
    map: { cost: ofElements },
    match: { usesContextBelow: 2, cost: ofText },
    max: { cost: ofElements },
    merge: { cost: ofFields },
    min: { cost: ofElements },
    not: { usesContextBelow: 1, cost: ofElementsWithin },
    number: { usesContextBelow: 1, cost: ofText },
    pad: {
      usesContextBelow: 2,
      cost: ([text, width]) =>
        (typeof text === 'string' ? characterSteps(text) : 1) +
        (typeof width === 'number' ? Math.abs(width) / 16 : 0),
    },
    parseInteger: { usesContextBelow: 2, cost: fixed },
    power: { usesContextBelow: 2, cost: constant },
    random: { cost: constant },
    reduce: { cost: ofElements },
    replace: { usesContextBelow: 3, cost: ofSearch },
    reverse: { gives: 'first', cost: ofElements },
    round: { usesContextBelow: 1, cost: constant },
    shuffle: { gives: 'first', cost: ofElements },
    sift: { usesContextBelow: 2, cost: ofFieldNames },
    single: { cost: ofElements },
    sort: { gives: 'first', cost: ofSorting },
    split: { usesContextBelow: 2, cost: ofSearch },
    spread: { usesContextBelow: 1, cost: ofCopies },
    sqrt: { usesContextBelow: 1, cost: constant },
    string: { usesContextBelow: 1, cost: ofAll },
    substring: { usesContextBelow: 2, cost: ofCharacters },
    substringAfter: { usesContextBelow: 2, cost: ofSearch },
    substringBefore: { usesContextBelow: 2, cost: ofSearch },
    sum: { cost: ofElements },
    toMillis: { usesContextBelow: 1, cost: fixed },
    trim: { usesContextBelow: 1, cost: ofCharacters },
    type: { cost: constant },
    uppercase: { usesContextBelow: 1, cost: ofText },
    zip: { cost: (args) => args.reduce<number>((steps, each) => steps + listSteps(each), 1) },
  } satisfies Record<string, BuiltinFunction>),
);

/** Does not include nested objects. */
function listSteps(value: unknown): number {
  return Array.isArray(value) ? 1 + (value.length >> 3) : 1;
}

/** Charges a call before it is made. */
export function chargeCall(meter: Meter, name: string, args: Args): void {
  const { cost = constant } = builtinFunctions.get(name) ?? {};
  meter.spend(Math.ceil(cost(args, meter.stepsLeft)));
}

/** Charges the result of a call. */
export function chargeResult(meter: Meter, result: unknown): void {
  if (typeof result === 'string') meter.allocate(result.length);
  else if (Array.isArray(result)) meter.allocate(16 * result.length);
}
