import type { Logger, MetricRegistry } from '#telemetry/roles.ts';
import type { Clock } from '#util/clock.ts';
import { isJsonObject, jsonLength } from '#util/json.ts';
import type { JsonLimits } from '#util/json-scan.ts';
import { escapedJson } from '#util/yaml-string.ts';
import type { ClusterConfig } from '../config/cluster-config.ts';
import { abortedError, errorFromResponse } from '../errors.ts';
import { KubeError } from '../kube-error.ts';
import type { ServerUnreachable } from '../roles.ts';
import type { ApiClient, ApiRequest, ApiResponse, ApiStream } from './api-client.ts';
import { Connections, type Lane, type Link } from './connections.ts';
import { exchange, type HttpResponse } from './exchange.ts';
import { FairQueue } from './fair-queue.ts';
import { parseLimited, trustedJson } from './limited-json.ts';
import { OutageDetector } from './outage-detector.ts';
import { type ReadRate, ReadThrottle } from './read-throttle.ts';
import type { ServerReceipts } from './receive-budget.ts';
import { createRequestMetrics, type RequestMetrics } from './request-metrics.ts';
import { type OpenedStream, openStream } from './response-stream.ts';
import { ServerAvailability } from './server-availability.ts';
import { ServerGuard, type ServerGuardOptions } from './server-guard.ts';

export interface ApiClientOptions {
  readonly config: ClusterConfig;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  /** Maximum requests in flight. Watches and the Lease use separate connections. @default 32 */
  readonly connections?: number;
  /**
   * Leader fencing. Called synchronously for every write except those of the lane `lease`, when the connection is
   * established and before the first byte is sent. Throwing prevents the sending; the caller gets the error.
   */
  readonly beforeWrite?: (request: ApiRequest) => void;
  /** Shared by several clients of one server. @default not shared */
  readonly availability?: ServerAvailability;
  /** Called once when the server is unreachable. @default no outage detection */
  readonly onOutage?: () => void;
  /** Called when the server rejects the newest credentials. @default no action */
  readonly onUnauthorized?: () => void;
  /** @default 'homeostat' */
  readonly userAgent?: string;
  /** Larger responses are aborted with KubeError `too-large`. @default 134_217_728 */
  readonly maxResponseBytes?: number;
  /** What a JSON response may cost; larger ones are not parsed: KubeError `too-large`. @default those of a trusted server */
  readonly jsonLimits?: JsonLimits;
  /**
   * Returns how the server is recognized; undefined: it is not known yet. Checked on a connection of its own before a
   * new connection is used. Another server counts as an outage. @default any server that responds
   */
  readonly identity?: () => ServerIdentity | undefined;
  /** The server is not trusted: texts that are no `Status` do not appear in messages. @default false */
  readonly isForeign?: boolean;
  /** Which addresses may be connected to. @default all */
  readonly servers?: ServerGuardOptions;
  /** How much is read of responses and watches, with 2 KiB for each event; then requests and watches wait. @default not limited */
  readonly readRate?: ReadRate;
  /** Counts what is received of responses, and pauses them when several servers together send too much. @default not counted */
  readonly receipts?: ServerReceipts;
}

/** How a server is recognized. */
interface ServerIdentity {
  /** Path of an object. */
  readonly path: string;
  /** Whether this is the object of the expected server. */
  accepts(object: unknown): boolean;
}

/** Transport to one API server. */
export interface ClosableApiClient extends ApiClient {
  /** Undefined while the server responds and accepts our credentials. */
  readonly unreachable: ServerUnreachable | undefined;
  /** Starts an outage check after an idle or broken watch. */
  suspectOutage(): void;
  /** Notifies when the server accepts our credentials again. Returns the unsubscribe function. */
  onAuthenticated(listener: () => void): () => void;
  /** Discards unsent data of all writes, kernel buffers included; later requests fail. Does not affect the lane `lease`. */
  dropPendingWrites(): void;
  /** Aborts all requests; later requests fail. */
  close(): Promise<void>;
}

type StreamedRequest = Pick<ApiRequest, 'path' | 'query' | 'accept' | 'flow'>;

const defaultTimeoutMs = 30_000;
const probeTimeoutMs = 5_000;
const defaultResponseBytes = 134_217_728;
/** Of the object that shows the identity of a server, and of its version. */
const identityBytes = 65_536;

/** Timeout of the response head of a watch, and of an error body. */
const streamHeadTimeoutMs = 30_000;

/** Maximum attempts of a request with Retry-After. */
const maxTries = 10;

/** Longer pauses are left to the caller, who can do other work meanwhile. */
const maxRetryAfterSeconds = 60;

