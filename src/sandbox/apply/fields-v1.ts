import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import type { MutableJsonObject } from '../json-fields.ts';
import { compareElements, type PathElement, parsePathElement } from './path-element.ts';
import { isEmptySet, type PathSet } from './path-set.ts';

/** Converts a set to `fieldsV1`: a member that also has children gets `".": {}`. */
export function toFieldsV1(set: PathSet): JsonObject {
  return writeNode(set, false);
}

function writeNode(set: PathSet, isMember: boolean): JsonObject {
  const node: MutableJsonObject = isMember ? { '.': {} } : {};
  const steps = new Set([...set.members, ...set.children.keys()]);
  for (const step of [...steps].sort(compareElements)) {
    const child = set.children.get(step);
    if (child !== undefined && !isEmptySet(child)) {
      node[step] = writeNode(child, set.members.has(step));
    } else if (set.members.has(step)) node[step] = {};
  }
  return node;
}

/** @throws SyntaxError when a key contains invalid JSON. */
export function fromFieldsV1(fields: Json | undefined): PathSet {
  const members = new Set<PathElement>();
  const children = new Map<PathElement, PathSet>();
  if (!isJsonObject(fields)) return { members, children };
  for (const [key, value] of Object.entries(fields)) {
    const step = key === '.' ? undefined : parsePathElement(key);
    if (step === undefined || !isJsonObject(value)) continue;
    const below = Object.keys(value).filter((name) => name !== '.');
    if (below.length === 0 || '.' in value) members.add(step);
    if (below.length > 0) children.set(step, fromFieldsV1(value));
  }
  return { members, children };
}

interface Pair {
  readonly set: PathSet;
  readonly fields: JsonObject;
}

/** The maximum number of field sets that are shared, by text. */
const maxShared = 1_000;

/**
 * Reads and writes `fieldsV1` and caches the result per stored object: most writes leave most field sets unchanged. Objects
 * created alike have equal field sets, which share one instance.
 */
export class FieldsV1Codec {
  readonly #sets = new WeakMap<JsonObject, PathSet>();
  readonly #fields = new WeakMap<PathSet, JsonObject>();
  readonly #shared = new Map<string, Pair>();

  /** @throws SyntaxError when a key contains invalid JSON. */
  read(fields: Json | undefined): PathSet {
    if (!isJsonObject(fields)) return fromFieldsV1(fields);
    const known = this.#sets.get(fields);
    if (known !== undefined) return known;
    const { set } = this.#share(fields, () => fromFieldsV1(fields));
    this.#sets.set(fields, set);
    return set;
  }

  write(set: PathSet): JsonObject {
    const known = this.#fields.get(set);
    if (known !== undefined) return known;
    const { fields } = this.#share(toFieldsV1(set), () => set);
    this.#fields.set(set, fields);
    return fields;
  }

  /** Returns the cached pair with the same text, or this one. */
  #share(fields: JsonObject, setOf: () => PathSet): Pair {
    const text = JSON.stringify(fields);
    const known = this.#shared.get(text);
    if (known !== undefined) return known;
    const pair = { set: setOf(), fields };
    if (this.#shared.size >= maxShared) this.#shared.clear();
    this.#shared.set(text, pair);
    this.#sets.set(fields, pair.set);
    this.#fields.set(pair.set, fields);
    return pair;
  }
}
