import { limits } from '../limits.ts';
import { characterSteps, entriesBytes } from '../step-costs.ts';
import { integerArgument, invalidArgument, textArgument } from './arguments.ts';
import {
  type IpRange,
  ipRangeText,
  ipText,
  isInRange,
  parseIp,
  parseIpRange,
  subranges,
} from './ip-range.ts';
import type { LanguageFunction } from './language-function.ts';

export const networkFunctions: readonly LanguageFunction[] = [
  {
    name: 'ipIn',
    params: ['ip', 'cidr'],
    returns: 'boolean',
    doc: 'Whether the address is in the range; both are IPv4 or IPv6',
    example: { source: '$ipIn("10.1.2.3", "10.0.0.0/8")', gives: true },
    literals: {
      ip: (text) => (parseIp(text) === undefined ? expectedAddress : undefined),
      cidr: rangeReason,
    },
    run: ([value, cidr], { meter }) => {
      meter.spend(addressSteps);
      const address = parseIp(textArgument('ipIn', value, 'the first argument'));
      if (address === undefined) {
        throw invalidArgument('ipIn', 'an IP address such as "10.0.0.1"', 'the first argument');
      }
      return isInRange(address, rangeArgument('ipIn', cidr, 'the second argument'));
    },
  },
  {
    name: 'cidr',
    params: ['cidr'],
    returns: 'object',
    doc: 'The parts of a range of addresses: network, family (4 or 6), prefix, first and last address',
    example: {
      source: '$cidr("10.0.1.5/24")',
      gives: {
        network: '10.0.1.0/24',
        family: 4,
        prefix: 24,
        first: '10.0.1.0',
        last: '10.0.1.255',
      },
    },
    literals: { cidr: rangeReason },
    run: ([value], { meter }) => {
      meter.spend(addressSteps);
      const range = rangeArgument('cidr', value, 'the argument');
      const { family, prefix, first, last } = range;
      return {
        network: ipRangeText(range),
        family,
        prefix,
        first: ipText({ family, bits: first }),
        last: ipText({ family, bits: last }),
      };
    },
  },
  {
    name: 'subnets',
    params: ['cidr', 'bits', 'count'],
    returns: 'list',
    doc: 'The first ranges of a range that have a prefix of so many bits; an error if it has fewer',
    example: {
      source: '$subnets("10.0.0.0/16", 24, 2)',
      gives: ['10.0.0.0/24', '10.0.1.0/24'],
    },
    literals: { cidr: rangeReason },
    run: ([value, bitsValue, countValue], { meter }) => {
      const range = rangeArgument('subnets', value, 'the first argument');
      const prefixes = { least: 0, most: 128, which: 'the second argument' };
      const bits = integerArgument('subnets', bitsValue, prefixes);
      const counts = { least: 0, most: limits.sequence, which: 'the third argument' };
      const count = integerArgument('subnets', countValue, counts);
      meter.spend(addressSteps * (1 + count));
      meter.allocate(entriesBytes(2 * count));
      const found = subranges(range, bits, count);
      if (found !== undefined) return found.map(ipRangeText);
      throw invalidArgument('subnets', 'a range that has so many subnets', 'the first argument');
    },
  },
  {
    name: 'url',
    params: ['text'],
    returns: 'object',
    doc: 'The parts of a URL: scheme, host, port, path, query (a map), fragment, user and password',
    example: {
      source: '$url("https://example.com/a?b=1")',
      gives: { scheme: 'https', host: 'example.com', port: 443, path: '/a', query: { b: '1' } },
    },
    literals: { text: (text) => (URL.canParse(text) ? undefined : expectedUrl) },
    run: ([value], { meter }) => {
      const text = textArgument('url', value);
      meter.spend(20 + 4 * characterSteps(text));
      if (URL.canParse(text)) return partsOf(new URL(text));
      throw invalidArgument('url', 'a URL such as "https://example.com/a"');
    },
  },
];

const addressSteps = 40;
const expectedAddress = 'Expected an IP address such as "10.0.0.1" or "fd00::1"';
const expectedRange = 'Expected a range of IP addresses such as "10.0.0.0/8" or "fd00::/64"';
const expectedUrl = 'Expected a URL such as "https://example.com/a"';

function rangeReason(text: string): string | undefined {
  return parseIpRange(text) === undefined ? expectedRange : undefined;
}

function rangeArgument(name: string, value: unknown, which: string): IpRange {
  const range = parseIpRange(textArgument(name, value, which));
  if (range !== undefined) return range;
  throw invalidArgument(name, expectedRange.replace(/^Expected /, ''), which);
}

/** Ports of the schemes for which `URL` omits them. */
const ports: Readonly<Record<string, number>> = { http: 80, https: 443, ftp: 21, ws: 80, wss: 443 };

function partsOf(url: URL): Readonly<Record<string, unknown>> {
  const scheme = url.protocol.slice(0, -1);
  const query = Object.fromEntries(url.searchParams);
  const parts = {
    scheme,
    // An address of IPv6 is in brackets.
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? ports[scheme] : Number(url.port),
    path: url.pathname,
    query: Object.keys(query).length > 0 ? query : undefined,
    fragment: url.hash.slice(1),
    user: decoded(url.username),
    password: decoded(url.password),
  };
  return Object.fromEntries(
    Object.entries(parts).filter(([, part]) => part !== undefined && part !== ''),
  );
}

/** Without percent-encoding, if that is valid. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // Not every "%" begins a byte.
    return text;
  }
}
