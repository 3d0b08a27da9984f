import ipaddr from 'ipaddr.js';

/** An address: its bits as a number. */
export interface IpAddress {
  readonly family: 4 | 6;
  readonly bits: bigint;
}

/** A range of addresses with a common prefix. */
export interface IpRange {
  readonly family: 4 | 6;
  readonly prefix: number;
  /** The first address, whose bits after the prefix are zero. */
  readonly first: bigint;
  readonly last: bigint;
}

const longestAddress = 45;
const widths = { 4: 32, 6: 128 } as const;
/** `::ffff:0:0/96`: IPv4 in the form of IPv6. */
const mappedPrefix = 0xffffn;

/**
 * Parses an address as Kubernetes does: no zone, no leading zeros in IPv4, and `::ffff:10.0.0.1` is 10.0.0.1.
 * Undefined: invalid.
 */
export function parseIp(text: string): IpAddress | undefined {
  const address = parseWritten(text);
  return address?.family === 6 && address.bits >> 32n === mappedPrefix
    ? { family: 4, bits: address.bits & 0xffffffffn }
    : address;
}

/** Parses `10.0.0.0/8`; bits after the prefix are ignored. Undefined: invalid. */
export function parseIpRange(text: string): IpRange | undefined {
  const slash = text.indexOf('/');
  const address = parseWritten(text.slice(0, Math.max(slash, 0)));
  const length = text.slice(slash + 1);
  if (address === undefined || !/^(?:0|[1-9]\d{0,2})$/.test(length)) return undefined;
  const { family, bits } = address;
  const prefix = Number(length);
  if (prefix > widths[family]) return undefined;
  if (family === 6 && prefix >= 96 && bits >> 32n === mappedPrefix)
    return rangeOf({ family: 4, bits: bits & 0xffffffffn }, prefix - 96);
  return rangeOf(address, prefix);
}

/** The range with this prefix that an address is in. */
function rangeOf({ family, bits }: IpAddress, prefix: number): IpRange {
  const hostBits = BigInt(widths[family] - prefix);
  const first = (bits >> hostBits) << hostBits;
  return { family, prefix, first, last: first + (1n << hostBits) - 1n };
}

export function isInRange({ family, bits }: IpAddress, range: IpRange): boolean {
  return family === range.family && bits >= range.first && bits <= range.last;
}

/** The first ranges with a longer prefix in a range; undefined if it has fewer. */
export function subranges(
  { family, first, last, prefix }: IpRange,
  longer: number,
  count: number,
): readonly IpRange[] | undefined {
  if (longer < prefix || longer > widths[family]) return undefined;
  const size = 1n << BigInt(widths[family] - longer);
  if (first + BigInt(count) * size - 1n > last) return undefined;
  return Array.from({ length: count }, (_, index) =>
    rangeOf({ family, bits: first + BigInt(index) * size }, longer),
  );
}

/** The address in its canonical form (RFC 5952 for IPv6). */
export function ipText({ family, bits }: IpAddress): string {
  const bytes = Array.from({ length: widths[family] / 8 }, (_, index) =>
    Number((bits >> BigInt(widths[family] - 8 * (index + 1))) & 0xffn),
  );
  return family === 4 ? bytes.join('.') : new ipaddr.IPv6(bytes).toRFC5952String();
}

export function ipRangeText({ family, first, prefix }: IpRange): string {
  return `${ipText({ family, bits: first })}/${prefix}`;
}

function parseWritten(text: string): IpAddress | undefined {
  if (text.length > longestAddress) return undefined;
  if (!text.includes(':')) return parseIpv4(text);
  const bytes = parseIpv6(text);
  return bytes && { family: 6, bits: numberOf(bytes) };
}

function parseIpv4(text: string): IpAddress | undefined {
  // The library also reads octal and hexadecimal parts, and addresses of less than four.
  if (!/^(?:(?:0|[1-9]\d{0,2})(?:\.|$)){4}$/.test(text) || text.endsWith('.')) return undefined;
  if (!ipaddr.IPv4.isValid(text)) return undefined;
  return { family: 4, bits: numberOf(ipaddr.IPv4.parse(text).toByteArray()) };
}

function parseIpv6(text: string): readonly number[] | undefined {
  if (text.includes('%')) return undefined;
  const written = withoutDots(text);
  return written !== undefined && ipaddr.IPv6.isValid(written)
    ? ipaddr.IPv6.parse(written).toByteArray()
    : undefined;
}

/** IPv4 at the end, in hexadecimal parts: the library reads `::1.2.3.4` as `::ffff:1.2.3.4`. */
function withoutDots(text: string): string | undefined {
  if (!text.includes('.')) return text;
  const start = text.lastIndexOf(':') + 1;
  const end = parseIpv4(text.slice(start));
  if (end === undefined) return undefined;
  return `${text.slice(0, start)}${(end.bits >> 16n).toString(16)}:${(end.bits & 0xffffn).toString(16)}`;
}

function numberOf(bytes: readonly number[]): bigint {
  return bytes.reduce((bits, byte) => (bits << 8n) | BigInt(byte), 0n);
}
