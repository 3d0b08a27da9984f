import type { Logger, MetricRegistry } from '../../telemetry/roles.ts';
import type { Clock } from '../../util/clock.ts';
import { jsonLength } from '../../util/json.ts';
import type { ClusterConfig } from '../config/cluster-config.ts';
import { abortedError, errorOfAnswer } from '../errors.ts';
import { KubeError } from '../kube-error.ts';
import type { ServerSilence } from '../server-silence.ts';
import { type OpenedStream, openStream } from './answer-stream.ts';
import type { ApiClient, ApiRequest, ApiResponse, ApiStream } from './api-client.ts';
import { Connections, type Lane, type Link } from './connections.ts';
import { type Answer, exchange } from './exchange.ts';
import { FairQueue } from './fair-queue.ts';
import { OutageWatch } from './outage-watch.ts';
import { createRequestMetrics, type RequestMetrics } from './request-metrics.ts';
import { ServerContact } from './server-contact.ts';

export interface ApiClientOptions {
  readonly config: ClusterConfig;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  /** Requests in flight at most; watches and the lease have connections of their own. @default 32 */
  readonly connections?: number;
  /**
   * Called for every request that changes something (not those of the lane `lease`), synchronously, when its
   * connection is there and before the first byte is sent. What it throws is what the caller gets, and
   * nothing is sent: the leader's fence.
   */
  readonly beforeWrite?: (request: ApiRequest) => void;
  /** Of several clients of one server, one after the other or beside each other. @default one of its own */
  readonly contact?: ServerContact;
  /** The server is away: called once. @default nothing is looked for */
  readonly onOutage?: () => void;
  /** @default 'homeostat' */
  readonly userAgent?: string;
  /** An answer above is cut off with KubeError `unexpected`. @default 134_217_728 */
  readonly maxAnswerBytes?: number;
}

/** Transport to one API server. */
export interface ClosableApiClient extends ApiClient {
  /** Undefined while the server answers and lets us in. */
  readonly silence: ServerSilence | undefined;
  /** A watch was idle for longer than the server leaves it so, or broke: is the server still there? */
  suspectOutage(): void;
  /** Calls back when the server lets us in again. Returns the unsubscribe function. */
  onAdmitted(listener: () => void): () => void;
  /** Drops at once what is still to be sent of any write, here and in the kernel; later requests fail. Not of the lane `lease`. */
  cutWrites(): void;
  /** Cuts everything in flight; later requests fail. */
  close(): Promise<void>;
}

type StreamedRequest = Pick<ApiRequest, 'path' | 'query' | 'accept' | 'flow'>;

const defaultTimeoutMs = 30_000;
const probeTimeoutMs = 5_000;
const defaultAnswerBytes = 134_217_728;

/** Time for the head of a watch's answer, and for the body of a refusal. */
const streamHeadTimeoutMs = 30_000;

/** How often a request is sent at most while the server says when to come again. */
const maxTries = 10;

/** A server that wants a longer pause gets it from the caller, who can do something else meanwhile. */
const maxRetryAfterSeconds = 60;

/**
 * The client on undici over HTTP/1.1 with keep-alive. Waiting is done in a queue of our own, never inside
 * undici, so that fairness and `beforeWrite` act on everything. Never logs headers or bodies.
 */
export function createApiClient(options: ApiClientOptions): ClosableApiClient {
  return new PooledApiClient(options);
}

class PooledApiClient implements ClosableApiClient {
  readonly #options: ApiClientOptions;
  readonly #origin: string;
  /** The path of the server's address: everything is below it. */
  readonly #prefix: string;
  readonly #connections: Connections;
  readonly #metrics: RequestMetrics;
  readonly #queue: FairQueue;
  readonly #contact: ServerContact;
  readonly #outages: OutageWatch | undefined;
  readonly #closing = new AbortController();

