import { lookup as systemLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { type Dispatcher, Pool } from 'undici';
import type { Clock } from '../../util/clock.ts';
import { ReceivedBody } from '../client/received-body.ts';
import {
  type HttpTransport,
  HttpTransportError,
  type HttpTransportErrorCode,
  largeAnswerBytes,
  type TransportAnswer,
  type TransportRequest,
} from './outbound-http.ts';
import {
  OutboundNotAllowedError,
  type OutboundPolicy,
  type OutboundTarget,
} from './outbound-policy.ts';

export interface UndiciTransportOptions {
  readonly policy: OutboundPolicy;
  readonly clock: Clock;
  /** Resolves names. @default that of the system */
  readonly lookup?: LookupFunction;
}

/** Pools of connections that are kept. */
const maxPools = 200;
const connectTimeoutMs = 4_000;
const idleTimeoutMs = 20_000;
/** Of all headers of an answer. */
const maxHeaderBytes = 16 * 1024;

/** Sends requests on connections whose addresses the policy permits. Follows no redirects, and decompresses nothing. */
export class UndiciTransport implements HttpTransport {
  readonly #options: UndiciTransportOptions;
  readonly #pools = new Map<string, Pool>();

  constructor(options: UndiciTransportOptions) {
    this.#options = options;
  }

  send(request: TransportRequest, signal: AbortSignal): Promise<TransportAnswer> {
    const { clock } = this.#options;
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(aborted(signal.reason, false));
      let collector: AnswerCollector | undefined;
      const onAbort = () => collector?.cut('aborted', 'The request was aborted', signal.reason);
      const cancel = clock.after(request.timeoutMs, () =>
        collector?.cut('timeout', `No whole answer within ${request.timeoutMs} ms`),
      );
      collector = new AnswerCollector(request, (outcome) => {
        signal.removeEventListener('abort', onAbort);
        cancel();
        if (outcome instanceof Error) reject(outcome);
        else resolve(outcome);
      });
      signal.addEventListener('abort', onAbort, { once: true });
      try {
        const url = new URL(request.url);
        const path = `${url.pathname}${url.search}`;
        const headers = { ...request.headers, 'accept-encoding': 'identity' };
        const body = request.body ?? null;
        const { method } = request;
        this.#poolFor(request, url).dispatch({ path, method, headers, body }, collector);
      } catch (error) {
        collector.fail(error);
      }
    });
  }

  /** Closes all connections. */
  async close(): Promise<void> {
    await Promise.all(Array.from(this.#pools.values(), (pool) => pool.destroy()));
    this.#pools.clear();
  }

  /** @throws OutboundNotAllowedError */
  #poolFor({ namespace, tls }: TransportRequest, { origin, hostname, port, protocol }: URL): Pool {
    const standardPort = protocol === 'https:' ? 443 : 80;
    const target = { host: hostname, port: port === '' ? standardPort : Number(port), namespace };
    this.#options.policy.checkTarget(target);
    const key = JSON.stringify([origin, namespace, tls]);
    const known = this.#pools.get(key);
    if (known !== undefined) {
      // The last used one is the last to be closed.
      this.#pools.delete(key);
      this.#pools.set(key, known);
      return known;
    }
    const pool = new Pool(origin, {
      ...{ connections: null, pipelining: 1, allowH2: false },
      ...{ keepAliveTimeout: idleTimeoutMs, keepAliveMaxTimeout: idleTimeoutMs },
      // The request has a timeout of its own.
      ...{ headersTimeout: 0, bodyTimeout: 0, maxHeaderSize: maxHeaderBytes },
      connect: {
        ...{ timeout: connectTimeoutMs, allowH2: false, lookup: this.#lookupFor(target) },
        rejectUnauthorized: tls.insecureSkipVerify !== true,
        ...(tls.serverName !== undefined && { servername: tls.serverName }),
        ...(tls.ca !== undefined && { ca: tls.ca }),
        ...(tls.certificate !== undefined && { cert: tls.certificate }),
        ...(tls.key !== undefined && { key: tls.key }),
      },
    });
    this.#pools.set(key, pool);
    this.#evict();
    return pool;
  }

  #evict(): void {
    const [oldest] = this.#pools;
    if (oldest === undefined || this.#pools.size <= maxPools) return;
    const [key, pool] = oldest;
    this.#pools.delete(key);
    // Its requests end first.
    pool.close(() => undefined);
  }

  /** A name that was permitted once can resolve to another address later: each connection is checked, and uses no other address. */
  #lookupFor(target: OutboundTarget): LookupFunction {
    const { policy, lookup = systemLookup as LookupFunction } = this.#options;
    return (host, options, callback) => {
      lookup(host, { ...options, all: true }, (error, found) => {
        if (error !== null) return callback(error, '');
        const addresses = Array.isArray(found) ? found : [{ address: found, family: 4 }];
        try {
          // One address that is not permitted rejects all: the name is not what it was allowed for.
          for (const { address } of addresses) policy.checkAddress(target, address);
        } catch (rejected) {
          return callback(rejected as NodeJS.ErrnoException, '');
        }
        const [first] = addresses;
        if (options.all === true) callback(null, addresses);
        else callback(null, first?.address ?? '', first?.family);
      });
    };
  }
}