/**
 * Creates an HTTP/1.1 client with undici and keep-alive. Requests wait in our own queue, never inside undici, so that
 * fairness and `beforeWrite` apply to all of them. Never logs headers or bodies.
 */
export function createApiClient(options: ApiClientOptions): ClosableApiClient {
  return new PooledApiClient(options);
}

class PooledApiClient implements ClosableApiClient {
  readonly #options: ApiClientOptions;
  readonly #origin: string;
  /** Path prefix of the server URL. */
  readonly #prefix: string;
  readonly #connections: Connections;
  readonly #metrics: RequestMetrics;
  readonly #queue: FairQueue;
  readonly #availability: ServerAvailability;
  readonly #outages: OutageDetector | undefined;
  readonly #closing = new AbortController();
  readonly #throttle: ReadThrottle | undefined;
  /** The running check of the identity. */
  #verifying: Promise<void> | undefined;

  constructor(options: ApiClientOptions) {
    const { config, clock, logger, connections = 32 } = options;
    const { origin, host, pathname } = new URL(config.server);
    this.#options = options;
    this.#throttle = options.readRate && new ReadThrottle(options.readRate, clock);
    this.#origin = origin;
    this.#prefix = pathname.replace(/\/+$/, '');
    this.#metrics = createRequestMetrics(options.metrics, host);
    this.#availability =
      options.availability ?? new ServerAvailability({ clock, logger, metrics: options.metrics });
    const { onOutage, identity, servers } = options;
    this.#connections = new Connections({
      config,
      clock,
      logger,
      connections,
      ...(identity && { verify: () => this.#verify() }),
      ...(servers && { guard: new ServerGuard(config, servers) }),
    });
    if (onOutage !== undefined)
      this.#outages = new OutageDetector({ clock, onOutage, probe: () => this.#probe() });
    this.#queue = new FairQueue({
      slots: connections,
      clock,
      onGranted: (priority, waitedMs) => this.#metrics.waited(priority, waitedMs / 1_000),
      onDepth: (priority, depth) => this.#metrics.depth(priority, depth),
    });
  }

  get unreachable(): ServerUnreachable | undefined {
    return this.#availability.unreachable;
  }

  onAuthenticated(listener: () => void): () => void {
    return this.#availability.onAuthenticated(listener);
  }

  async request(request: ApiRequest, signal: AbortSignal): Promise<ApiResponse> {
    for (let tries = 1; ; tries++) {
      const answer = await this.#send(request, signal);
      if (isSuccess(answer.status)) return { status: answer.status, body: this.#parse(answer) };
      const error = this.#errorOf(answer);
      const pauseMs = tries < maxTries ? retryPauseMs(request, error) : undefined;
      if (pauseMs === undefined) throw error;
      this.#metrics.requestRetried(request.method, error.status);
      await this.#pause(pauseMs, signal);
    }
  }

  async stream(request: StreamedRequest, signal: AbortSignal): Promise<ApiStream> {
    const opened = await this.#openAuthorized(request, signal).catch((error: unknown) => {
      this.#noteFailure(error);
      throw error;
    });
    this.#noteResponse(opened.status);
    if (isSuccess(opened.status)) return this.#paced(opened.stream, signal);
    const { status, retryAfter } = opened;
    const text = await opened.errorBody();
    throw this.#errorOf({ status, text, ...(retryAfter === undefined ? {} : { retryAfter }) });
  }

  suspectOutage(): void {
    this.#outages?.suspect();
  }

  dropPendingWrites(): void {
    this.#connections.dropPendingWrites();
  }

  close(): Promise<void> {
    this.#outages?.stop();
    this.#throttle?.stop();
    this.#closing.abort(new Error('The client is closed'));
    return this.#connections.close();
  }

  async #send(request: ApiRequest, signal: AbortSignal): Promise<HttpResponse> {
    if (request.lane === 'lease') return this.#sendAuthorized(request, 'lease', signal);
    const { flow, body } = request;
    const bytes = body === undefined ? 0 : jsonLength(body);
    await this.#untilReadable(signal);
    const release = await this.#queue.acquire({ ...flow, bytes }, signal);
    this.#metrics.inFlight(this.#queue.inFlight);
    this.#outages?.requestStarted();
    request.onSend?.();
    try {
      const answer = await this.#sendAuthorized(request, 'request', signal);
      this.#throttle?.take(answer.text.length);
      this.#noteResponse(answer.status);
      return answer;
    } catch (error) {
      this.#noteFailure(error);
      throw error;
    } finally {
      release();
      this.#outages?.requestEnded();
      this.#metrics.inFlight(this.#queue.inFlight);
    }
  }

  async #sendAuthorized(
    request: ApiRequest,
    lane: Lane,
    signal: AbortSignal,
  ): Promise<HttpResponse> {
    const connections = this.#connections;
    const link = await (lane === 'lease'
      ? connections.currentAtOnce(signal)
      : connections.current(signal));
    const answer = await this.#exchange(request, { link, lane, signal });
    if (answer.status !== 401) return answer;
    const renewed = await this.#connections.renew(link, signal);
    return renewed === link ? answer : this.#exchange(request, { link: renewed, lane, signal });
  }

  async #openAuthorized(request: StreamedRequest, signal: AbortSignal): Promise<OpenedStream> {
    const link = await this.#connections.current(signal);
    const opened = await this.#open(request, link, signal);
    if (opened.status !== 401) return opened;
    const renewed = await this.#connections.renew(link, signal);
    if (renewed === link) return opened;
    await opened.errorBody();
    return this.#open(request, renewed, signal);
  }

  /** A server that rejects our credentials counts as unavailable. */
  #noteResponse(status: number): void {
    this.#outages?.responseReceived();
    if (status === 401) {
      this.#availability.recordFailure('unauthorized');
      this.#options.onUnauthorized?.();
    } else this.#availability.recordResponse();
  }

  #noteFailure(error: unknown): void {
    if (!(error instanceof KubeError) || !error.isUnreachable) return;
    const kind = error.code === 'unauthorized' ? 'unauthorized' : 'unreachable';
    this.#availability.recordFailure(kind);
    if (kind === 'unreachable') this.#outages?.suspect();
  }

  /** Whether the expected server responds on a new connection. */
  async #probe(): Promise<boolean> {
    try {
      const identity = this.#options.identity?.();
      const answer = await this.#ask(identity?.path ?? '/version');
      if (identity !== undefined) this.#checkIdentity(identity, answer);
      return true;
    } catch {
      return false;
    }
  }

  /** @throws KubeError if the expected server does not respond on a new connection */
  #verify(): Promise<void> {
    const identity = this.#options.identity?.();
    if (identity === undefined) return Promise.resolve();
    this.#verifying ??= this.#ask(identity.path)
      .then((answer) => this.#checkIdentity(identity, answer))
      .finally(() => {
        this.#verifying = undefined;
      });
    return this.#verifying;
  }

  /** Sends a GET on a new connection. */
  async #ask(path: string): Promise<HttpResponse> {
    const { clock } = this.#options;
    const { signal } = this.#closing;
    const link = await this.#connections.fresh(signal);
    const { dispatcher } = link;
    try {
      const request = {
        dispatcher,
        origin: this.#origin,
        method: 'GET',
        path: this.#pathOf({ path }),
        headers: this.#headersOf({}, link),
        isWrite: false,
        timeoutMs: probeTimeoutMs,
        maxResponseBytes: identityBytes,
      } as const;
      return await exchange(request, clock, signal);
    } finally {
      await dispatcher.destroy();
    }
  }

  /**
   * Another server is an outage although it responds, and so is one that does not show its identity.
   * @throws KubeError
   */
  #checkIdentity(identity: ServerIdentity, answer: HttpResponse): void {
    if (isSuccess(answer.status) && identity.accepts(this.#parse(answer))) return;
    this.#outages?.stop();
    this.#options.onOutage?.();
    throw new KubeError('unavailable', 'Another cluster responds', { status: 0 });
  }

  async #exchange(
    request: ApiRequest,
    { link, lane, signal }: { link: Link; lane: Lane; signal: AbortSignal },
  ): Promise<HttpResponse> {
    const { clock, beforeWrite, receipts } = this.#options;
    const { method, timeoutMs = defaultTimeoutMs } = request;
    const { maxResponseBytes = this.#options.maxResponseBytes ?? defaultResponseBytes } = request;
    const isWrite = method !== 'GET';
    const isFenced = isWrite && lane === 'request' && beforeWrite !== undefined;
    const startMs = clock.monotonicMs();
    let status = 0;
    try {
      const answer = await exchange(
        {
          dispatcher: link.dispatchers[lane],
          origin: this.#origin,
          method,
          path: this.#pathOf(request),
          headers: this.#headersOf(request, link),
          ...(request.body === undefined ? {} : { body: textOf(request) }),
          isWrite,
          timeoutMs,
          maxResponseBytes,
          ...(isFenced ? { beforeSend: () => beforeWrite(request) } : {}),
          ...(receipts && { receipts }),
        },
        clock,
        signal,
      );
      status = answer.status;
      return answer;
    } finally {
      this.#metrics.requestCompleted(method, status, (clock.monotonicMs() - startMs) / 1000);
    }
  }

  get #jsonLimits(): JsonLimits {
    return this.#options.jsonLimits ?? trustedJson;
  }

  #parse(answer: HttpResponse): unknown {
    return parseBody(answer, this.#jsonLimits);
  }

  #errorOf({ status, text, retryAfter }: HttpResponse): KubeError {
    const { isForeign = false } = this.#options;
    const body = parseIfJson(text, this.#jsonLimits);
    const isQuoted = !isForeign || (isJsonObject(body) && body.kind === 'Status');
    return errorFromResponse({
      status,
      body: isQuoted ? body : undefined,
      ...(retryAfter === undefined ? {} : { retryAfter }),
    });
  }

  async #open(request: StreamedRequest, link: Link, signal: AbortSignal): Promise<OpenedStream> {
    let opened: OpenedStream | undefined;
    try {
      const streamRequest = {
        dispatcher: link.dispatchers.watch,
        origin: this.#origin,
        path: this.#pathOf(request),
        headers: this.#headersOf(request, link),
        headTimeoutMs: streamHeadTimeoutMs,
        onText: () => {
          this.#outages?.responseReceived();
          this.#availability.recordResponse();
        },
      };
      opened = await openStream(streamRequest, this.#options.clock, signal);
      return opened;
    } finally {
      this.#metrics.watchOpened(opened?.status ?? 0);
    }
  }

  #pathOf({ path, query }: Pick<ApiRequest, 'path' | 'query'>): string {
    const whole = `${this.#prefix}${path}`;
    const parameters = Object.entries(query ?? {});
    if (parameters.length === 0) return whole;
    return `${whole}?${parameters.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')}`;
  }

  #headersOf(
    request: Pick<ApiRequest, 'accept'> &
      Partial<Pick<ApiRequest, 'body' | 'contentType' | 'headers'>>,
    link: Pick<Link, 'headers'>,
  ): Record<string, string> {
    const { accept = 'application/json', contentType = 'application/json' } = request;
    return {
      ...request.headers,
      ...link.headers,
      accept,
      'user-agent': this.#options.userAgent ?? 'homeostat',
      ...(request.body === undefined ? {} : { 'content-type': contentType }),
    };
  }

  /** Waits until more may be read: what a server sends takes time of this process, which others need, too. */
  async #untilReadable(signal: AbortSignal): Promise<void> {
    try {
      await this.#throttle?.untilReadable(signal);
    } catch (error) {
      throw signal.aborted ? abortedError(signal.reason) : error;
    }
  }

  #paced(stream: ApiStream, signal: AbortSignal): ApiStream {
    const throttle = this.#throttle;
    if (throttle === undefined) return stream;
    const untilReadable = () => this.#untilReadable(signal);
    async function* chunks() {
      for await (const chunk of stream.chunks) {
        throttle?.take(chunk.length + linesIn(chunk) * lineBytes);
        yield chunk;
        await untilReadable();
      }
    }
    return { ...stream, chunks: chunks() };
  }

  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    try {
      await this.#options.clock.sleep(ms, signal);
    } catch (error) {
      throw signal.aborted ? abortedError(signal.reason) : error;
    }
  }
}

