import { lookup as systemLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import type { ClusterConfig } from '../config/cluster-config.ts';
import { familyOf, withoutBrackets } from './ip-address.ts';
import { ServerNotAllowedError } from './server-not-allowed.ts';
import { portOf, type ServerNote, type ServerPolicy } from './server-policy.ts';

export interface ServerGuardOptions {
  readonly policy: ServerPolicy;
  /** Called for each connection whose address is unusual. @default no action */
  readonly onNote?: (note: ServerNote) => void;
  /** Resolves names. @default that of the system */
  readonly lookup?: LookupFunction;
}

/**
 * Checks the addresses of one server, or of the proxy before it, for each connection: a name that was allowed once can resolve to another
 * address later.
 */
export class ServerGuard {
  readonly #options: ServerGuardOptions;
  /** What is connected to. */
  readonly #target: URL;
  /** Behind a proxy: the host of the server. */
  readonly #hiddenHost: string | undefined;

  constructor(
    { server, proxyUrl }: Pick<ClusterConfig, 'server' | 'proxyUrl'>,
    options: ServerGuardOptions,
  ) {
    this.#options = options;
    this.#target = new URL(proxyUrl ?? server);
    this.#hiddenHost = proxyUrl === undefined ? undefined : new URL(server).hostname;
  }

  /** Checks what is known before a connection. Addresses are not resolved. @throws ServerNotAllowedError */
  check(): void {
    const { policy } = this.#options;
    const host = withoutBrackets(this.#target.hostname);
    policy.checkHost(host);
    if (familyOf(host) !== undefined) this.#note(host, host);
    if (this.#hiddenHost !== undefined) policy.checkBehindProxy(this.#hiddenHost);
  }

  /** Resolves a name to the allowed addresses, for `net.connect`, which connects to no other one. */
  readonly lookup: LookupFunction = (host, options, callback) => {
    const { policy, lookup = systemLookup as LookupFunction } = this.#options;
    lookup(host, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, '');
      const addresses = Array.isArray(found) ? found : [{ address: found, family: 0 }];
      try {
        const allowed = addresses.filter(({ address }) => isAllowed(policy, host, address));
        const [first] = allowed;
        // For its error.
        if (first === undefined)
          for (const { address } of addresses) policy.checkAddress(host, address);
        for (const { address } of allowed) this.#note(host, address);
        if (options.all === true) callback(null, allowed);
        else callback(null, first?.address ?? '', first?.family);
      } catch (rejected) {
        callback(rejected as NodeJS.ErrnoException, '');
      }
    });
  };

  #note(host: string, address: string): void {
    const { policy, onNote } = this.#options;
    const note = policy.noteOf({
      host,
      address,
      port: portOf(this.#target),
      path: this.#target.pathname,
    });
    if (note !== undefined) onNote?.(note);
  }
}

function isAllowed(policy: ServerPolicy, host: string, address: string): boolean {
  try {
    policy.checkAddress(host, address);
    return true;
  } catch (error) {
    if (error instanceof ServerNotAllowedError) return false;
    throw error;
  }
}
