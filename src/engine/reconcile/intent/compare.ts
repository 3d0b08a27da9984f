import {
  type AnyType,
  anyType,
  type ListType,
  type MapType,
  type SchemaType,
  type StructField,
  type StructType,
} from '#compile';
import { canonicalJson } from '#util/canonical-json.ts';
import { deepEqual } from '#util/deep-equal.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { sha256Hex } from '#util/sha256.ts';
import { isZero } from '#util/zero-value.ts';
import { type Difference, differs, type Trail } from './difference.ts';
import {
  equalScalars,
  isEmptyLiveValue,
  isOmittedWhenEmpty,
  withoutInjected,
} from './equal-scalars.ts';
import { type Fields, isFields } from './intent.ts';
import { indexOfItem, stepTo } from './list-keys.ts';

/**
 * Compares a live value with an intent: does it already have every desired value? One traversal of the intent with the type of each field,
 * used both for a boolean result and for a list of differences.
 *
 * It runs for every child in every reconcile, so it allocates nothing without a trail: arguments are positional, and `trail` is undefined on the
 * hot path, where the traversal stops at the first difference. `exact`: inside a list or map that an apply replaces as a whole; additional values
 * must then be defaults of the server.
 *
 * The intent must be prepared: a null in it is a value, and nothing in it is undefined.
 */

export function compareValues(
  want: unknown,
  have: unknown,
  type: SchemaType,
  exact: boolean,
  trail: Trail | undefined,
): boolean {
  if (want === have) return true;
  if (have === undefined || have === null)
    return isOmittedWhenEmpty(want, type) || differs(want, have, trail);
  if (Array.isArray(want)) {
    if (!Array.isArray(have)) return differs(want, have, trail);
    return compareLists(want, have, listTypeOf(type), exact, trail);
  }
  if (isFields(want)) {
    if (!isFields(have)) return differs(want, have, trail);
    return compareObjects(want, have, type, exact, trail);
  }
  const isSame = type.kind === 'scalar' && equalScalars(want, have, type.format);
  return isSame || differs(want, have, trail);
}

const untypedList: ListType = {
  kind: 'list',
  builtIn: false,
  list: 'atomic',
  keys: [],
  item: anyType,
};

function listTypeOf(type: SchemaType): ListType {
  if (type.kind === 'list') return type;
  // A list in place of a schema contains schemas or plain values.
  if (type.kind === 'branch') return { ...untypedList, builtIn: true, item: type };
  return untypedList;
}

function compareObjects(
  want: Fields,
  have: Fields,
  type: SchemaType,
  exact: boolean,
  trail: Trail | undefined,
): boolean {
  switch (type.kind) {
    case 'struct':
      return compareStructs(want, have, type, exact || type.atomic, trail);
    case 'map':
    case 'any':
      return compareMaps(want, have, type, exact || type.atomic, trail);
    case 'branch':
      return compareObjects(want, have, type.either, exact, trail);
    default:
      // The schema has another type here; compare the value as written.
      return compareMaps(want, have, anyType, exact, trail);
  }
}

function compareStructs(
  want: Fields,
  have: Fields,
  type: StructType,
  exact: boolean,
  trail: Trail | undefined,
): boolean {
  let equal = true;
  for (const key in want) {
    if (want[key] === have[key]) continue;
    trail?.path.push(key);
    const isSame = compareField(key, want[key], have[key], type, exact, trail);
    trail?.path.pop();
    if (isSame) continue;
    if (trail === undefined) return false;
    equal = false;
  }
  return exact ? compareAdditions(want, have, type, trail) && equal : equal;
}

function compareField(
  key: string,
  want: unknown,
  have: unknown,
  type: StructType,
  exact: boolean,
  trail: Trail | undefined,
): boolean {
  const field = type.fields.get(key);
  if (field === undefined) {
    // A field that the schema lacks must reach the server, so that the user sees its response.
    return type.open
      ? compareValues(want, have, anyType, exact, trail)
      : differs(want, have, trail);
  }
  if (type.builtIn && isZero(want) && isSameZero(key, want, have, type, field)) return true;
  return compareValues(want, withoutInjected(key, want, have, type), field.type, exact, trail);
}

/** A zero value that Go omits, or one that selects the default. */
function isSameZero(
  key: string,
  want: unknown,
  have: unknown,
  type: StructType,
  field: StructField,
): boolean {
  const isDropped = type.droppedZeros.has(key);
  if (have === undefined) return isDropped;
  const isNoPointer = isDropped || typeof want === 'object' || field.defaultValue === want;
  return isNoPointer && isDefault(key, have, type, field);
}

/** Compares additional live fields inside a value that an apply replaces as a whole. */
function compareAdditions(
  want: Fields,
  have: Fields,
  type: StructType | MapType | AnyType,
  trail: Trail | undefined,
): boolean {
  let equal = true;
  for (const key in have) {
    // A key may be `constructor`, which every object inherits.
    if (Object.hasOwn(want, key) && want[key] !== undefined) continue;
    if (isServerDefault(key, have[key], type)) continue;
    trail?.path.push(key);
    differs(undefined, have[key], trail);
    trail?.path.pop();
    if (trail === undefined) return false;
    equal = false;
  }
  return equal;
}