/** @throws KubeError `too-large` */
function textOf({ body, maxBodyLength = Number.POSITIVE_INFINITY }: ApiRequest): string {
  // The server reads an apply as YAML, where some characters of JSON are line breaks or not allowed.
  const text = escapedJson(body);
  if (text.length <= maxBodyLength) return text;
  throw new KubeError('too-large', `Expected at most ${maxBodyLength} bytes`, { status: 413 });
}

/** What an event of a watch costs beside its text: it is decoded, stored and delivered. */
const lineBytes = 2_048;

function linesIn(text: string): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** Delay before a retry. Undefined: no retry. Leader election retries Lease requests itself. */
function retryPauseMs(request: ApiRequest, error: KubeError): number | undefined {
  const { status, retryAfterSeconds } = error;
  if (request.lane === 'lease' || (status !== 429 && status !== 503)) return undefined;
  if (retryAfterSeconds === undefined || retryAfterSeconds > maxRetryAfterSeconds) return undefined;
  return retryAfterSeconds * 1000;
}

function parseBody({ status, text }: HttpResponse, limits: JsonLimits): unknown {
  if (text === '') return undefined;
  try {
    return parseLimited(text, limits);
  } catch (error) {
    if (error instanceof KubeError) throw error;
    const message = `The response is not JSON (${text.length} characters)`;
    throw new KubeError('unexpected', message, { status, cause: error });
  }
}

/** Error responses of proxies and of unknown paths are plain text. */
function parseIfJson(text: string, limits: JsonLimits): unknown {
  try {
    return parseLimited(text, limits);
  } catch {
    return text;
  }
}
