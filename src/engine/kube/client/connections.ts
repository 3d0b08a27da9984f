import { type Dispatcher, Pool, ProxyAgent } from 'undici';
import type { Logger } from '#telemetry/roles.ts';
import type { Clock } from '#util/clock.ts';
import { messageOf } from '#util/homeostat-error.ts';
import type { ClusterConfig, Credentials } from '../config/cluster-config.ts';
import { errorFromTransport } from '../errors.ts';
import { KubeError } from '../kube-error.ts';
import { untilAborted } from '../shared-calls.ts';
import type { ServerGuard } from './server-guard.ts';
import { SocketGroup } from './socket-group.ts';

/** Lanes have separate connections, so that none blocks another. */
export type Lane = 'request' | 'watch' | 'lease';

/** Headers and connections for requests. */
export interface Link {
  readonly headers: Readonly<Record<string, string>>;
  readonly dispatchers: Readonly<Record<Lane, Dispatcher>>;
}

/** A link with a separate connection. */
interface FreshLink extends Pick<Link, 'headers'> {
  readonly dispatcher: Dispatcher;
}

interface ConnectionsOptions {
  readonly config: ClusterConfig;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Maximum connections of the lane `request`. */
  readonly connections: number;
  /**
   * Called when a connection is established, before it is used. Rejects when it must not be used. Not called for
   * connections through a proxy and for {@link Connections.fresh}. @default every connection may be used
   */
  readonly verify?: () => Promise<void>;
  /** Checks the address of each connection. @default all addresses are allowed */
  readonly guard?: ServerGuard;
}

/** Credentials are reloaded after this time, to detect rotated files. */
const maxAgeMs = 30_000;
/** A load of credentials that takes longer is logged: a plugin may wait for a login in a browser. */
const slowCredentialsMs = 5_000;

/** Minimum interval of renewals after a 401: revoked credentials must not start a plugin for each request. */
const minRenewalGapMs = 10_000;

/**
 * Shorter than the remaining time of a Lease after its last renewal: a write that passed the fence before it was
 * connected is sent before another process can lead.
 */
const connectTimeoutMs = 4_000;

/** Below the idle timeout of the server (90 s) and of common load balancers (60 s), which would reset a write. */
const idleTimeoutMs = 45_000;

