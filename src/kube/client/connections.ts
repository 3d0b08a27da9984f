import { type Dispatcher, Pool, ProxyAgent } from 'undici';
import type { Logger } from '../../telemetry/roles.ts';
import type { Clock } from '../../util/clock.ts';
import type { ClusterConfig, Credentials } from '../config/cluster-config.ts';
import { KubeError } from '../kube-error.ts';
import { untilAborted } from '../shared-calls.ts';
import { SocketGroup } from './socket-group.ts';

/** Connections of their own, so that none of the three waits for another. */
export type Lane = 'request' | 'watch' | 'lease';

/** All that one request needs: where to send it and what to put on it. */
export interface Link {
  readonly headers: Readonly<Record<string, string>>;
  readonly dispatchers: Readonly<Record<Lane, Dispatcher>>;
}

/** A link with a connection of its own. */
export interface FreshLink extends Pick<Link, 'headers'> {
  readonly dispatcher: Dispatcher;
}

export interface ConnectionsOptions {
  readonly config: ClusterConfig;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Of the lane `request`. */
  readonly connections: number;
}

/** Credentials are read again after so long, so that rotated files are noticed. */
const maxAgeMs = 30_000;

/** After a 401 credentials are renewed at most this often: a revoked one must not start a plugin for each request. */
const minRenewalGapMs = 10_000;

/**
 * Shorter than the time by which a lease outlives its last renewal: what was let through before the
 * connection was there is sent before anybody else may lead.
 */
const connectTimeoutMs = 4_000;

/** Below the idle timeout of the server (90 s) and of common load balancers (60 s), which would reset a write. */
const idleTimeoutMs = 45_000;

