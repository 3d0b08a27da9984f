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
  /** Names of the parameters; optional ones end with `?`, the last one with `...` if it repeats. */
  readonly params: readonly string[];
  /** With fewer arguments than this, the context is the first argument. */
  readonly usesContextBelow?: number;
  /** The result is (part of) its first argument or of all its arguments; otherwise a new value. */
  readonly gives?: 'first' | 'all';
  /**
   * The function reads the elements of a list, or the fields of a map: those that are `null` are missing values to it.
   * Other functions only count, move or copy them.
   */
  readonly reads?: 'elements' | 'fields';
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

const functions = {
  abs: { params: ['number'], usesContextBelow: 1, cost: constant },
  append: { params: ['list', 'list'], gives: 'all', cost: ofBoth },
  assert: { params: ['condition', 'message?'], cost: constant },
  average: { params: ['numbers'], reads: 'elements', cost: ofElements },
  base64decode: { params: ['text'], usesContextBelow: 1, cost: ofCharacters },
  base64encode: { params: ['text'], usesContextBelow: 1, cost: ofCharacters },
  boolean: { params: ['value'], usesContextBelow: 1, cost: ofElementsWithin },
  ceil: { params: ['number'], usesContextBelow: 1, cost: constant },
  clone: { params: ['value'], usesContextBelow: 1, gives: 'first', cost: ofAll },
  contains: { params: ['text', 'pattern'], usesContextBelow: 2, cost: ofSearch },
  count: { params: ['list'], cost: constant },
  decodeUrl: { params: ['text'], usesContextBelow: 1, cost: ofCharacters },
  decodeUrlComponent: { params: ['text'], usesContextBelow: 1, cost: ofCharacters },
  distinct: { params: ['list'], gives: 'first', cost: ofAll },
  each: {
    params: ['object', 'function'],
    usesContextBelow: 2,
    reads: 'fields',
    cost: ofFieldNames,
  },
  encodeUrl: { params: ['text'], usesContextBelow: 1, cost: ofCharacters },
  encodeUrlComponent: { params: ['text'], usesContextBelow: 1, cost: ofCharacters },
  error: { params: ['message?'], cost: constant },
  exists: { params: ['value'], cost: constant },
  filter: { params: ['list', 'function'], reads: 'elements', cost: ofElements },
  floor: { params: ['number'], usesContextBelow: 1, cost: constant },
  formatBase: { params: ['number', 'radix?'], usesContextBelow: 1, cost: constant },
  formatInteger: { params: ['number', 'picture'], usesContextBelow: 2, cost: fixed },
  formatNumber: { params: ['number', 'picture', 'options?'], usesContextBelow: 2, cost: fixed },
  fromMillis: { params: ['number', 'picture?', 'timezone?'], usesContextBelow: 1, cost: fixed },
  join: { params: ['list', 'separator?'], reads: 'elements', cost: ofJoining },
  keys: { params: ['object'], usesContextBelow: 1, reads: 'fields', cost: ofFields },
  length: { params: ['text'], usesContextBelow: 1, cost: ofCharacters },
  lookup: {
    params: ['object', 'key'],
    usesContextBelow: 2,
    cost: ([list]) => (Array.isArray(list) ? elementSteps(list) : 1),
  },
  lowercase: { params: ['text'], usesContextBelow: 1, cost: ofText },
  map: { params: ['list', 'function'], reads: 'elements', cost: ofElements },
  match: { params: ['text', 'pattern', 'limit?'], usesContextBelow: 2, cost: ofText },
  max: { params: ['numbers'], reads: 'elements', cost: ofElements },
  merge: { params: ['objects'], reads: 'elements', cost: ofFields },
  min: { params: ['numbers'], reads: 'elements', cost: ofElements },
  not: { params: ['value'], usesContextBelow: 1, cost: ofElementsWithin },
  number: { params: ['value'], usesContextBelow: 1, cost: ofText },
  pad: {
    params: ['text', 'width', 'character?'],
    usesContextBelow: 2,
    cost: ([text, width]) =>
      (typeof text === 'string' ? characterSteps(text) : 1) +
      (typeof width === 'number' ? Math.abs(width) / 16 : 0),
  },
  parseInteger: { params: ['text', 'picture'], usesContextBelow: 2, cost: fixed },
  power: { params: ['number', 'exponent'], usesContextBelow: 2, cost: constant },
  random: { params: [], cost: constant },
  reduce: { params: ['list', 'function', 'init?'], reads: 'elements', cost: ofElements },
  replace: {
    params: ['text', 'pattern', 'replacement', 'limit?'],
    usesContextBelow: 3,
    cost: ofSearch,
  },
  reverse: { params: ['list'], gives: 'first', cost: ofElements },
  round: { params: ['number', 'precision?'], usesContextBelow: 1, cost: constant },
  shuffle: { params: ['list'], gives: 'first', cost: ofElements },
  sift: {
    params: ['object', 'function'],
    usesContextBelow: 2,
    reads: 'fields',
    cost: ofFieldNames,
  },
  single: { params: ['list', 'function?'], reads: 'elements', cost: ofElements },
  sort: { params: ['list', 'function?'], gives: 'first', reads: 'elements', cost: ofSorting },
  split: { params: ['text', 'separator', 'limit?'], usesContextBelow: 2, cost: ofSearch },
  spread: { params: ['object'], usesContextBelow: 1, reads: 'fields', cost: ofCopies },
  sqrt: { params: ['number'], usesContextBelow: 1, cost: constant },
  string: { params: ['value', 'prettify?'], usesContextBelow: 1, cost: ofAll },
  substring: { params: ['text', 'start', 'length?'], usesContextBelow: 2, cost: ofCharacters },
  substringAfter: { params: ['text', 'characters'], usesContextBelow: 2, cost: ofSearch },
  substringBefore: { params: ['text', 'characters'], usesContextBelow: 2, cost: ofSearch },
  sum: { params: ['numbers'], reads: 'elements', cost: ofElements },
  toMillis: { params: ['text', 'picture?'], usesContextBelow: 1, cost: fixed },
  trim: { params: ['text'], usesContextBelow: 1, cost: ofCharacters },
  type: { params: ['value'], cost: constant },
  uppercase: { params: ['text'], usesContextBelow: 1, cost: ofText },
  zip: {
    params: ['list', 'list...'],
    cost: (args) => args.reduce<number>((steps, each) => steps + listSteps(each), 1),
  },
} satisfies Record<string, BuiltinFunction>;

export type BuiltinName = keyof typeof functions;

/** Without `$eval`, which is not supported. */
export const builtinFunctions: ReadonlyMap<string, BuiltinFunction> = new Map(
  Object.entries(functions),
);

/** What a function reads of its arguments; see {@link BuiltinFunction.reads}. */
export function readsOf(name: string): BuiltinFunction['reads'] {
  return builtinFunctions.get(name)?.reads;
}

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
