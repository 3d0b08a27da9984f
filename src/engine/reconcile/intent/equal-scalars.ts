import type { ScalarType, SchemaType, StructField, StructType } from '#compile';
import { deepEqual } from '#util/deep-equal.ts';
import { assertNever } from '#util/homeostat-error.ts';
import { parseQuantity, quantityBillionths, roundedToThousandths } from '#util/quantity.ts';
import { isEmptyCollection } from '#util/zero-value.ts';

/** Returns whether the server treats two spellings as equal. `want` is the intent's value, `have` the live one. */
export function equalScalars(want: unknown, have: unknown, format: ScalarType['format']): boolean {
  if (want === have) return true;
  switch (format) {
    case 'exact':
      return false;
    case 'quantity':
      return equalQuantities(want, have);
    case 'time':
      return equalTimes(want, have);
    case 'base64':
      return typeof want === 'string' && want.replace(/[\r\n]/g, '') === have;
    default:
      return assertNever(format);
  }
}

/** Single quantities are stored in billionths, those of resource lists in thousandths. No schema shows which. */
function equalQuantities(want: unknown, have: unknown): boolean {
  const ours = billionthsOf(want);
  if (ours === undefined) return false;
  const theirs = billionthsOf(have);
  return ours === theirs || roundedToThousandths(ours) === theirs;
}

function billionthsOf(value: unknown): bigint | undefined {
  const quantity = parseQuantity(value);
  return quantity && quantityBillionths(quantity);
}

/** Time is stored in seconds, MicroTime in microseconds, both in UTC. The precision of `have` shows which. */
function equalTimes(want: unknown, have: unknown): boolean {
  if (typeof want !== 'string' || typeof have !== 'string') return false;
  const fine = have.includes('.');
  const ours = instantUs(want, fine);
  return ours !== undefined && ours === instantUs(have, fine);
}

/** Microseconds since the epoch, of an RFC 3339 time. */
function instantUs(text: string, fine: boolean): number | undefined {
  const match = /^(.+T\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/.exec(text);
  if (match === null) return undefined;
  const [, seconds, fraction = '', zone] = match;
  const us = fine ? Number(fraction.padEnd(6, '0').slice(0, 6)) : 0;
  return Date.parse(`${seconds}${zone}`) * 1000 + us;
}

/** Go omits an empty list or map. An empty struct has a meaning (`emptyDir: {}`). */
export function isOmittedWhenEmpty(want: unknown, type: SchemaType): boolean {
  const isCollection = type.kind === 'list' || type.kind === 'map' || type.kind === 'branch';
  return type.builtIn && isCollection && isEmptyCollection(want);
}

/** Returns whether an additional value of a live object of a built-in type counts as absent. */
export function isEmptyLiveValue(have: unknown, field: StructField | undefined): boolean {
  return have === null || (field?.type.kind !== 'struct' && isEmptyCollection(have));
}

/** The live list without items that admission appended and the intent lacks. */
export function withoutInjected(
  key: string,
  want: unknown,
  have: unknown,
  type: StructType,
): unknown {
  const injected = type.injected[key];
  if (injected === undefined || !Array.isArray(have) || !Array.isArray(want)) return have;
  return have.filter(
    (item) =>
      !injected.some((added) => deepEqual(added, item)) ||
      want.some((ours) => deepEqual(ours, item)),
  );
}
