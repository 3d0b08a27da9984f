import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import type { SeededRandom } from '../../support/model/seeded-random.ts';

/** One change of an object. */
export interface Mutation {
  /** `spec.replicas = -1`. */
  readonly what: string;
  /** Changes an object that has the same paths. */
  readonly change: (object: JsonObject) => JsonObject;
}

export type Path = readonly (string | number)[];
/** Undefined = the value is removed. */
type Change = readonly [what: string, value: Json | undefined];

/** Every server rejects these, or finds no such kind. */
const fixed = new Set(['apiVersion', 'kind', 'metadata', 'metadata.namespace']);
const badNames = [
  'Bad_Name!',
  'UPPER',
  '-a',
  'a-',
  'a..b',
  'a.b',
  'a b',
  '1a',
  '../a',
  'a/b',
  'ä',
  'x'.repeat(64),
  'x'.repeat(254),
];
const numbers = [-1, 0, 1, 1.5, 65_536, 2_147_483_648, 9_007_199_254_740_991];

/** One value of a manifest, changed in one of the ways in which people make mistakes. */
export function mistakeIn(manifest: JsonObject, random: SeededRandom): Mutation {
  const path = random.pick([...pathsIn(manifest, [])]) ?? [];
  const [what, value] = random.pick(changesOf(manifest, path)) ?? ['removed', undefined];
  if (what === 'renamed')
    return { what: `${path.join('.')} ${what}`, change: (object) => renamed(object, path) };
  if (what === 'doubled')
    return { what: `${path.join('.')} ${what}`, change: (object) => doubled(object, path) };
  return valueChange(path, value);
}

/** Sets one value, or removes it. */
export function valueChange(path: Path, value: Json | undefined): Mutation {
  const shown = value === undefined ? 'removed' : `= ${JSON.stringify(value)}`;
  return {
    what: `${path.join('.')} ${shown}`,
    change: (object) => changed(object, path, () => value),
  };
}

/** The paths of all values that can change. */
export function* pathsIn(value: Json, path: Path): Generator<Path> {
  if (path.length > 0 && !fixed.has(path.join('.'))) yield path;
  if (!Array.isArray(value) && !isJsonObject(value)) return;
  for (const [key, item = null] of Object.entries(value))
    yield* pathsIn(item, [...path, Array.isArray(value) ? Number(key) : key]);
}

function changesOf(manifest: JsonObject, path: Path): readonly Change[] {
  const value = valueAt(manifest, path);
  const isItem = typeof path.at(-1) === 'number';
  return [
    ['removed', undefined],
    isItem ? ['doubled', null] : ['renamed', null],
    ['null', null],
    ...otherValues(value).map((other): Change => ['set', other]),
  ];
}

/** Empty, of another type, malformed, out of range. */
function otherValues(value: Json): readonly Json[] {
  if (Array.isArray(value)) return [[], {}, 'text', [null]];
  if (isJsonObject(value)) return [{}, [], 'text', 7];
  switch (typeof value) {
    case 'number':
      return [...numbers, String(value), true, {}];
    case 'boolean':
      return [!value, 'true', 1];
    default:
      return ['', 5, true, {}, [value], ...badNames];
  }
}

function renamed(manifest: JsonObject, path: Path): JsonObject {
  const name = String(path.at(-1));
  return changed(manifest, path.slice(0, -1), (parent) => {
    const entries = Object.entries(parent as JsonObject);
    return Object.fromEntries(
      entries.map(([key, item = null]) => [key === name ? `${key}x` : key, item]),
    );
  });
}

function doubled(manifest: JsonObject, path: Path): JsonObject {
  return changed(manifest, path.slice(0, -1), (parent) => {
    const list = parent as readonly Json[];
    return [...list, list[Number(path.at(-1))] ?? null];
  });
}

function changed(
  root: JsonObject,
  path: Path,
  change: (value: Json) => Json | undefined,
): JsonObject {
  const copy = structuredClone({ root }) as Record<string, Json>;
  const whole: Path = ['root', ...path];
  const parent = valueAt(copy, whole.slice(0, -1)) as Record<string, Json>;
  const last = String(whole.at(-1));
  const value = change(parent[last] ?? null);
  if (value !== undefined) parent[last] = value;
  else if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else delete parent[last];
  return copy.root as JsonObject;
}

/** Null where there is none. */
export function valueAt(root: Json, path: Path): Json {
  return path.reduce<Json>((value, step) => (value as JsonObject)[step] ?? null, root);
}
