/**
 * What the built-in functions of JSONata cost, by the size of what they are given: their work is a single step for JSONata, and done
 * without a pause. Calibrated so that a step is some tenths of a microsecond.
 */
import type { Meter } from './meter.ts';
import {
  characterSteps,
  elementSteps,
  searchSteps,
  shallowSteps,
  textSteps,
  walkSteps,
} from './size.ts';

type Args = readonly unknown[];

/** Steps of a call with these arguments; `most`: it need not be told more exactly what is more than that. */
type Cost = (args: Args, most: number) => number;

const ofText: Cost = ([text]) => (typeof text === 'string' ? textSteps(text) : 1);
const ofCharacters: Cost = ([text]) => (typeof text === 'string' ? characterSteps(text) : 1);
const ofSearch: Cost = ([text, pattern]) => searchSteps(text, pattern);
const ofElements: Cost = ([list]) => listSteps(list);
const ofFieldNames: Cost = ([object]) => shallowSteps(object);
/** Lists within the list are looked into, objects are not. */
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
/** Elements are added one by one to a copy of all before them. */
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

/** By name; those of `languageFunctions` charge for themselves. */
export const functionCosts: Readonly<Record<string, Cost>> = {
  abs: constant,
  append: ofBoth,
  assert: constant,
  average: ofElements,
  base64decode: ofCharacters,
  base64encode: ofCharacters,
  boolean: ofElementsWithin,
  ceil: constant,
  clone: ofAll,
  contains: ofSearch,
  count: constant,
  decodeUrl: ofCharacters,
  decodeUrlComponent: ofCharacters,
  distinct: ofAll,
  each: ofFieldNames,
  encodeUrl: ofCharacters,
  encodeUrlComponent: ofCharacters,
  error: constant,
  exists: constant,
  filter: ofElements,
  floor: constant,
  formatBase: constant,
  formatInteger: fixed,
  formatNumber: fixed,
  fromMillis: fixed,
  join: ofJoining,
  keys: ofFields,
  length: ofCharacters,
  lookup: ([list]) => (Array.isArray(list) ? elementSteps(list) : 1),
  lowercase: ofText,
  map: ofElements,
  match: ofText,
  max: ofElements,
  merge: ofFields,
  min: ofElements,
  not: ofElementsWithin,
  number: ofText,
  pad: ([text, width]) =>
    (typeof text === 'string' ? characterSteps(text) : 1) +
    (typeof width === 'number' ? Math.abs(width) / 16 : 0),
  parseInteger: fixed,
  power: constant,
  random: constant,
  reduce: ofElements,
  replace: ofSearch,
  reverse: ofElements,
  round: constant,
  shuffle: ofElements,
  sift: ofFieldNames,
  single: ofElements,
  sort: ofSorting,
  split: ofSearch,
  spread: ofCopies,
  sqrt: constant,
  string: ofAll,
  substring: ofCharacters,
  substringAfter: ofSearch,
  substringBefore: ofSearch,
  sum: ofElements,
  toMillis: fixed,
  trim: ofCharacters,
  type: constant,
  uppercase: ofText,
  zip: (args) => args.reduce<number>((steps, each) => steps + listSteps(each), 1),
};

/** Objects are not looked into. */
function listSteps(value: unknown): number {
  return Array.isArray(value) ? 1 + (value.length >> 3) : 1;
}

/** Charges a call before it is made. */
export function chargeCall(meter: Meter, name: string, args: Args): void {
  const cost = functionCosts[name] ?? constant;
  meter.spend(Math.ceil(cost(args, meter.stepsLeft)));
}

/** Charges what a call has made. */
export function chargeResult(meter: Meter, result: unknown): void {
  if (typeof result === 'string') meter.produce(result.length);
  else if (Array.isArray(result)) meter.produce(16 * result.length);
}
