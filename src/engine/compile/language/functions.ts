import { canonicalJson } from '#util/canonical-json.ts';
import { parseDurationMs } from '#util/duration.ts';
import { parseJson } from '#util/exact-json.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import { conditionsOf } from '#util/kube-object.ts';
import { parseQuantity, quantityNumber } from '#util/quantity.ts';
import { ExpressionError } from './evaluation-error.ts';
import { textArgument, wrongArgument } from './functions/arguments.ts';
import { configFormatFunctions } from './functions/config-formats.ts';
import { deepMergeFunction } from './functions/deep-merge.ts';
import { digestFunctions } from './functions/digests.ts';
import type { LanguageFunction } from './functions/language-function.ts';
import { listFunctions } from './functions/lists.ts';
import { networkFunctions } from './functions/networks.ts';
import { patternFunctions } from './functions/patterns.ts';
import { selectorFunctions } from './functions/selectors.ts';
import { timeFunctions } from './functions/times.ts';
import { versionFunctions } from './functions/versions.ts';
import type { Meter } from './meter.ts';
import { plainResult } from './plain-json.ts';
import { characterSteps, textSteps, walkSteps } from './step-costs.ts';
import { joinName, stableHash } from './text-functions.ts';

/** The functions of docs/definition/expressions.md#functions. The documentation is generated from this table. */
export const languageFunctions: readonly LanguageFunction[] = [
  {
    name: 'now',
    params: [],
    returns: 'string',
    doc: 'The time of the reconcile, ISO 8601 (UTC). A comparison with it is reconciled when its result changes',
    example: { source: '$now()', gives: '2026-01-02T03:04:05.000Z' },
    takesMissing: true,
    run: (_, { scope }) => scope.now,
  },
  {
    name: 'millis',
    params: [],
    returns: 'number',
    doc: 'The time of the reconcile in milliseconds since 1970, compared as $now() is',
    example: { source: '$millis()', gives: 1_767_323_045_000 },
    takesMissing: true,
    run: (_, { scope }) => Date.parse(scope.now),
  },
  {
    name: 'hash',
    params: ['value'],
    returns: 'string',
    doc: 'A hash of ten lower-case letters and digits; safe in names',
    example: { source: '$hash(spec.image)' },
    run: ([value], { meter }) => stableHash(meteredCopy(value, meter)),
  },
  {
    name: 'name',
    params: ['parts...'],
    returns: 'string',
    doc: 'The parts joined by "-", cut to 63 characters with a hash, or to a last argument `{ "maxLength": 52 }`',
    example: { source: '$name(metadata.name, "cache", 0)', gives: 'web-cache-0' },
    takesMissing: true,
    run: (parts, { meter }) => {
      const last = parts.at(-1);
      const options = isJsonObject(last) && parts.length > 1 ? last : undefined;
      const names = (options === undefined ? parts : parts.slice(0, -1)).map(namePart);
      for (const name of names) meter.spend(textSteps(name));
      return joinName(names, options && maxLengthIn(options));
    },
  },
  {
    name: 'json',
    params: ['value'],
    returns: 'string',
    doc: 'The value as compact JSON with sorted keys',
    example: { source: '$json({ "b": [1, 2], "a": true })', gives: '{"a":true,"b":[1,2]}' },
    run: ([value], { meter }) => canonicalJson(meteredCopy(value, meter)),
  },
  {
    name: 'yaml',
    params: ['value'],
    returns: 'string',
    doc: 'The value as YAML',
    example: { source: '$yaml(spec.ports)', gives: '- 80\n- 443\n' },
    run: ([value], { tools, meter }) => tools.printYaml(meteredYamlCopy(value, meter)),
  },
  {
    name: 'parseJson',
    params: ['text'],
    returns: 'any',
    doc: 'The value of a JSON string',
    example: { source: '$parseJson("[1, 2]")', gives: [1, 2] },
    run: ([value], { meter }) => {
      const text = textArgument('parseJson', value);
      meter.spend(characterSteps(text));
      return parsed('JSON', meter, () => parseJson(text));
    },
  },
  {
    name: 'parseYaml',
    params: ['text'],
    returns: 'any',
    doc: 'The value of a YAML string',
    example: { source: '$parseYaml("a: [1, 2]").a', gives: [1, 2] },
    run: ([value], { tools, meter }) => {
      const text = textArgument('parseYaml', value);
      meter.spend(text.length);
      return parsed('YAML', meter, () => tools.parseYaml(text));
    },
  },
  {
    name: 'quantity',
    params: ['quantity'],
    returns: 'number',
    doc: 'A Kubernetes quantity ("500m", "1Gi") as a number',
    example: { source: '$quantity("500m")', gives: 0.5 },
    run: ([quantity], { meter }) => measured('quantity', quantity, { parse: parseNumber, meter }),
  },
  {
    name: 'duration',
    params: ['duration'],
    returns: 'number',
    doc: 'A duration ("5m", "1h30m") in seconds',
    example: { source: '$duration("1h30m")', gives: 5400 },
    run: ([duration], { meter }) => measured('duration', duration, { parse: parseSeconds, meter }),
  },
  {
    name: 'condition',
    params: ['object', 'type'],
    returns: 'object',
    doc: 'The condition of that type in `status.conditions`, or no value',
    example: { source: '$condition(children.web, "Available").status', gives: 'True' },
    run: ([object, type], { meter }) => {
      meter.spend(walkSteps(statusOf(object)?.conditions, meter.stepsLeft));
      return findCondition(object, type);
    },
  },
  {
    name: 'isReady',
    params: ['object'],
    returns: 'boolean',
    doc: 'Whether the object is ready by the rules of its kind; false if it is missing',
    example: { source: '$isReady(children.web)', gives: true },
    takesMissing: true,
    run: ([object], { tools, meter }) => {
      if (!isJsonObject(object)) return false;
      meter.spend(walkSteps(statusOf(object), meter.stepsLeft));
      return tools.isReady(object);
    },
  },
  {
    name: 'clusterOf',
    params: ['object'],
    returns: 'string',
    doc: 'The name of the member cluster that a child or read is in; no value on the hub',
    example: { source: '$clusterOf(children.web)', gives: 'paris-1' },
    run: ([object], { scope }) => (isJsonObject(object) ? scope.clusterOf?.(object) : undefined),
  },
  {
    name: 'randomString',
    params: ['length'],
    returns: 'string',
    doc: 'A random string of 1 to 256 letters and digits, suitable for passwords; a missing length is an error',
    example: { source: '$randomString(20)' },
    takesMissing: true,
    run: ([length], { scope }) => scope.randomText(lengthArgument(length)),
  },
  ...patternFunctions,
  ...selectorFunctions,
  ...listFunctions,
  ...digestFunctions,
  ...configFormatFunctions,
  deepMergeFunction,
  ...versionFunctions,
  ...networkFunctions,
  ...timeFunctions,
];

