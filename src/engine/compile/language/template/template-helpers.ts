import { encodeBase64 } from '#util/base64.ts';
import { canonicalJson } from '#util/canonical-json.ts';
import { deepEqual } from '#util/deep-equal.ts';
import { ExpressionError } from '../evaluation-error.ts';
import type { FunctionDependencies, Helper } from '../functions/language-function.ts';
import { meteredCopy, meteredYamlCopy } from '../functions.ts';
import type { Meter } from '../meter.ts';
import { presentValue, withoutNulls } from '../nulls.ts';
import { assertTextLength, roundedNumber } from '../plain-json.ts';
import { characterSteps, shallowSteps, walkSteps } from '../step-costs.ts';

/** The context of helpers. */
interface TemplateContext {
  readonly tools: FunctionDependencies;
  /** Charged by each helper whose work grows with its arguments. */
  readonly meter: Meter;
}

/** A Handlebars helper. Missing arguments are an error, unless `takesMissing` is set. */
export type TemplateHelper = Helper<TemplateContext>;

/** The helpers besides `if`, `unless`, `each` and `with`. The documentation is generated from this table. */
export const templateHelpers: readonly TemplateHelper[] = [
  {
    name: 'json',
    params: ['value'],
    returns: 'string',
    doc: 'The value as compact JSON with sorted keys',
    example: { source: '{{json spec.ports}}', gives: '[80,443]' },
    run: ([value], { meter }) => canonicalJson(meteredCopy(value, meter)),
  },
  {
    name: 'yaml',
    params: ['value'],
    returns: 'string',
    doc: 'The value as YAML',
    example: { source: '{{yaml spec.ports}}', gives: '- 80\n- 443\n' },
    run: ([value], { tools, meter }) => tools.printYaml(meteredYamlCopy(value, meter)),
  },
  {
    name: 'indent',
    params: ['columns', 'text'],
    returns: 'string',
    doc: 'The string with every line indented',
    example: { source: '{{indent 2 (yaml spec.ports)}}', gives: '  - 80\n  - 443\n' },
    run: ([columns, text], { meter }) => indent(columns, text, meter),
  },
  {
    name: 'base64',
    params: ['text'],
    returns: 'string',
    doc: 'Base64 of a string in UTF-8',
    example: { source: '{{base64 metadata.name}}', gives: 'd2Vi' },
    run: ([text], { meter }) => encodeBase64(readText('base64', text, meter)),
  },
  {
    name: 'default',
    params: ['value', 'fallback'],
    returns: 'any',
    doc: 'The value, or the fallback when it is missing',
    example: { source: '{{default spec.nothing "none"}}', gives: 'none' },
    takesMissing: true,
    run: ([value, fallback]) => value ?? fallback,
  },
  {
    name: 'eq',
    params: ['a', 'b'],
    returns: 'boolean',
    doc: 'Whether the two values are equal; a missing value only equals another missing value',
    example: { source: '{{#if (eq spec.size 3)}}three{{/if}}', gives: 'three' },
    takesMissing: true,
    run: ([a, b], { meter }) => isEqual(a, b, meter),
  },
  {
    name: 'ne',
    params: ['a', 'b'],
    returns: 'boolean',
    doc: 'Whether the two values differ; the opposite of eq',
    example: { source: '{{#if (ne spec.size 3)}}other{{else}}three{{/if}}', gives: 'three' },
    takesMissing: true,
    run: ([a, b], { meter }) => !isEqual(a, b, meter),
  },
  {
    name: 'and',
    params: ['values...'],
    returns: 'any',
    doc: 'The first falsy value, or the last one; a missing value is falsy',
    example: { source: '{{#if (and spec.image spec.size)}}both{{/if}}', gives: 'both' },
    takesMissing: true,
    run: (values) => values.find((value) => !isTruthy(value)) ?? values.at(-1),
  },
  {
    name: 'or',
    params: ['values...'],
    returns: 'any',
    doc: 'The first truthy value, or the last one; a missing value is falsy',
    example: { source: '{{or spec.nothing spec.size}}', gives: '3' },
    takesMissing: true,
    run: (values) => values.find(isTruthy) ?? values.at(-1),
  },
  {
    name: 'not',
    params: ['value'],
    returns: 'boolean',
    doc: 'Whether the value is falsy; a missing value is',
    example: { source: '{{#if (not spec.nothing)}}none{{/if}}', gives: 'none' },
    takesMissing: true,
    run: ([value]) => !isTruthy(value),
  },
  {
    name: 'lt',
    params: ['a', 'b'],
    returns: 'boolean',
    doc: 'Whether the first number or string is less than the second',
    example: { source: '{{#if (lt spec.size 5)}}small{{/if}}', gives: 'small' },
    run: ([a, b], { meter }) => compare('lt', [a, b], meter) < 0,
  },
  {
    name: 'gt',
    params: ['a', 'b'],
    returns: 'boolean',
    doc: 'Whether the first number or string is greater than the second',
    example: { source: '{{#if (gt spec.size 5)}}large{{else}}small{{/if}}', gives: 'small' },
    run: ([a, b], { meter }) => compare('gt', [a, b], meter) > 0,
  },
  {
    name: 'join',
    params: ['list', 'separator?'],
    returns: 'string',
    doc: 'The elements of a list with a separator (default ",") between them',
    example: { source: '{{join spec.ports ", "}}', gives: '80, 443' },
    run: ([list, separator], { meter }) => join(list, separator, meter),
  },
  {
    name: 'lower',
    params: ['text'],
    returns: 'string',
    doc: 'The string in lower case',
    example: { source: '{{lower "ABC"}}', gives: 'abc' },
    run: ([text], { meter }) => readText('lower', text, meter).toLowerCase(),
  },
  {
    name: 'upper',
    params: ['text'],
    returns: 'string',
    doc: 'The string in upper case',
    example: { source: '{{upper metadata.name}}', gives: 'WEB' },
    run: ([text], { meter }) => readText('upper', text, meter).toUpperCase(),
  },
  {
    name: 'lookup',
    params: ['object', 'key'],
    returns: 'any',
    doc: 'The field or element with a computed key; missing if it does not exist',
    example: { source: '{{lookup spec "size"}}', gives: '3' },
    takesMissing: true,
    run: ([object, key]) => ownProperty(object, key),
  },
];

