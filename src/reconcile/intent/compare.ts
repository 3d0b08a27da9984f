/**
 * Does a live value already have all that an intent says? One walk down the intent with the type of each place, for a yes or no and for a list of differences.
 *
 * It runs for every child at every pass, so it allocates nothing unless somebody listens: arguments are positional, and `trail` is undefined on the hot path,
 * where the walk stops at the first difference. `exact` means: inside a list or map that an apply replaces as a whole;
 * what is there beyond the intent must then be something that the server puts there of its own accord.
 *
 * The intent is a prepared one: a null in it is a value, and nothing in it is undefined.
 */
import {
  type AnyType,
  anyType,
  type ListType,
  type MapType,
  type SchemaType,
  type StructField,
  type StructType,
} from '../../compile/index.ts';
import { deepEqual } from '../../util/deep-equal.ts';
import { differs, type Trail } from './difference.ts';
import { equalScalars } from './equal-scalars.ts';
import { type Fields, isFields, isZero } from './fields.ts';
import { indexOfItem, stepTo } from './list-keys.ts';
import { isNothing, isNothingThere, withoutInjected } from './server-habits.ts';

export function compareValues(
  want: unknown,
  have: unknown,
  type: SchemaType,
  exact: boolean,
  trail: Trail | undefined,
): boolean {
  if (want === have) return true;
  if (have === undefined || have === null)
    return isNothing(want, type) || differs(want, have, trail);
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
  // A list where a schema may stand holds schemas, or plain values.
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
      // The schema wants something else here; compared as it is.
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
    // What the schema does not know must reach the server, whose answer the user has to see.
    return type.open
      ? compareValues(want, have, anyType, exact, trail)
      : differs(want, have, trail);
  }
  if (type.builtIn && isZero(want) && isSameZero(key, want, have, type, field)) return true;
  return compareValues(want, withoutInjected(key, want, have, type), field.type, exact, trail);
}

/** A zero that Go does not write, or one that means "the default". */
function isSameZero(
  key: string,
  want: unknown,
  have: unknown,
  type: StructType,
  field: StructField,
): boolean {
  const isDropped = type.zeros.has(key);
  if (have === undefined) return isDropped;
  const isNoPointer = isDropped || typeof want === 'object' || field.byDefault === want;
  return isNoPointer && isDefault(key, have, type, field);
}

/** What is there beyond the intent, inside a value that an apply replaces as a whole. */
function compareAdditions(
  want: Fields,
  have: Fields,
  type: StructType | MapType | AnyType,
  trail: Trail | undefined,
): boolean {
  let equal = true;
  for (const key in have) {
    // A key may be called `constructor`, which every object inherits.
    if (Object.hasOwn(want, key) && want[key] !== undefined) continue;
    if (isServersOwn(key, have[key], type)) continue;
    trail?.path.push(key);
    differs(undefined, have[key], trail);
    trail?.path.pop();
    if (trail === undefined) return false;
    equal = false;
  }
  return equal;
}

function isServersOwn(key: string, have: unknown, type: StructType | MapType | AnyType): boolean {
  const field = type.kind === 'struct' ? type.fields.get(key) : undefined;
  if (type.builtIn && isNothingThere(have, field)) return true;
  return type.kind === 'struct' && field !== undefined && isDefault(key, have, type, field);
}

/** Is this what the server puts there of its own accord? Defaults may hold defaults. */
function isDefault(key: string, have: unknown, type: StructType, field: StructField): boolean {
  const known = type.defaults[key];
  if (isFields(known) && known['*'] === true) return true;
  const byDefault = known ?? field.byDefault;
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

/** Lists by key: items of others may stand anywhere; ours keep their order, since an apply restores it. */
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

/** Sets: every item of ours is there; order and further items do not matter. */
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