function isServerDefault(
  key: string,
  have: unknown,
  type: StructType | MapType | AnyType,
): boolean {
  const field = type.kind === 'struct' ? type.fields.get(key) : undefined;
  if (type.builtIn && isEmptyLiveValue(have, field)) return true;
  return type.kind === 'struct' && field !== undefined && isDefault(key, have, type, field);
}

/** Returns whether this is the server's default. Defaults may contain defaults. */
function isDefault(key: string, have: unknown, type: StructType, field: StructField): boolean {
  const known = type.defaults[key];
  if (isFields(known) && known['*'] === true) return true;
  const byDefault = known ?? field.defaultValue;
  return byDefault !== undefined && compareValues(byDefault, have, field.type, true, undefined);
}

function compareMaps(
  want: Fields,
  have: Fields,
  type: MapType | AnyType,
  exact: boolean,
  trail: Trail | undefined,
): boolean {
  const itemType = type.kind === 'map' ? type.item : anyType;
  let equal = true;
  for (const key in want) {
    if (want[key] === have[key]) continue;
    trail?.path.push(key);
    const isSame = compareValues(want[key], have[key], itemType, exact, trail);
    trail?.path.pop();
    if (isSame) continue;
    if (trail === undefined) return false;
    equal = false;
  }
  return exact ? compareAdditions(want, have, type, trail) && equal : equal;
}

function compareLists(
  want: readonly unknown[],
  have: readonly unknown[],
  type: ListType,
  exact: boolean,
  trail: Trail | undefined,
): boolean {
  if (exact || type.list === 'atomic') return compareSequences(want, have, type.item, trail);
  return type.list === 'set'
    ? compareSets(want, have, trail)
    : compareKeyed(want, have, type, trail);
}

/** Atomic lists: the same length, item by item. */
function compareSequences(
  want: readonly unknown[],
  have: readonly unknown[],
  item: SchemaType,
  trail: Trail | undefined,
): boolean {
  if (want.length !== have.length) return differs(want, have, trail);
  let equal = true;
  for (let index = 0; index < want.length; index++) {
    trail?.path.push(index);
    const isSame = compareValues(want[index], have[index], item, true, trail);
    trail?.path.pop();
    if (isSame) continue;
    if (trail === undefined) return false;
    equal = false;
  }
  return equal;
}

/** Lists with merge keys: items of other managers may be anywhere; our items keep their order, which an apply restores. */
function compareKeyed(
  want: readonly unknown[],
  have: readonly unknown[],
  type: ListType,
  trail: Trail | undefined,
): boolean {
  let equal = true;
  let last = -1;
  for (const item of want) {
    const at = indexOfItem(item, have, type, last + 1);
    trail?.path.push(stepTo(item, type));
    const isSame =
      at > last
        ? compareValues(item, have[at], type.item, false, trail)
        : differs(item, at < 0 ? undefined : have[at], trail);
    trail?.path.pop();
    last = Math.max(last, at);
    if (isSame) continue;
    if (trail === undefined) return false;
    equal = false;
  }
  return equal;
}

/** Sets: every item of ours exists; order and additional items do not matter. */
function compareSets(
  want: readonly unknown[],
  have: readonly unknown[],
  trail: Trail | undefined,
): boolean {
  let equal = true;
  for (const item of want) {
    if (have.includes(item) || have.some((other) => deepEqual(item, other))) continue;
    trail?.path.push({ item });
    differs(item, undefined, trail);
    trail?.path.pop();
    if (trail === undefined) return false;
    equal = false;
  }
  return equal;
}

/**
 * Returns whether an apply of the intent would change nothing. Stops at the first difference.
 * A wrong `false` costs one unnecessary apply; a wrong `true` would hide drift. Unknown cases therefore count as different.
 * It does not detect fields that were removed from the intent; `pathHash` does.
 * @param intent Prepared, with `apiVersion`, `kind` and `metadata`.
 * @param type The kind's schema; undefined: everything is compared as written.
 */
export function covers(
  intent: KubeObject,
  live: KubeObject,
  type: SchemaType | undefined,
): boolean {
  return compareValues(intent, live, type ?? anyType, false, undefined);
}

/** Returns all differences; none exactly if {@link covers} is true. They contain values, also of Secrets: never log them. */
export function differences(
  intent: KubeObject,
  live: KubeObject,
  type: SchemaType | undefined,
): readonly Difference[] {
  const found: Difference[] = [];
  compareValues(intent, live, type ?? anyType, false, { path: [], found });
  return found;
}

/**
 * A digest of differences that an apply does not remove, because the server changes the value in a way that no rule covers.
 * Equal differences have equal digests. Keep it in memory only: it is derived from values.
 */
export function differenceDigest(found: readonly Difference[]): string {
  return sha256Hex(canonicalJson(found));
}