  constructor(options: ApiClientOptions) {
    const { config, clock, logger, connections = 32 } = options;
    const { origin, host, pathname } = new URL(config.server);
    this.#options = options;
    this.#origin = origin;
    this.#prefix = pathname.replace(/\/+$/, '');
    this.#metrics = createRequestMetrics(options.metrics, host);
    this.#contact =
      options.contact ?? new ServerContact({ clock, logger, metrics: options.metrics });
    this.#connections = new Connections({ config, clock, logger, connections });
    const { onOutage } = options;
    if (onOutage !== undefined)
      this.#outages = new OutageWatch({ clock, onOutage, probe: () => this.#probe() });
    this.#queue = new FairQueue({
      slots: connections,
      clock,
      onGranted: (priority, waitedMs) => this.#metrics.waited(priority, waitedMs / 1_000),
      onDepth: (priority, depth) => this.#metrics.depth(priority, depth),
    });
  }

  get silence(): ServerSilence | undefined {
    return this.#contact.silence;
  }

  onAdmitted(listener: () => void): () => void {
    return this.#contact.onAdmitted(listener);
  }

  async request(request: ApiRequest, signal: AbortSignal): Promise<ApiResponse> {
    for (let tries = 1; ; tries++) {
      const answer = await this.#send(request, signal);
      if (isWell(answer.status)) return { status: answer.status, body: parseBody(answer) };
      const error = errorOf(answer);
      const pauseMs = tries < maxTries ? retryPauseMs(request, error) : undefined;
      if (pauseMs === undefined) throw error;
      this.#metrics.retried(request.method, error.status);
      await this.#pause(pauseMs, signal);
    }
  }

  async stream(request: StreamedRequest, signal: AbortSignal): Promise<ApiStream> {
    const opened = await this.#openAuthorized(request, signal).catch((error: unknown) => {
      this.#noteFailure(error);
      throw error;
    });
    this.#noteAnswer(opened.status);
    if (isWell(opened.status)) return opened.stream;
    const { status, retryAfter } = opened;
    const text = await opened.refusal();
    throw errorOf({ status, text, ...(retryAfter === undefined ? {} : { retryAfter }) });
  }

  suspectOutage(): void {
    this.#outages?.suspect();
  }

  cutWrites(): void {
    this.#connections.cutWrites();
  }

  close(): Promise<void> {
    this.#outages?.stop();
    this.#closing.abort(new Error('The client is closed'));
    return this.#connections.close();
  }

  async #send(request: ApiRequest, signal: AbortSignal): Promise<Answer> {
    if (request.lane === 'lease') return this.#sendAuthorized(request, 'lease', signal);
    const { flow, body } = request;
    const bytes = body === undefined ? 0 : jsonLength(body);
    const release = await this.#queue.acquire({ ...flow, bytes }, signal);
    this.#metrics.inFlight(this.#queue.inFlight);
    this.#outages?.began();
    try {
      const answer = await this.#sendAuthorized(request, 'request', signal);
      this.#noteAnswer(answer.status);
      return answer;
    } catch (error) {
      this.#noteFailure(error);
      throw error;
    } finally {
      release();
      this.#outages?.ended();
      this.#metrics.inFlight(this.#queue.inFlight);
    }
  }

  async #sendAuthorized(request: ApiRequest, lane: Lane, signal: AbortSignal): Promise<Answer> {
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
    await opened.refusal();
    return this.#open(request, renewed, signal);
  }

  /** A server that lets nobody in is as good as none. */
  #noteAnswer(status: number): void {
    this.#outages?.heard();
    if (status === 401) this.#contact.missed('unauthorized');
    else this.#contact.heard();
  }

  #noteFailure(error: unknown): void {
    if (!(error instanceof KubeError) || !error.isSilence) return;
    const kind = error.code === 'unauthorized' ? 'unauthorized' : 'unanswered';
    this.#contact.missed(kind);
    if (kind === 'unanswered') this.#outages?.suspect();
  }

  /** Does it answer on a new connection? */
  async #probe(): Promise<boolean> {
    const { clock, maxAnswerBytes = defaultAnswerBytes } = this.#options;
    const { signal } = this.#closing;
    try {
      const link = await this.#connections.fresh(signal);
      const { dispatcher } = link;
      try {
        const request = {
          dispatcher,
          origin: this.#origin,
          method: 'GET',
          path: this.#pathOf({ path: '/version' }),
          headers: this.#headersOf({}, link),
          isWrite: false,
          timeoutMs: probeTimeoutMs,
          maxAnswerBytes,
        } as const;
        await exchange(request, clock, signal);
        return true;
      } finally {
        await dispatcher.destroy();
      }
    } catch {
      return false;
    }
  }

  async #exchange(
    request: ApiRequest,
    { link, lane, signal }: { link: Link; lane: Lane; signal: AbortSignal },
  ): Promise<Answer> {
    const { clock, beforeWrite, maxAnswerBytes = defaultAnswerBytes } = this.#options;
    const { method, timeoutMs = defaultTimeoutMs } = request;
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
          maxAnswerBytes,
          ...(isFenced ? { beforeSend: () => beforeWrite(request) } : {}),
        },
        clock,
        signal,
      );
      status = answer.status;
      return answer;
    } finally {
      this.#metrics.answered(method, status, (clock.monotonicMs() - startMs) / 1000);
    }
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
          this.#outages?.heard();
          this.#contact.heard();
        },
      };
      opened = await openStream(streamRequest, this.#options.clock, signal);
      return opened;
    } finally {
      this.#metrics.opened(opened?.status ?? 0);
    }
  }

  #pathOf({ path, query }: Pick<ApiRequest, 'path' | 'query'>): string {
    const whole = `${this.#prefix}${path}`;
    const parameters = Object.entries(query ?? {});
    if (parameters.length === 0) return whole;
    return `${whole}?${parameters.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')}`;
  }

  #headersOf(
    request: Pick<ApiRequest, 'accept'> & Partial<Pick<ApiRequest, 'body' | 'contentType'>>,
    link: Pick<Link, 'headers'>,
  ): Record<string, string> {
    const { accept = 'application/json', contentType = 'application/json' } = request;
    return {
      ...link.headers,
      accept,
      'user-agent': this.#options.userAgent ?? 'homeostat',
      ...(request.body === undefined ? {} : { 'content-type': contentType }),
    };
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
  const text = JSON.stringify(body);
  if (text.length <= maxBodyLength) return text;
  throw new KubeError('too-large', `Expected at most ${maxBodyLength} bytes`, { status: 413 });
}

function isWell(status: number): boolean {
  return status >= 200 && status < 300;
}

/** When to send it again; undefined: not at all. Who holds a lease has a rhythm of its own. */
function retryPauseMs(request: ApiRequest, error: KubeError): number | undefined {
  const { status, retryAfterSeconds } = error;
  if (request.lane === 'lease' || (status !== 429 && status !== 503)) return undefined;
  if (retryAfterSeconds === undefined || retryAfterSeconds > maxRetryAfterSeconds) return undefined;
  return retryAfterSeconds * 1000;
}

function parseBody({ status, text }: Answer): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    const message = `Expected JSON in the answer, found ${text.length} characters of something else`;
    throw new KubeError('unexpected', message, { status, cause: error });
  }
}

function errorOf({ status, text, retryAfter }: Answer): KubeError {
  return errorOfAnswer({
    status,
    body: parseIfJson(text),
    ...(retryAfter === undefined ? {} : { retryAfter }),
  });
}

/** Refusals of proxies and of paths that nobody serves are plain text. */
function parseIfJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
