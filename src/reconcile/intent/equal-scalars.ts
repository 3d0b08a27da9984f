import type { ScalarType } from '../../compile/index.ts';
import { assertNever } from '../../util/assert-never.ts';
import { parseQuantity, quantityBillionths, roundedToThousandths } from '../../util/quantity.ts';

/** Do two spellings mean the same to the server? `want` is ours, `have` is what it made of it. */
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

/** Single quantities are kept to billionths, those of resource lists to thousandths; which it is shows in no schema. */
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

/** Time is kept to the second, MicroTime to the microsecond, both in UTC; how fine `have` is tells which. */
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
