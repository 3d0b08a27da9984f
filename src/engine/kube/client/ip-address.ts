import { BlockList, isIP } from 'node:net';

export type IpFamily = 'ipv4' | 'ipv6';

/** A range of IP addresses. */
export interface IpRange {
  /** Its first address, or any other. */
  readonly address: string;
  readonly prefix: number;
  readonly family: IpFamily;
}

/** The family of an address. Undefined: the text is none. */
export function familyOf(text: string): IpFamily | undefined {
  const version = isIP(text);
  if (version === 0) return undefined;
  return version === 4 ? 'ipv4' : 'ipv6';
}

/** Reads `10.0.0.0/8`, or an address alone. Undefined: it is none. */
export function parseRange(text: string): IpRange | undefined {
  const [, address = '', length] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const plain = withoutBrackets(address);
  const family = familyOf(plain);
  if (family === undefined || plain.includes('%')) return undefined;
  const bits = family === 'ipv4' ? 32 : 128;
  const prefix = length === undefined ? bits : Number(length);
  return prefix <= bits ? { address: plain, prefix, family } : undefined;
}

/** A set of ranges. */
export function ipSet(ranges: readonly IpRange[]): (address: string) => boolean {
  const list = new BlockList();
  for (const { address, prefix, family } of ranges) list.addSubnet(address, prefix, family);
  return (address) => {
    const family = familyOf(address);
    return family !== undefined && list.check(address, family);
  };
}

/** Whether all of a range is in another one. */
export function isWithin(inner: IpRange, outer: IpRange): boolean {
  return (
    inner.family === outer.family && inner.prefix >= outer.prefix && ipSet([outer])(inner.address)
  );
}

/**
 * The address to which packets are sent: without a zone, and the IPv4 address that an IPv6 address contains (mapped, compatible,
 * translated, NAT64, 6to4).
 */
export function effectiveAddress(text: string): string {
  const [address = ''] = withoutBrackets(text).split('%');
  if (familyOf(address) !== 'ipv6') return address;
  const groups = groupsOf(address);
  const [first = 0, second = 0, third = 0] = groups;
  if (first === 0x2002) return ipv4Of(second, third);
  const isEmbedded =
    groups.slice(0, 5).every((group) => group === 0) && (groups[5] === 0xffff || groups[5] === 0);
  // Of a network of one's own (`64:ff9b:1::/48`), the usual place of the address.
  const isNat64 =
    first === 0x64 &&
    second === 0xff9b &&
    (third === 1 || groups.slice(2, 6).every((each) => each === 0));
  const isTranslated =
    groups.slice(0, 4).every((group) => group === 0) && groups[4] === 0xffff && groups[5] === 0;
  const [high = 0, low = 0] = groups.slice(6);
  // `::` and `::1` are IPv6.
  if (isNat64 || isTranslated || (isEmbedded && (groups[5] !== 0 || high !== 0)))
    return ipv4Of(high, low);
  return address;
}

export function withoutBrackets(host: string): string {
  return host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
}

/** The eight groups of a valid IPv6 address. */
function groupsOf(address: string): readonly number[] {
  // The URL parser writes an IPv4 part as two groups.
  const { hostname } = new URL(`http://[${address}]`);
  const [head = '', tail] = withoutBrackets(hostname).split('::');
  const numbers = (part: string) =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16));
  const [before, after] = [numbers(head), numbers(tail ?? '')];
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}

function ipv4Of(high: number, low: number): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}
