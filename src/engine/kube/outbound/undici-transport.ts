import { lookup as systemLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { type Dispatcher, Pool, ProxyAgent } from 'undici';
import type { Clock } from '#util/clock.ts';
import {
  type ReceivedResponse,
  ResponseHandler,
  type ResponseHeaders,
} from '../client/response-handler.ts';
import { SocketGroup } from '../client/socket-group.ts';
import { KubeError } from '../kube-error.ts';
import {
  type HttpTransport,
  HttpTransportError,
  type HttpTransportErrorCode,
  largeAnswerBytes,
  type TransportAnswer,
  type TransportRequest,
  type TransportTls,
} from './outbound-http.ts';
import {
  OutboundNotAllowedError,
  type OutboundPolicy,
  type OutboundTarget,
  type ServiceName,
  serviceOf,
} from './outbound-policy.ts';

export interface UndiciTransportOptions {
  readonly policy: OutboundPolicy;
  readonly services: ServiceCheck;
  readonly clock: Clock;
  /** The proxy for requests to a URL. Its own address is not checked. @default no proxy is used */
  readonly proxyFor?: (url: URL) => string | undefined;
  /** Resolves names. @default that of the system */
  readonly lookup?: LookupFunction;
}

/** Confirms where the name of a Service leads. */
export interface ServiceCheck {
  /**
   * Returns the addresses of its Pods.
   * @throws OutboundNotAllowedError when an address may not be one of the Service; KubeError when that is not known.
   */
  confirm(
    service: ServiceName,
    addresses: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly ServedAddress[]>;
}

/** Where connections to a Service end. */
export interface ServedAddress {
  readonly address: string;
  /** Of the Pod. */
  readonly ports: readonly number[];
  /** The Pod, if it is in the network of its node, and so has the address of the node. */
  readonly podOnNode?: string;
}

/** Pools of connections that are kept. */
const maxPools = 200;
const connectTimeoutMs = 4_000;
const idleTimeoutMs = 20_000;
/** Of all headers of an answer. */
const maxHeaderBytes = 16 * 1024;

/** The connections to one server with one set of certificates. */
interface OpenPool {
  readonly dispatcher: Dispatcher;
  /** Undefined: they lead to a proxy. */
  readonly sockets: SocketGroup | undefined;
}

const poolOptions = {
  ...{ connections: null, pipelining: 1, allowH2: false },
  ...{ keepAliveTimeout: idleTimeoutMs, keepAliveMaxTimeout: idleTimeoutMs },
  // The request has a timeout of its own.
  ...{ headersTimeout: 0, bodyTimeout: 0, maxHeaderSize: maxHeaderBytes },
};

/** Sends requests on connections whose addresses the policy permits. Follows no redirects, and decompresses nothing. */
export class UndiciTransport implements HttpTransport {
  readonly #options: UndiciTransportOptions;
  readonly #pools = new Map<string, OpenPool>();
  /** Pools that end with their requests. */
  readonly #ending = new Set<OpenPool>();
  readonly #closed = new AbortController();

  constructor(options: UndiciTransportOptions) {
    this.#options = options;
  }

  send(request: TransportRequest, signal: AbortSignal): Promise<TransportAnswer> {
    const { clock } = this.#options;
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(aborted(signal.reason, false));
      if (this.#closed.signal.aborted) return reject(aborted(this.#closed.signal.reason, false));
      const exchange: AnswerExchange = new AnswerExchange(request, (outcome) => {
        signal.removeEventListener('abort', onAbort);
        cancel();
        if (outcome instanceof Error) reject(outcome);
        else resolve(outcome);
      });
      const onAbort = () => exchange.cut('aborted', 'The request was aborted', signal.reason);
      const cancel = clock.after(request.timeoutMs, () =>
        exchange.cut('timeout', `No whole answer within ${request.timeoutMs} ms`),
      );
      signal.addEventListener('abort', onAbort, { once: true });
      try {
        const url = new URL(request.url);
        const path = `${url.pathname}${url.search}`;
        const headers = { ...request.headers, 'accept-encoding': 'identity' };
        const body = request.body ?? null;
        const { method } = request;
        const pool = this.#poolFor(request, url);
        pool.dispatch({ path, method, headers, body }, exchange.handler);
      } catch (error) {
        exchange.handler.fail(error);
      }
    });
  }

  /** Closes all connections. */
  async close(): Promise<void> {
    this.#closed.abort(new Error('The transport is closed'));
    const pools = this.#all;
    this.#pools.clear();
    await Promise.all(pools.map(({ dispatcher }) => dispatcher.destroy()));
  }

  /**
   * Discards unsent data of all requests, kernel buffers included, and fails later ones: what is stuck in the network must not be sent by a
   * former leader. Connections through a proxy are only closed.
   */
  dropPendingWrites(): void {
    for (const { sockets } of this.#all) sockets?.cut();
    void this.close();
  }

  get #all(): readonly OpenPool[] {
    return [...this.#pools.values(), ...this.#ending];
  }

  /** @throws OutboundNotAllowedError */
  #poolFor({ namespace, tls }: TransportRequest, url: URL): Dispatcher {
    const { origin, hostname, port, protocol } = url;
    const standardPort = protocol === 'https:' ? 443 : 80;
    const target = { host: hostname, port: port === '' ? standardPort : Number(port), namespace };
    const { policy } = this.#options;
    // A proxy cannot resolve names of Services.
    const proxy = serviceOf(target) === undefined ? this.#options.proxyFor?.(url) : undefined;
    if (proxy === undefined) policy.checkTarget(target);
    else policy.checkBehindProxy(target);
    const key = JSON.stringify([origin, namespace, tls, proxy]);
    const known = this.#pools.get(key);
    if (known !== undefined) {
      // The last used one is the last to be closed.
      this.#pools.delete(key);
      this.#pools.set(key, known);
      return known.dispatcher;
    }
    const pool = proxy === undefined ? this.#open(origin, target, tls) : openProxy(proxy, tls);
    this.#pools.set(key, pool);
    this.#evict();
    return pool.dispatcher;
  }

  #open(origin: string, target: OutboundTarget, tls: TransportTls): OpenPool {
    const sockets = new SocketGroup({ guard: { lookup: this.#lookupFor(target) } });
    const connect = sockets.connector({
      ...{ timeout: connectTimeoutMs, allowH2: false, lookup: this.#lookupFor(target) },
      ...tlsOptions(tls),
    });
    return { dispatcher: new Pool(origin, { ...poolOptions, connect }), sockets };
  }

  #evict(): void {
    const [oldest] = this.#pools;
    if (oldest === undefined || this.#pools.size <= maxPools) return;
    const [key, pool] = oldest;
    this.#pools.delete(key);
    this.#ending.add(pool);
    const forget = () => void this.#ending.delete(pool);
    // Its requests end first.
    pool.dispatcher.close().then(forget, forget);
  }

  /** A name that was permitted once can resolve to another address later: each connection is checked, and uses no other address. */
  #lookupFor(target: OutboundTarget): LookupFunction {
    const { lookup = systemLookup as LookupFunction } = this.#options;
    return (host, options, callback) => {
      lookup(host, { ...options, all: true }, (error, found) => {
        if (error !== null) return callback(error, '');
        const addresses = Array.isArray(found) ? found : [{ address: found, family: 4 }];
        this.#check(
          target,
          addresses.map(({ address }) => address),
        ).then(
          () => {
            const [first] = addresses;
            if (options.all === true) callback(null, addresses);
            else callback(null, first?.address ?? '', first?.family);
          },
          (rejected: NodeJS.ErrnoException) => callback(rejected, ''),
        );
      });
    };
  }

  /** One address that is not permitted rejects all: the name is not what it was allowed for. @throws OutboundNotAllowedError, KubeError */
  async #check(target: OutboundTarget, addresses: readonly string[]): Promise<void> {
    const { policy, services } = this.#options;
    const grants = addresses.map((address) => policy.checkAddress(target, address));
    const service = serviceOf(target);
    if (service === undefined || !grants.includes('service')) return;
    for (const served of await services.confirm(service, addresses, this.#closed.signal))
      this.#checkServed(target, served);
  }

  /**
   * A Pod in the network of its node has the address of the node, where the API server, the kubelet and others listen, too: the Service is
   * no permission for it, only a rule for its address and port. @throws OutboundNotAllowedError
   */
  #checkServed(target: OutboundTarget, { address, ports, podOnNode }: ServedAddress): void {
    const { policy } = this.#options;
    for (const port of ports.length > 0 ? ports : [target.port]) {
      const grant = policy.checkAddress({ ...target, port }, address);
      if (podOnNode !== undefined && grant !== 'rule')
        throw new OutboundNotAllowedError(
          `"${target.host}" leads to Pod "${podOnNode}" in the network of its node; an administrator can allow ${address}:${port} with --http-allow`,
        );
    }
  }
}

function openProxy(proxy: string, tls: TransportTls): OpenPool {
  const dispatcher = new ProxyAgent({ ...poolOptions, uri: proxy, requestTls: tlsOptions(tls) });
  return { dispatcher, sockets: undefined };
}

function tlsOptions(tls: TransportTls) {
  return {
    rejectUnauthorized: tls.insecureSkipVerify !== true,
    ...(tls.serverName !== undefined && { servername: tls.serverName }),
    ...(tls.ca !== undefined && { ca: tls.ca }),
    ...(tls.certificate !== undefined && { cert: tls.certificate }),
    ...(tls.key !== undefined && { key: tls.key }),
  };
}

/** One request and its answer, with errors that say whether the request may have arrived. */
class AnswerExchange {
  readonly handler: ResponseHandler;
  readonly #request: TransportRequest;
  #bytes = 0;
  #isLarge = false;

  constructor(request: TransportRequest, onEnd: (outcome: TransportAnswer | Error) => void) {
    const { maxBytes, beforeSend } = request;
    this.#request = request;
    this.handler = new ResponseHandler(maxBytes, {
      beforeSend,
      onHead: (_, headers) => this.#checkEncoding(headers),
      onBytes: (count) => this.#count(count),
      onEnd: (outcome) => onEnd(outcome instanceof Error ? outcome : answerOf(outcome)),
      rejected: (error) =>
        this.#error('aborted', error instanceof Error ? error.message : String(error), error),
      tooLarge: () =>
        this.#error('answer-too-large', `Expected an answer of at most ${maxBytes} bytes`),
      failed: (error) => this.#errorOf(error),
    });
  }

  /** Ends the request, and its connection. */
  cut(code: HttpTransportErrorCode, message: string, cause?: unknown): void {
    this.handler.cut(this.#error(code, message, cause));
  }

  #checkEncoding(headers: ResponseHeaders): void {
    const encoding = plainHeaders(headers)['content-encoding'] ?? 'identity';
    if (encoding !== 'identity')
      this.cut('answer-encoded', 'Expected an answer without a content encoding');
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > largeAnswerBytes && !this.#isLarge) this.#reserve();
  }

  /** Reads nothing more before memory is reserved. */
  #reserve(): void {
    this.#isLarge = true;
    const reserved = this.#request.onLargeAnswer?.();
    if (reserved === undefined) return;
    this.handler.pause();
    reserved.then(
      () => this.handler.resume(),
      (error: unknown) => this.cut('aborted', 'No memory for the answer', error),
    );
  }

  #errorOf(error: unknown): HttpTransportError {
    if (error instanceof OutboundNotAllowedError)
      return this.#error('address-not-allowed', error.message, error);
    if (error instanceof KubeError) return this.#error('unreachable', error.message, error);
    const code = codeOf(error);
    if (this.handler.wasSent)
      return this.#error('connection-lost', `The connection ended before the answer${code}`, error);
    if (isCertificateError(error))
      return this.#error('certificate-rejected', `The certificate is not accepted${code}`, error);
    const place = placeOf(this.#request.url);
    const isPlain = code.includes('ERR_SSL_WRONG_VERSION_NUMBER');
    const message = isPlain
      ? `${place} does not speak TLS${code}; use "http://"`
      : `No connection to ${place}${code}`;
    return this.#error('unreachable', message, error);
  }

  #error(code: HttpTransportErrorCode, message: string, cause?: unknown): HttpTransportError {
    return new HttpTransportError(code, message, { mayHaveArrived: this.handler.wasSent, cause });
  }
}