/** By name. */
export const helperTable: ReadonlyMap<string, TemplateHelper> = new Map(
  templateHelpers.map((helper) => [helper.name, helper]),
);

/** Truthiness for `if`: all values except missing, `false`, zero, the empty string and the empty list. */
export function isTruthy(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}

/** An own field or element of the value; inherited properties are ignored. */
export function ownProperty(value: unknown, key: unknown): unknown {
  if (value === undefined || value === null) return undefined;
  if (typeof key !== 'string' && typeof key !== 'number') return undefined;
  const object = Object(value) as Readonly<Record<string, unknown>>;
  return Object.hasOwn(object, key) ? presentValue(object[key]) : undefined;
}

/** Converts a value to output. */
export function printable(place: string, value: unknown): string {
  switch (typeof value) {
    case 'string':
      return value;
    case 'boolean':
    case 'bigint':
      return String(value);
    case 'number':
      if (Number.isFinite(value)) return String(roundedNumber(value));
      break;
    default:
      break;
  }
  const found = Array.isArray(value) ? 'a list' : value instanceof Object ? 'an object' : 'nothing';
  throw new ExpressionError(
    'evaluation-failed',
    `Expected a string, number or boolean for "${place}", found ${found}; the helpers json and yaml print lists and objects`,
  );
}

/** A string argument that is processed completely; charges the meter. */
function readText(name: string, value: unknown, meter: Meter): string {
  const text = printable(name, value);
  meter.spend(characterSteps(text));
  return text;
}

function isEqual(a: unknown, b: unknown, meter: Meter): boolean {
  meter.spend(walkSteps(a, meter.stepsLeft) + shallowSteps(b));
  return deepEqual(a, b);
}

function indent(columns: unknown, value: unknown, meter: Meter): string {
  if (typeof columns !== 'number' || !Number.isInteger(columns) || columns < 0 || columns > 100) {
    throw new ExpressionError(
      'evaluation-failed',
      'Expected an integer from 0 to 100 as the first argument of "indent"',
    );
  }
  const text = readText('indent', value, meter);
  let lines = 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1;
  meter.spend(lines);
  // Charged in advance, because the result may be much longer than the input.
  meter.allocate(lines * columns);
  return text.replace(/^(?=.)/gm, ' '.repeat(columns));
}

function compare(name: string, [a, b]: readonly [unknown, unknown], meter: Meter): number {
  meter.spend(shallowSteps(a));
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === 'string' && typeof b === 'string') return a < b ? -1 : a > b ? 1 : 0;
  throw new ExpressionError(
    'evaluation-failed',
    `Expected two numbers or two strings as arguments of "${name}"`,
  );
}

function join(all: unknown, separator: unknown, meter: Meter): string {
  const list = withoutNulls(all);
  if (!Array.isArray(list)) {
    throw new ExpressionError('evaluation-failed', 'Expected a list as the argument of "join"');
  }
  const between = separator === undefined ? ',' : printable('join', separator);
  meter.spend(list.length);
  const texts = list.map((element) => printable('join', element));
  const length = texts.reduce((sum, text) => sum + text.length + between.length, 0);
  assertTextLength(length - between.length);
  return texts.join(between);
}
