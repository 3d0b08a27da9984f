import { isJsonObject, type JsonObject } from '#util/json.ts';
import { ExpressionError } from '../evaluation-error.ts';
import { limits } from '../limits.ts';
import type { Meter } from '../meter.ts';
import { walkSteps } from '../step-costs.ts';
import { invalidArgument, mapArgument } from './arguments.ts';
import { parseFieldPath } from './field-path.ts';
import type { LanguageFunction } from './language-function.ts';
import { elementsWith, identityOf, knownMergeKey, type MergeKey } from './merge-keys.ts';

export const deepMergeFunction: LanguageFunction = {
  name: 'deepMerge',
  params: ['base', 'override', 'keys?'],
  returns: 'object',
  doc: 'The base and the override merged at all levels, lists as in a strategic merge patch; null removes',
  example: {
    source:
      '$deepMerge({ "env": [{ "name": "A", "value": "1" }], "old": 1 }, { "env": [{ "name": "B" }], "old": null })',
    gives: { env: [{ name: 'A', value: '1' }, { name: 'B' }] },
  },
  takesMissing: true,
  run: ([base, override, keys], { meter }) => {
    if (base === undefined && override === undefined) return undefined;
    const maps = [base, override, keys].map((value) => meteredMap(value, meter));
    const [first = {}, second = {}, third = {}] = maps;
    const lists = Object.entries(third).map(([path, field]) => listKey(path, field));
    return mergeMaps(first, second, { path: [], lists, meter });
  },
};

function meteredMap(value: unknown, meter: Meter): JsonObject {
  if (value === undefined) return {};
  meter.spend(2 * walkSteps(value, meter.stepsLeft));
  return mapArgument('deepMerge', value, 'an argument');
}

/** A list whose key the author gives. */
interface ListKey {
  readonly path: readonly string[];
  readonly key: MergeKey;
}

function listKey(text: string, field: unknown): ListKey {
  const path = parseFieldPath(text);
  if (path !== undefined && typeof field === 'string') return { path, key: { field } };
  throw invalidArgument(
    'deepMerge',
    'a map from names of lists to their keys',
    'the third argument',
  );
}

interface Merge {
  /** Names on the way to the value; changed in place. */
  readonly path: string[];
  readonly lists: readonly ListKey[];
  readonly meter: Meter;
}

function mergeMaps(base: JsonObject, override: JsonObject, merge: Merge): JsonObject {
  const { path } = merge;
  if (path.length >= limits.resultDepth) {
    const message = `Expected maps of at most ${limits.resultDepth} levels for $deepMerge()`;
    throw new ExpressionError('limit-exceeded', message);
  }
  const fields = new Map<string, unknown>(Object.entries(base));
  for (const [name, value] of Object.entries(override)) {
    if (value === null) {
      fields.delete(name);
      continue;
    }
    path.push(name);
    fields.set(name, merged(fields.get(name), value, merge));
    path.pop();
  }
  return Object.fromEntries(fields) as JsonObject;
}

function merged(base: unknown, override: unknown, merge: Merge): unknown {
  if (isJsonObject(override)) {
    return mergeMaps(isJsonObject(base) ? base : {}, override, merge);
  }
  return Array.isArray(override)
    ? mergeLists(Array.isArray(base) ? base : [], override, merge)
    : override;
}

const directive = '$patch';

function mergeLists(
  base: readonly unknown[],
  override: readonly unknown[],
  merge: Merge,
): readonly unknown[] {
  const found = keyOfList([...base, ...override], merge);
  if (found === undefined) return override;
  const { key, elements } = found;
  const result = new Map<string, JsonObject>();
  // Of equal keys in the base, all are kept: only the first one is merged.
  for (const [index, element] of elements.slice(0, base.length).entries()) {
    const identity = identityOf(key, element);
    result.set(result.has(identity) ? `${identity} ${index}` : identity, element);
  }
  for (const element of elements.slice(base.length)) {
    const identity = identityOf(key, element);
    const { [directive]: action, ...fields } = element;
    if (action === 'delete') result.delete(identity);
    else if (action === undefined) {
      result.set(identity, mergeMaps(result.get(identity) ?? {}, fields as JsonObject, merge));
    } else throw invalidArgument('deepMerge', '"$patch" to be "delete"', 'the second argument');
  }
  return [...result.values()];
}

/** Undefined: the list is replaced. */
function keyOfList(elements: readonly unknown[], { path, lists, meter }: Merge) {
  meter.spend(1 + lists.length + elements.length);
  const given = lists.find((each) => isAt(each.path, path));
  if (given === undefined) return knownMergeKey(path.at(-1) ?? '', elements);
  const keyed = elementsWith(given.key, elements);
  if (keyed !== undefined) return { key: given.key, elements: keyed };
  throw invalidArgument(
    'deepMerge',
    'maps that have their key in each list of "keys"',
    'the elements',
  );
}

/** Whether the path is that of a list, or ends with its only name. */
function isAt(list: readonly string[], path: readonly string[]): boolean {
  if (list.length === 1) return list[0] === path.at(-1);
  return list.length === path.length && list.every((name, index) => name === path[index]);
}
