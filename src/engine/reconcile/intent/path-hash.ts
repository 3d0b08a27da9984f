import { anyType, type ListType, type SchemaType } from '#compile';
import type { KubeObject } from '#util/kube-object.ts';
import { appliedAnnotation } from '#util/stored-names.ts';
import { type Fields, isFields } from './intent.ts';
import { keyValue } from './list-keys.ts';

/**
 * A hash of which fields an intent has, down to the leaves: fields and map keys by name, atomic lists by index, list-map items by their keys, set items by themselves.
 * It detects a field that was removed from the intent, which a comparison of values cannot. It contains no values, so nothing of a Secret.
 * The order of keys does not matter. The annotation with the hash is excluded.
 * @param intent Prepared.
 * @returns 16 lower-case hex digits. Not cryptographic.
 */
export function pathHash(intent: KubeObject, type: SchemaType | undefined): string {
  const hasher = new PathHasher();
  addFields(intent, type ?? anyType, hasher);
  return hasher.digest();
}

function addValue(value: unknown, type: SchemaType, hasher: PathHasher): void {
  if (Array.isArray(value)) addItems(value, type, hasher);
  else if (isFields(value)) addFields(value, type, hasher);
  else hasher.leaf();
}

function addFields(fields: Fields, type: SchemaType, hasher: PathHasher): void {
  const known = type.kind === 'branch' ? type.either : type;
  let isEmpty = true;
  for (const key in fields) {
    isEmpty = false;
    if (key === appliedAnnotation) continue;
    hasher.enter(key);
    addValue(fields[key], fieldTypeOf(key, known), hasher);
    hasher.leave();
  }
  if (isEmpty) hasher.leaf();
}

function fieldTypeOf(key: string, type: SchemaType): SchemaType {
  if (type.kind === 'struct') return type.fields.get(key)?.type ?? anyType;
  return type.kind === 'map' ? type.item : anyType;
}

function addItems(items: readonly unknown[], type: SchemaType, hasher: PathHasher): void {
  if (items.length === 0) hasher.leaf();
  for (let index = 0; index < items.length; index++) {
    const item = items[index];
    enterItem(item, index, type, hasher);
    addValue(item, itemTypeOf(type), hasher);
    hasher.leave();
  }
}

function itemTypeOf(type: SchemaType): SchemaType {
  if (type.kind === 'list') return type.item;
  return type.kind === 'branch' ? type : anyType;
}

function enterItem(item: unknown, index: number, type: SchemaType, hasher: PathHasher): void {
  const list = type.kind === 'list' ? type.list : 'atomic';
  if (type.kind === 'list' && list === 'map' && isFields(item)) {
    hasher.enter(keyText(item, type));
  } else if (list === 'set') {
    hasher.enter(typeof item === 'object' ? JSON.stringify(item) : String(item));
  } else {
    hasher.enterIndex(index);
  }
}

/** Almost every list has one key. */
function keyText(item: Fields, list: ListType): string {
  let text = '';
  for (const key of list.keys) text += `${String(keyValue(item, key, list))}\u0000`;
  return text;
}

/** Depths that need no new memory: objects are rarely nested deeper. */
const expectedDepth = 32;

/**
 * A hash of a set of paths, built while walking a tree. A path's hash is made from its parent's and its last step, and the set's is the sum over its leaves,
 * so that the order of fields does not matter and nothing is put together as text. Two lanes of 32 bits, multiply-and-xor with the finaliser of MurmurHash3:
 * well distributed and fast, but not cryptographic. It only detects that our own intent has other fields.
 */
class PathHasher {
  #depth = 0;
  // By depth; the roots' are arbitrary, and different so that the lanes are.
  readonly #low: number[] = Array(expectedDepth).fill(0x811c9dc5);
  readonly #high: number[] = Array(expectedDepth).fill(0x9e3779b9);
  #lowSum = 0;
  #highSum = 0;

  /** Steps down into a field, a map key or an item with a name. */
  enter(name: string): void {
    let low = this.#low[this.#depth] ?? 0;
    let high = this.#high[this.#depth] ?? 0;
    for (let index = 0; index < name.length; index++) {
      const code = name.charCodeAt(index);
      low = Math.imul(low ^ code, 0x01000193);
      high = Math.imul(high ^ code, 0x5bd1e995) ^ (high >>> 15);
    }
    // The length keeps `a`, `b` apart from `ab`.
    this.#push(low ^ name.length, high + name.length);
  }

  /** Steps down into an item that is identified by its index. */
  enterIndex(index: number): void {
    const low = this.#low[this.#depth] ?? 0;
    const high = this.#high[this.#depth] ?? 0;
    // Distinguished from a name by a code that no text contains.
    this.#push(
      Math.imul(low ^ (index + 0x10000), 0x01000193),
      high ^ Math.imul(index + 1, 0x5bd1e995),
    );
  }

  /** Steps back to the parent. */
  leave(): void {
    this.#depth--;
  }

  /** Adds the current path to the set. */
  leaf(): void {
    this.#lowSum = (this.#lowSum + mix(this.#low[this.#depth] ?? 0)) | 0;
    this.#highSum = (this.#highSum + mix(this.#high[this.#depth] ?? 0)) | 0;
  }

  /** 16 lower-case hex digits. */
  digest(): string {
    return hex(this.#highSum) + hex(this.#lowSum);
  }

  #push(low: number, high: number): void {
    this.#depth++;
    this.#low[this.#depth] = mix(low);
    this.#high[this.#depth] = mix(high);
  }
}

/** The finaliser of MurmurHash3: every bit of the input reaches every bit of the output. */
function mix(hash: number): number {
  let mixed = hash ^ (hash >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

function hex(word: number): string {
  return (word >>> 0).toString(16).padStart(8, '0');
}