/** Connections of one cluster, with the credentials of the moment. */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #origin: string;
  readonly #retired = new Set<Dispatcher>();
  /** Those on which anything is written, but the lease. */
  readonly #writing = new SocketGroup();
  #link: Link | undefined;
  #credentials: Credentials | undefined;
  #readAtMs = 0;
  #renewedAtMs: number | undefined;
  #failuresInARow = 0;
  #reading: Promise<Link> | undefined;
  #isClosed = false;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
    this.#origin = new URL(options.config.server).origin;
  }

  /**
   * The link of the moment; reads the credentials again when they are old.
   * @throws KubeError `unauthorized` when there are none at all, `aborted`.
   */
  async current(signal: AbortSignal): Promise<Link> {
    const isFresh = this.#options.clock.monotonicMs() - this.#readAtMs < maxAgeMs;
    if (this.#link !== undefined && isFresh) return this.#link;
    // A plugin may hang: who waits for it can give up.
    return untilAborted(this.#read(false), signal);
  }

  /** As {@link current}, for who cannot wait: the old one while newer credentials are being read. */
  async currentAtOnce(signal: AbortSignal): Promise<Link> {
    const current = this.current(signal);
    if (this.#link === undefined) return current;
    // What is wrong with the new ones the next request is told.
    current.catch(() => {});
    return this.#link;
  }

  /** After a 401 on `refused`: a link with newer credentials, or the same one when there is none to be had now. */
  async renew(refused: Link, signal: AbortSignal): Promise<Link> {
    if (this.#link !== undefined && this.#link !== refused) return this.#link;
    const now = this.#options.clock.monotonicMs();
    if (this.#renewedAtMs !== undefined && now - this.#renewedAtMs < minRenewalGapMs)
      return untilAborted(this.#reading ?? Promise.resolve(refused), signal);
    this.#renewedAtMs = now;
    return untilAborted(this.#readAfter(this.#reading), signal);
  }

  /** A link of the same credentials on a new connection; the caller closes its dispatcher. @throws KubeError */
  async fresh(signal: AbortSignal): Promise<FreshLink> {
    const { headers } = await this.currentAtOnce(signal);
    return { headers, dispatcher: this.#dispatcher(this.#credentials ?? { headers }, 1) };
  }

  /** Drops what is still to be sent of requests of the lane `request`, here and in the kernel. They fail, and so do later ones. */
  cutWrites(): void {
    this.#writing.cut();
  }

  /** Cuts all connections. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const dispatchers = [...this.#retired, ...Object.values(this.#link?.dispatchers ?? {})];
    await Promise.all(dispatchers.map((dispatcher) => dispatcher.destroy()));
  }

  /** A reading because of age may get what a plugin remembers: one after a refusal comes after it. */
  async #readAfter(reading: Promise<Link> | undefined): Promise<Link> {
    await reading;
    return this.#read(true);
  }

  #read(wasRefused: boolean): Promise<Link> {
    this.#reading ??= this.#readNow(wasRefused).finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readNow(wasRefused: boolean): Promise<Link> {
    const { config, clock, logger } = this.#options;
    try {
      const credentials = await config.credentials.load({ wasRefused });
      this.#link = this.#linkFor(credentials);
      this.#credentials = credentials;
      this.#failuresInARow = 0;
    } catch (error) {
      if (this.#link === undefined) throw credentialsError(error);
      // The server decides how long the old ones are good. The first of a row is worth a look.
      const level = this.#failuresInARow++ === 0 ? 'warn' : 'debug';
      const reason = error instanceof Error ? error.message : String(error);
      logger[level]({ reason }, 'Credentials cannot be read again, going on with the old ones');
    }
    this.#readAtMs = clock.monotonicMs();
    return this.#link;
  }

  #linkFor(credentials: Credentials): Link {
    if (this.#isClosed) throw new Error('The connections are closed');
    const { headers } = credentials;
    const link = this.#link;
    if (link === undefined) return { headers, dispatchers: this.#open(credentials) };
    if (hasSameIdentity(credentials, this.#credentials)) {
      // A retry after a 401 is worth it only with something new: keep the identity of the link otherwise.
      return hasSameHeaders(headers, link.headers)
        ? link
        : { headers, dispatchers: link.dispatchers };
    }
    this.#options.logger.info({}, 'Certificates changed, opening new connections');
    for (const dispatcher of Object.values(link.dispatchers)) this.#retire(dispatcher);
    return { headers, dispatchers: this.#open(credentials) };
  }

  /** Lets what is in flight end, then closes. */
  #retire(dispatcher: Dispatcher): void {
    this.#retired.add(dispatcher);
    dispatcher.close(() => this.#retired.delete(dispatcher));
  }

  #open(credentials: Credentials): Record<Lane, Dispatcher> {
    return {
      request: this.#dispatcher(credentials, this.#options.connections, this.#writing),
      watch: this.#dispatcher(credentials, null),
      lease: this.#dispatcher(credentials, 1),
    };
  }

  #dispatcher(
    { ca, cert, key }: Credentials,
    connections: number | null,
    sockets?: SocketGroup,
  ): Dispatcher {
    const { tlsServerName, skipsTlsVerify = false, proxyUrl } = this.#options.config;
    const tls = {
      rejectUnauthorized: !skipsTlsVerify,
      ...(tlsServerName === undefined ? {} : { servername: tlsServerName }),
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
    };
    const options = {
      connections,
      // One stuck HTTP/2 connection would stall everything on it.
      allowH2: false,
      pipelining: 1,
      keepAliveTimeout: idleTimeoutMs,
      keepAliveMaxTimeout: idleTimeoutMs,
      // Deadlines are ours, one for the whole exchange.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    if (proxyUrl === undefined) {
      const connect = { ...tls, timeout: connectTimeoutMs, allowH2: false };
      return new Pool(this.#origin, {
        ...options,
        connect: sockets === undefined ? connect : sockets.connector(connect),
      });
    }
    return new ProxyAgent({ ...options, uri: proxyUrl, requestTls: tls });
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
  const reason = error instanceof Error ? error.message : String(error);
  return new KubeError('unauthorized', `No credentials for the API server: ${reason}`, {
    status: 0,
    cause: error,
  });
}