function answerOf({ status, headers, text }: ReceivedResponse): TransportAnswer {
  return { status, headers: plainHeaders(headers), body: text };
}

function aborted(cause: unknown, mayHaveArrived: boolean): HttpTransportError {
  return new HttpTransportError('aborted', 'The request was aborted', { mayHaveArrived, cause });
}

function plainHeaders(headers: ResponseHeaders): Readonly<Record<string, string>> {
  const entries = Object.entries(headers).flatMap(([name, value]) => {
    if (value === undefined) return [];
    return [[name.toLowerCase(), Array.isArray(value) ? value.join(', ') : value] as const];
  });
  return Object.fromEntries(entries);
}

/** Host and port of a URL, for messages. */
function placeOf(url: string): string {
  const { protocol, hostname, port } = new URL(url);
  return `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`;
}

/** Of a failed connection to several addresses, the code of the first. */
function codeOf(error: unknown): string {
  const first = error instanceof AggregateError ? (error.errors[0] as unknown) : error;
  const code = (first as NodeJS.ErrnoException | undefined)?.code;
  return typeof code === 'string' ? ` (${code})` : '';
}

function isCertificateError(error: unknown): boolean {
  const { code = '' } = (error ?? {}) as NodeJS.ErrnoException;
  return /^(?:CERT_|ERR_TLS_CERT|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO)/.test(code);
}
