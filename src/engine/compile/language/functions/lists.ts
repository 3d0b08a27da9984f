import { canonicalJson } from '#util/canonical-json.ts';
import { limits } from '../limits.ts';
import type { Meter } from '../meter.ts';
import { plainResult } from '../plain-json.ts';
import { entriesBytes, textSteps, walkSteps } from '../step-costs.ts';
import { assertSequence, integerArgument, invalidArgument, listArgument } from './arguments.ts';
import { fieldAt, parseFieldPath } from './field-path.ts';
import type { LanguageFunction } from './language-function.ts';

export const listFunctions: readonly LanguageFunction[] = [
  {
    name: 'unique',
    params: ['list', 'key?'],
    returns: 'list',
    doc: 'The elements without repeated ones; with a key (a path or a function), without those of a repeated key',
    example: { source: '$unique([{ "a": 1, "b": 1 }, { "a": 1 }], "a")', gives: [{ a: 1, b: 1 }] },
    run: async ([value, key], { meter }) => {
      const list = listArgument(value);
      meter.spend(walkSteps(list, meter.stepsLeft));
      const keys = key === undefined ? list : await keysOf('unique', { list, key, meter });
      const seen = new Set<string>();
      return list.filter((_, index) => {
        const found = keys[index];
        // A missing key equals nothing, as a missing side of `=`.
        if (key !== undefined && (found === undefined || found === null)) return true;
        const text = canonicalJson(plainResult(found, meter));
        const isFirst = !seen.has(text);
        seen.add(text);
        return isFirst;
      });
    },
  },
  {
    name: 'groupBy',
    params: ['list', 'key'],
    returns: 'object',
    doc: 'A map from each key (a path such as "spec.host", or a function) to the list of its elements',
    example: {
      source: '$groupBy([{ "zone": "a", "n": 1 }, { "zone": "a", "n": 2 }], "zone")',
      gives: {
        a: [
          { zone: 'a', n: 1 },
          { zone: 'a', n: 2 },
        ],
      },
    },
    run: async ([value, key], { meter }) => {
      const list = listArgument(value);
      const keys = await keysOf('groupBy', { list, key, meter });
      const groups = new Map<string, unknown[]>();
      for (const [index, element] of list.entries()) {
        const name = groupName(keys[index]);
        if (name === undefined) continue;
        const group = groups.get(name);
        if (group === undefined) groups.set(name, [element]);
        else group.push(element);
      }
      meter.spend(2 * groups.size);
      meter.allocate(entriesBytes(list.length + groups.size));
      return Object.fromEntries(groups);
    },
  },
  {
    name: 'range',
    params: ['count'],
    returns: 'list',
    doc: 'The integers from 0 to below the count; no elements for 0',
    example: { source: '$range(spec.size)', gives: [0, 1, 2] },
    run: ([value], { meter }) => {
      const most = limits.sequence;
      const count = integerArgument('range', value, { least: 0, most, which: 'the argument' });
      meter.spend(count >> 3);
      return Array.from({ length: count }, (_, index) => index);
    },
  },
  {
    name: 'zipIndex',
    params: ['list'],
    returns: 'list',
    doc: 'The elements with their index: `[{ "index": 0, "item": ... }]`',
    example: {
      source: '$zipIndex(spec.ports)',
      gives: [
        { index: 0, item: 80 },
        { index: 1, item: 443 },
      ],
    },
    run: ([value], { meter }) => {
      const list = listArgument(value);
      assertSequence(list.length);
      meter.spend(list.length);
      meter.allocate(list.length * entriesBytes(2));
      return list.map((item, index) => ({ index, item }));
    },
  },
  {
    name: 'firstFree',
    params: ['used', 'candidates'],
    returns: 'any',
    doc: 'The first of the strings, or of so many integers from 0, that is not used; no value if all are',
    example: { source: '$firstFree([0, 1, 3], 10)', gives: 2 },
    takesMissing: true,
    run: ([value, candidates], { meter }) => {
      if (candidates === undefined) return undefined;
      const used = listArgument(value);
      meter.spend(scalarSteps(used));
      const taken = new Set(used);
      if (typeof candidates === 'number') return firstInteger(taken, candidates, meter);
      const list = listArgument(candidates);
      meter.spend(scalarSteps(list));
      // Not numbers: JSONata unwraps a list of one number, which would be a count.
      if (list.some((each) => typeof each !== 'string')) {
        throw invalidArgument(
          'firstFree',
          'a list of strings, or a number of integers',
          'the second argument',
        );
      }
      return list.find((each) => !taken.has(each));
    },
  },
];

/** At most one more than the used ones is tried. */
function firstInteger(taken: ReadonlySet<unknown>, value: number, meter: Meter): unknown {
  const most = Number.MAX_SAFE_INTEGER;
  const which = 'the second argument';
  const count = integerArgument('firstFree', value, { least: 0, most, which });
  meter.spend(taken.size >> 3);
  for (let integer = 0; integer < count; integer++) if (!taken.has(integer)) return integer;
  return undefined;
}

function scalarSteps(list: readonly unknown[]): number {
  let steps = 1 + (list.length >> 1);
  for (const each of list) if (typeof each === 'string') steps += textSteps(each);
  return steps;
}

interface KeysOptions {
  readonly list: readonly unknown[];
  readonly key: unknown;
  readonly meter: Meter;
}

/** The key of each element. A path selects below maps only. */
async function keysOf(
  name: string,
  { list, key, meter }: KeysOptions,
): Promise<readonly unknown[]> {
  meter.spend(1 + list.length);
  meter.allocate(entriesBytes(list.length));
  if (typeof key === 'function') {
    const keys: unknown[] = [];
    for (const element of list) keys.push(element === null ? undefined : await key(element));
    return keys;
  }
  const path = typeof key === 'string' ? parseFieldPath(key) : undefined;
  if (path === undefined) {
    throw invalidArgument(name, 'a path such as "spec.host", or a function', 'the second argument');
  }
  meter.spend(list.length * path.length);
  return list.map((element) => fieldAt(element, path));
}

/** The name of a group; undefined if there is no key. */
function groupName(key: unknown): string | undefined {
  if (key === undefined || key === null) return undefined;
  if (typeof key === 'object' || typeof key === 'function') {
    throw invalidArgument('groupBy', 'a key that is a string or a number', 'the second argument');
  }
  return String(key);
}