/** Collects one answer, and knows whether anything was sent. */
class AnswerCollector implements Dispatcher.DispatchHandler {
  readonly #request: TransportRequest;
  readonly #onEnd: (outcome: TransportAnswer | Error) => void;
  readonly #body = new ReceivedBody();
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: Readonly<Record<string, string>> = {};
  #bytes = 0;
  #isLarge = false;
  #wasSent = false;
  #hasEnded = false;

  constructor(request: TransportRequest, onEnd: (outcome: TransportAnswer | Error) => void) {
    this.#request = request;
    this.#onEnd = onEnd;
  }

  /** Ends the request, and its connection. */
  cut(code: HttpTransportErrorCode, message: string, cause?: unknown): void {
    if (this.#hasEnded) return;
    const error = this.#error(code, message, cause);
    this.#end(error);
    this.#controller?.abort(error);
  }

  fail(error: unknown): void {
    if (this.#hasEnded) return;
    this.#end(this.#errorOf(error));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#hasEnded) {
      controller.abort(new Error('The request has ended already'));
      return;
    }
    try {
      this.#request.beforeSend?.();
    } catch (error) {
      this.cut('aborted', error instanceof Error ? error.message : String(error), error);
      return;
    }
    this.#wasSent = true;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    this.#status = status;
    this.#headers = plainHeaders(headers);
    const encoding = this.#headers['content-encoding'] ?? 'identity';
    if (encoding !== 'identity')
      this.cut('answer-encoded', 'Expected an answer without a content encoding');
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#hasEnded) return;
    this.#bytes += chunk.length;
    const { maxBytes } = this.#request;
    if (this.#bytes > maxBytes) {
      this.cut('answer-too-large', `Expected an answer of at most ${maxBytes} bytes`);
      return;
    }
    this.#body.add(chunk);
    if (this.#bytes > largeAnswerBytes && !this.#isLarge) this.#reserve(controller);
  }

  onResponseEnd(): void {
    if (this.#hasEnded) return;
    this.#end({ status: this.#status, headers: this.#headers, body: this.#body.text() });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(error);
  }

  /** Reads nothing more before memory is reserved. */
  #reserve(controller: Dispatcher.DispatchController): void {
    this.#isLarge = true;
    const reserved = this.#request.onLargeAnswer?.();
    if (reserved === undefined) return;
    controller.pause();
    reserved.then(
      () => controller.resume(),
      (error: unknown) => this.cut('aborted', 'No memory for the answer', error),
    );
  }

  #errorOf(error: unknown): HttpTransportError {
    if (error instanceof OutboundNotAllowedError)
      return this.#error('address-not-allowed', error.message, error);
    const code = codeOf(error);
    if (this.#wasSent)
      return this.#error('connection-lost', `The connection ended before the answer${code}`, error);
    if (isCertificateError(error))
      return this.#error('certificate-rejected', `The certificate is not accepted${code}`, error);
    return this.#error('unreachable', `No connection${code}`, error);
  }

  #error(code: HttpTransportErrorCode, message: string, cause: unknown): HttpTransportError {
    return new HttpTransportError(code, message, { mayHaveArrived: this.#wasSent, cause });
  }

  #end(outcome: TransportAnswer | Error): void {
    this.#hasEnded = true;
    this.#onEnd(outcome);
  }
}

function aborted(cause: unknown, mayHaveArrived: boolean): HttpTransportError {
  return new HttpTransportError('aborted', 'The request was aborted', { mayHaveArrived, cause });
}

function plainHeaders(
  headers: Record<string, string | string[] | undefined>,
): Readonly<Record<string, string>> {
  const entries = Object.entries(headers).flatMap(([name, value]) => {
    if (value === undefined) return [];
    return [[name.toLowerCase(), Array.isArray(value) ? value.join(', ') : value] as const];
  });
  return Object.fromEntries(entries);
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
