import { matchesGlob } from '#util/glob.ts';
import {
  effectiveAddress,
  familyOf,
  type IpRange,
  ipSet,
  isWithin,
  parseRange,
  withoutBrackets,
} from './ip-address.ts';
import { ServerNotAllowedError } from './server-not-allowed.ts';

/** Something unusual about the address of a server: it is one of this process, or of the hub. */
export type ServerNote = 'loopback' | 'hub';

export interface ServerPolicyOptions {
  /**
   * Globs of host names, addresses and CIDRs, as {@link isServerPattern} accepts them. @default all servers
   */
  readonly allowed?: readonly string[];
  /** Address of the hub's API server: `https://10.0.0.1:6443`. @default unknown */
  readonly hub?: string;
}

/** Where services of clouds and nodes answer without credentials: only an address or CIDR inside of such a range allows it. */
export const reservedRanges = [
  '169.254.0.0/16',
  'fe80::/10',
  // Metadata services of AWS, Google Cloud, Azure, Alibaba Cloud, Oracle Cloud.
  'fd00:ec2::/32',
  'fd20:ce::254',
  '168.63.129.16',
  '100.100.100.200',
  '192.0.0.192',
];

/** Those of this process. */
export const loopbackRanges = ['127.0.0.0/8', '0.0.0.0/8', '::1', '::'];

/** Names of metadata services, which a proxy would resolve. */
const reservedNames: readonly string[] = [
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'instance-data',
  'instance-data.ec2.internal',
  'metadata.azure.internal',
  'metadata.tencentyun.com',
  'metadata.oraclecloud.com',
];

const hint = 'an administrator can allow it with --cluster-servers';

/** Whether a text is a glob of host names, an address or a CIDR. Pure. */
export function isServerPattern(text: string): boolean {
  if (parseRange(text) !== undefined) return true;
  // A glob of numbers would also match names: `10.*` matches `10.example.com`.
  const isGlob = /^[a-z0-9*?._-]+$/i.test(text);
  return isGlob && (text === '*' || !/^[\d.*?]+$/.test(text));
}

/** Which servers the kubeconfigs of members may name: they are written by others than the administrators of the hub. */
export class ServerPolicy {
  /** Undefined: all that are not reserved. */
  readonly #globs: readonly string[] | undefined;
  readonly #isReserved: (address: string) => boolean;
  readonly #isLoopback: (address: string) => boolean;
  readonly #isInRange: (address: string) => boolean;
  readonly #isExplicit: (address: string) => boolean;
  readonly #hub: URL | undefined;

  constructor({ allowed, hub }: ServerPolicyOptions = {}) {
    const patterns = allowed?.map((pattern) => pattern.toLowerCase());
    const ranges = rangesOf(patterns ?? []);
    const reserved = rangesOf(reservedRanges);
    this.#isReserved = ipSet(reserved);
    this.#isLoopback = ipSet(rangesOf(loopbackRanges));
    this.#globs = patterns?.filter((pattern) => parseRange(pattern) === undefined);
    this.#isInRange = ipSet(ranges);
    this.#isExplicit = ipSet(
      ranges.filter((range) => reserved.some((each) => isWithin(range, each))),
    );
    this.#hub = hub === undefined ? undefined : new URL(hub);
  }

  /** Checks a host before its name is resolved. @throws ServerNotAllowedError */
  checkHost(host: string): void {
    const name = nameOf(host);
    if (familyOf(name) !== undefined) this.checkAddress(name, name);
    else if (this.#isReservedName(name)) throw reservedError(host);
  }

  /** Checks an address to which the name of a host resolves. @throws ServerNotAllowedError */
  checkAddress(host: string, address: string): void {
    const target = effectiveAddress(address);
    if (this.#isReserved(target) || this.#isReserved(address)) {
      if (this.#isExplicit(target)) return;
      throw reservedError(host);
    }
    if (this.#globs === undefined || matchesGlob(nameOf(host), this.#globs)) return;
    // A range may also be one of NAT64 or 6to4, as the address is written.
    if (this.#isInRange(target) || this.#isInRange(address)) return;
    throw notAllowed(`The server "${host}" is not allowed`);
  }

  /** Checks the host of a server behind a proxy, which resolves its name. @throws ServerNotAllowedError */
  checkBehindProxy(host: string): void {
    const name = nameOf(host);
    this.checkHost(host);
    if (familyOf(name) !== undefined || this.#globs === undefined) return;
    if (!matchesGlob(name, this.#globs))
      throw notAllowed(`The server "${host}" is behind a proxy, and its name is not allowed`);
  }

  /** What is unusual about an address that is allowed. Pure. */
  noteOf({
    host,
    port,
    address,
    path,
  }: {
    host: string;
    port: string;
    address: string;
    path: string;
  }): ServerNote | undefined {
    const target = effectiveAddress(address);
    const hub = this.#hub;
    // A gateway serves several clusters at one address.
    const isHubPath = hub !== undefined && prefixOf(hub.pathname) === prefixOf(path);
    if (isHubPath && portOf(hub) === port) {
      const hubName = nameOf(hub.hostname);
      if (hubName === nameOf(host) || effectiveAddress(hubName) === target) return 'hub';
    }
    return this.#isLoopback(target) ? 'loopback' : undefined;
  }

  #isReservedName(name: string): boolean {
    return reservedNames.includes(name) && this.#globs?.includes(name) !== true;
  }
}

function rangesOf(texts: readonly string[]): readonly IpRange[] {
  return texts.flatMap((text) => parseRange(text) ?? []);
}

/** The port of a URL, with the default of its protocol. */
export function portOf({ port, protocol }: URL): string {
  if (port !== '') return port;
  return protocol === 'http:' ? '80' : '443';
}

function prefixOf(path: string): string {
  return path.replace(/\/+$/, '');
}

function nameOf(host: string): string {
  return withoutBrackets(host).toLowerCase().replace(/\.$/, '');
}

function reservedError(host: string): ServerNotAllowedError {
  return notAllowed(`The server "${host}" has a link-local address or one of a metadata service`);
}

function notAllowed(what: string): ServerNotAllowedError {
  return new ServerNotAllowedError(`${what}; ${hint}`);
}