/** A plain copy of a value to print or hash; charges the meter. */
export function meteredCopy(value: unknown, meter: Meter): unknown {
  meter.spend(walkSteps(value, meter.stepsLeft));
  return plainResult(value, meter);
}

/** As {@link meteredCopy} for YAML, whose printer inspects every character of a string. */
export function meteredYamlCopy(value: unknown, meter: Meter): unknown {
  meter.spend(yamlStepsPerNode * walkSteps(value, meter.stepsLeft));
  return plainResult(value, meter);
}

const yamlStepsPerNode = 20;

function statusOf(object: unknown): JsonObject | undefined {
  return isJsonObject(object) && isJsonObject(object.status) ? object.status : undefined;
}

function namePart(part: unknown): string {
  if (part === undefined || part === null || part === '') {
    throw new ExpressionError('missing-value', 'Expected a value for every part of $name()');
  }
  if (typeof part === 'object') throw wrongArgument('name', 'strings and numbers', part);
  return String(part);
}

/** A shorter name has no room beside the hash. A name of an object has at most 253 characters. */
const maxLengths = { least: 20, most: 253 };

function maxLengthIn(options: JsonObject): number {
  const { maxLength, ...others } = options;
  const { least, most } = maxLengths;
  const isValid =
    typeof maxLength === 'number' &&
    Number.isInteger(maxLength) &&
    maxLength >= least &&
    maxLength <= most &&
    Object.keys(others).length === 0;
  if (isValid) return maxLength;
  throw new ExpressionError(
    'evaluation-failed',
    `Expected strings and numbers as parts of $name(), and { "maxLength": ${least} to ${most} } as the last argument at most`,
  );
}

function findCondition(object: unknown, type: unknown): unknown {
  return conditionsOf(object).find((condition) => condition.type === type);
}

function parseNumber(text: string): number | undefined {
  const quantity = parseQuantity(text);
  return quantity && quantityNumber(quantity);
}

function parseSeconds(text: string): number | undefined {
  const ms = parseDurationMs(text);
  return ms === undefined ? undefined : ms / 1_000;
}

function measured(
  name: 'quantity' | 'duration',
  value: unknown,
  { parse, meter }: { parse: (text: string) => number | undefined; meter: Meter },
): number {
  if (typeof value === 'number') return value;
  const text = textArgument(name, value);
  meter.spend(characterSteps(text));
  const number = parse(text);
  if (number === undefined) {
    throw new ExpressionError(
      'evaluation-failed',
      `Expected a ${name} as the argument of $${name}()`,
    );
  }
  return number;
}

function parsed(format: 'JSON' | 'YAML', meter: Meter, parse: () => unknown): unknown {
  try {
    // Checked immediately, because JSONata's functions may process the parsed value.
    return plainResult(parse(), meter);
  } catch (error) {
    if (error instanceof ExpressionError) throw error;
    // The cause is omitted, because parsers quote the input, which may come from a Secret.
    throw new ExpressionError(
      'evaluation-failed',
      `Expected ${format} as the argument of $parse${format === 'JSON' ? 'Json' : 'Yaml'}()`,
    );
  }
}

function lengthArgument(value: unknown): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1 || value > 256) {
    throw new ExpressionError(
      'evaluation-failed',
      'Expected an integer from 1 to 256 as the argument of $randomString()',
    );
  }
  return value;
}