/** Connections of one cluster with the current credentials. */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #origin: string;
  readonly #retired = new Set<Dispatcher>();
  /** Sockets of the lane `request`. */
  readonly #writeSockets: SocketGroup;
  #link: Link | undefined;
  #credentials: Credentials | undefined;
  #readAtMs = 0;
  #renewedAtMs: number | undefined;
  #failuresInARow = 0;
  #reading: Promise<Link> | undefined;
  readonly #closing = new AbortController();

  constructor(options: ConnectionsOptions) {
    this.#options = options;
    this.#origin = new URL(options.config.server).origin;
    this.#writeSockets = new SocketGroup(options);
  }

  /**
   * The current link. Reloads old credentials first.
   * @throws KubeError `unauthorized` without any credentials, `unavailable` for an address that is not allowed, `aborted`.
   */
  async current(signal: AbortSignal): Promise<Link> {
    this.#assertAllowed();
    const isFresh = this.#options.clock.monotonicMs() - this.#readAtMs < maxAgeMs;
    if (this.#link !== undefined && isFresh) return this.#link;
    // A plugin can hang: callers can abort.
    return untilAborted(this.#read(false), signal);
  }

  /** Like {@link current}, but returns the old link while credentials are reloaded. */
  async currentAtOnce(signal: AbortSignal): Promise<Link> {
    const current = this.current(signal);
    if (this.#link === undefined) return current;
    // The next request gets the error.
    current.catch(() => {});
    return this.#link;
  }

  /** After a 401 on `rejected`: a link with newer credentials, or the same link if there are none. */
  async renew(rejected: Link, signal: AbortSignal): Promise<Link> {
    if (this.#link !== undefined && this.#link !== rejected) return this.#link;
    const now = this.#options.clock.monotonicMs();
    if (this.#renewedAtMs !== undefined && now - this.#renewedAtMs < minRenewalGapMs)
      return untilAborted(this.#reading ?? Promise.resolve(rejected), signal);
    this.#renewedAtMs = now;
    return untilAborted(this.#readAfter(this.#reading), signal);
  }

  /** A link with the same credentials and a new connection. The caller closes its dispatcher. @throws KubeError */
  async fresh(signal: AbortSignal): Promise<FreshLink> {
    const { headers } = await this.currentAtOnce(signal);
    return { headers, dispatcher: this.#dispatcher(this.#credentials ?? { headers }, 1) };
  }

  /** Discards unsent data of the lane `request`, kernel buffers included. Its requests fail, and so do later ones. */
  dropPendingWrites(): void {
    this.#writeSockets.cut();
  }

  /** Closes all connections, and stops a running credential plugin. */
  async close(): Promise<void> {
    this.#closing.abort();
    const dispatchers = [...this.#retired, ...Object.values(this.#link?.dispatchers ?? {})];
    await Promise.all(dispatchers.map((dispatcher) => dispatcher.destroy()));
  }

  /** @throws KubeError */
  #assertAllowed(): void {
    try {
      this.#options.guard?.check();
    } catch (error) {
      throw errorFromTransport(error, { isWrite: false, wasSent: false });
    }
  }

  /** A load by age may return a plugin's cached credentials: the load after a rejection must follow it. */
  async #readAfter(reading: Promise<Link> | undefined): Promise<Link> {
    await reading;
    return this.#read(true);
  }

  #read(wasRejected: boolean): Promise<Link> {
    this.#reading ??= this.#readNow(wasRejected).finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readNow(wasRejected: boolean): Promise<Link> {
    const { config, clock, logger } = this.#options;
    const waits = clock.after(slowCredentialsMs, () =>
      logger.info({}, 'Waiting for credentials from the plugin or provider of the kubeconfig'),
    );
    try {
      const { signal } = this.#closing;
      const credentials = await config.credentials.load({ wasRejected, signal });
      this.#link = this.#linkFor(credentials);
      this.#credentials = credentials;
      this.#failuresInARow = 0;
    } catch (error) {
      if (this.#link === undefined) throw credentialsError(error);
      // The server decides how long the old ones are valid. Only the first of a series is logged as a warning.
      const level = this.#failuresInARow++ === 0 ? 'warn' : 'debug';
      const reason = messageOf(error);
      logger[level]({ reason }, 'Reloading credentials failed, using the previous ones');
    } finally {
      waits();
    }
    this.#readAtMs = clock.monotonicMs();
    return this.#link;
  }

  #linkFor(credentials: Credentials): Link {
    if (this.#closing.signal.aborted) throw new Error('The connections are closed');
    const { headers } = credentials;
    const link = this.#link;
    if (link === undefined) return { headers, dispatchers: this.#open(credentials) };
    if (hasSameIdentity(credentials, this.#credentials)) {
      // Keep the identity of the link if nothing changed: then a retry after a 401 is useless.
      return hasSameHeaders(headers, link.headers)
        ? link
        : { headers, dispatchers: link.dispatchers };
    }
    this.#options.logger.info({}, 'Certificates changed, opening new connections');
    for (const dispatcher of Object.values(link.dispatchers)) this.#retire(dispatcher);
    return { headers, dispatchers: this.#open(credentials) };
  }

  /** Closes the dispatcher after its pending requests. */
  #retire(dispatcher: Dispatcher): void {
    this.#retired.add(dispatcher);
    dispatcher.close(() => this.#retired.delete(dispatcher));
  }

  #open(credentials: Credentials): Record<Lane, Dispatcher> {
    const { connections, verify } = this.#options;
    return {
      request: this.#dispatcher(credentials, connections, this.#writeSockets),
      watch: this.#dispatcher(credentials, null, verify && new SocketGroup(this.#options)),
      lease: this.#dispatcher(credentials, 1),
    };
  }

  #dispatcher(
    { ca, cert, key }: Credentials,
    connections: number | null,
    sockets?: SocketGroup,
  ): Dispatcher {
    const { config, guard } = this.#options;
    const { tlsServerName, skipsTlsVerify = false, proxyUrl } = config;
    const resolving = guard === undefined ? {} : { lookup: guard.lookup };
    const tls = {
      rejectUnauthorized: !skipsTlsVerify,
      ...(tlsServerName === undefined ? {} : { servername: tlsServerName }),
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
    };
    const options = {
      connections,
      // A stuck HTTP/2 connection would block all its requests.
      allowH2: false,
      pipelining: 1,
      keepAliveTimeout: idleTimeoutMs,
      keepAliveMaxTimeout: idleTimeoutMs,
      // The exchange has its own timeout.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    if (proxyUrl === undefined) {
      const connect = { ...tls, ...resolving, timeout: connectTimeoutMs, allowH2: false };
      return new Pool(this.#origin, {
        ...options,
        connect: sockets === undefined ? connect : sockets.connector(connect),
      });
    }
    return new ProxyAgent({ ...options, uri: proxyUrl, requestTls: tls, proxyTls: resolving });
  }
}

function hasSameIdentity(a: Credentials, b: Credentials | undefined): boolean {
  return a.ca === b?.ca && a.cert === b?.cert && a.key === b?.key;
}

function hasSameHeaders(
  a: Readonly<Record<string, string>>,
  b: Readonly<Record<string, string>>,
): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}

function credentialsError(error: unknown): KubeError {
  const reason = messageOf(error);
  return new KubeError('unauthorized', `No credentials for the API server: ${reason}`, {
    status: 0,
    cause: error,
  });
}
