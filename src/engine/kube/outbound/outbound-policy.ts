import { matchesGlob } from '#util/glob.ts';
import {
  effectiveAddress,
  familyOf,
  type IpRange,
  ipSet,
  isWithin,
  parseRange,
  withoutBrackets,
} from '../client/ip-address.ts';
import { loopbackRanges, reservedRanges } from '../client/server-policy.ts';

/** Where a connection leads. */
export interface OutboundTarget {
  readonly host: string;
  readonly port: number;
  /** The namespace on whose behalf it is made. */
  readonly namespace: string;
}

export interface OutboundPolicyOptions {
  /** `HOST-GLOB`, `ADDRESS` or `CIDR`, each with an optional `:PORT`; IPv6 in brackets. @default none */
  readonly allowed?: readonly string[];
  /** Returns the addresses of the API server and of the own Pod, at each check. @default none */
  readonly protectedAddresses?: () => readonly string[];
}

/** Why an address is permitted: `rule`: an administrator allows it. `service`: as an address of a Service, which is to be confirmed. */
export type AddressGrant = 'rule' | 'service';

/** A Service of the namespace of a target. */
export interface ServiceName {
  readonly namespace: string;
  readonly name: string;
}

/** The address of a request is not permitted. */
export class OutboundNotAllowedError extends Error {}

/** Names of the API server, which each cluster has. */
const apiServerNames = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc'];

interface AllowedRule {
  readonly port: number | undefined;
  /** Undefined: a glob of host names. */
  readonly range: IpRange | undefined;
  readonly glob: string;
}

const alwaysProtected = rangesOf([...loopbackRanges, ...reservedRanges]);

/**
 * Where objects of tenants may send requests: to Services of their own namespace, and to what an administrator allows. Loopback,
 * link-local and metadata addresses, the API server and the own Pod need an address or CIDR of their own.
 */
export class OutboundPolicy {
  readonly #rules: readonly AllowedRule[];
  readonly #protectedAddresses: () => readonly string[];

  constructor({ allowed = [], protectedAddresses = () => [] }: OutboundPolicyOptions = {}) {
    this.#rules = allowed.map(ruleOf);
    this.#protectedAddresses = protectedAddresses;
  }

  /** Checks a target before its name is resolved. @throws OutboundNotAllowedError */
  checkTarget(target: OutboundTarget): void {
    const host = hostOf(target);
    if (familyOf(host) !== undefined) this.checkAddress(target, host);
    else if (isApiServer(host)) throw notAllowed(target);
    else if (
      serviceOf(target) === undefined &&
      !this.#matchesGlob(target) &&
      !this.#hasRange(target)
    )
      throw notAllowed(target);
  }

  /**
   * Checks an address of the target, at each connection. One that is permitted as `service` must be confirmed: who writes a Service
   * decides where its name leads.
   * @throws OutboundNotAllowedError
   */
  checkAddress(target: OutboundTarget, address: string): AddressGrant {
    const forms = [...new Set([effectiveAddress(address), withoutBrackets(address)])];
    const protectedRanges = [...alwaysProtected, ...rangesOf(this.#protectedAddresses())];
    const guarded = protectedRanges.filter((range) => forms.some(ipSet([range])));
    const isListed = this.#rules.some(
      ({ port, range }) =>
        range !== undefined &&
        (port ?? target.port) === target.port &&
        ipSet([range])(forms[0] ?? '') &&
        guarded.every((each) => isWithin(range, each)),
    );
    if (isListed) return 'rule';
    const isName = familyOf(hostOf(target)) === undefined;
    if (guarded.length > 0 || !isName) throw notAllowed(target);
    if (this.#matchesGlob(target)) return 'rule';
    if (serviceOf(target) === undefined) throw notAllowed(target);
    return 'service';
  }

  /**
   * Checks a target behind a proxy, which resolves its name: only a name or address that a rule has literally, because the address to
   * which it leads is not known here.
   * @throws OutboundNotAllowedError
   */
  checkBehindProxy(target: OutboundTarget): void {
    const host = hostOf(target);
    if (familyOf(host) !== undefined) return void this.checkAddress(target, host);
    const isNamed = this.#rules.some(
      ({ port, glob, range }) =>
        range === undefined && glob === host && (port ?? target.port) === target.port,
    );
    if (!isNamed || isApiServer(host)) throw notAllowed(target);
  }

  #matchesGlob(target: OutboundTarget): boolean {
    const host = hostOf(target);
    return this.#rules.some(
      ({ port, range, glob }) =>
        range === undefined && (port ?? target.port) === target.port && matchesGlob(host, [glob]),
    );
  }

  #hasRange({ port }: OutboundTarget): boolean {
    return this.#rules.some((rule) => rule.range !== undefined && (rule.port ?? port) === port);
  }
}

/** Whether a text is a rule of {@link OutboundPolicyOptions.allowed}. Pure. */
export function isOutboundRule(text: string): boolean {
  const { range, glob, port } = ruleOf(text);
  if (port !== undefined && (port < 1 || port > 65_535)) return false;
  // A glob of numbers would also match names.
  return (
    range !== undefined ||
    (/^[a-z0-9*?._-]+$/i.test(glob) && (glob === '*' || !/^[\d.*?]+$/.test(glob)))
  );
}

/** The port is what follows the last colon, unless the text is an IPv6 address. */
function ruleOf(text: string): AllowedRule {
  const whole = rangeIn(text);
  if (whole !== undefined) return { port: undefined, range: whole, glob: text };
  const [, pattern = text, port] = /^(.*):(\d{1,5})$/.exec(text) ?? [];
  return {
    port: port === undefined ? undefined : Number(port),
    range: rangeIn(pattern),
    glob: pattern.toLowerCase(),
  };
}

/** `10.0.0.0/8`, `10.0.0.1`, `[fd00::]/8`, `[fd00::1]`, `fd00::1`. */
function rangeIn(text: string): IpRange | undefined {
  return parseRange(text.replace(/^\[([^\]]+)\](\/\d+)?$/, '$1$2'));
}

function rangesOf(texts: readonly string[]): readonly IpRange[] {
  return texts.flatMap((text) => parseRange(text) ?? []);
}

/** The Service of its own namespace that a target names. Undefined: it names none. Pure. */
export function serviceOf(target: OutboundTarget): ServiceName | undefined {
  const [name = '', namespace, ...domain] = hostOf(target).split('.');
  const isService = ['svc', 'svc.cluster.local'].includes(domain.join('.'));
  return isService && isLabel(name) && namespace === target.namespace
    ? { namespace, name }
    : undefined;
}

/** A name that an object can have. */
function isLabel(text: string): boolean {
  return /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/.test(text);
}

function isApiServer(host: string): boolean {
  return apiServerNames.some((name) => host === name || host.startsWith(`${name}.svc`));
}

/** Without the dot at the end, which resolves to the same. */
function hostOf({ host }: OutboundTarget): string {
  return withoutBrackets(host).toLowerCase().replace(/\.$/, '');
}

function notAllowed({ host, port }: OutboundTarget): OutboundNotAllowedError {
  return new OutboundNotAllowedError(`Requests to "${host}:${port}" are not allowed`);
}
