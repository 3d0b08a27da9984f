import {
  type HttpTransport,
  HttpTransportError,
  type TransportAnswer,
  type TransportRequest,
} from '#kube/roles.ts';
import type { Clock } from '#util/clock.ts';
import { parseJson } from '#util/exact-json.ts';
import type { Json, JsonObject } from '#util/json.ts';
import { answerOfCollection, Collection, type CollectionSpec } from './collection.ts';

/** An API in memory, for tests: collections, fixed answers, and faults. It uses no network. */
export interface SimulatedApiSpec {
  /** Origin and base path. */
  readonly url: string;
  readonly collections?: readonly CollectionSpec[];
  /** Take precedence over collections, in order. */
  readonly answers?: readonly FixedAnswer[];
}

/** The answer to requests with a method and a path. */
export interface FixedAnswer {
  readonly on: { readonly method?: string; readonly path: string };
  readonly answer: {
    readonly status: number;
    readonly body?: Json;
    readonly headers?: Readonly<Record<string, string>>;
  };
  /** How often it is used. @default always */
  readonly times?: number;
}

/** A fault of the API. `lostAnswer`: the request has its effect, and the answer is lost. */
export type Fault =
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: Json;
    }
  | { readonly kind: 'unreachable' }
  | { readonly kind: 'lostAnswer' }
  /** No answer in time; the request has its effect this time after it was sent, if at all. */
  | { readonly kind: 'timeout'; readonly effectAfterMs?: number };

export interface SimulatedApiOptions {
  readonly spec: SimulatedApiSpec;
  readonly clock: Clock;
  /** Called with each request. Undefined: no fault. @default none */
  readonly faultOf?: (request: TransportRequest) => Fault | undefined;
}

/** A request that was sent. */
export interface SimulatedRequest {
  readonly method: string;
  /** Below the base path. */
  readonly path: string;
  readonly status: number;
  /** As it was sent. Undefined: none. */
  readonly body?: Json;
}

/** The transport of an API in memory. */
export class SimulatedApi implements HttpTransport {
  readonly requests: SimulatedRequest[] = [];
  readonly collections: readonly Collection[];
  readonly #options: SimulatedApiOptions;
  readonly #base: string;
  readonly #used = new Map<FixedAnswer, number>();
  #downUntilMs = 0;

  constructor(options: SimulatedApiOptions) {
    this.#options = options;
    this.#base = options.spec.url.replace(/\/$/, '');
    this.collections = (options.spec.collections ?? []).map((spec) => new Collection(spec));
  }

  /** No connection is accepted for this time, in ms. */
  goDown(ms: number): void {
    this.#downUntilMs = this.#options.clock.nowMs() + ms;
  }

  collection(path: string): Collection {
    const found = this.collections.find((each) => each.spec.path === path);
    if (found === undefined) throw new Error(`No collection "${path}"`);
    return found;
  }

  async send(request: TransportRequest, signal: AbortSignal): Promise<TransportAnswer> {
    await Promise.resolve();
    signal.throwIfAborted();
    const path = this.#pathOf(request);
    request.beforeSend?.();
    const fault = this.#options.faultOf?.(request);
    if (fault?.kind === 'status') return this.#answered(request, path, printed(fault));
    if (fault?.kind === 'timeout') {
      const { effectAfterMs } = fault;
      if (effectAfterMs !== undefined)
        this.#options.clock.after(effectAfterMs, () => void this.#answer(request, path));
      await this.#options.clock.sleep(request.timeoutMs, signal);
      throw new HttpTransportError('timeout', 'No answer in time', { mayHaveArrived: true });
    }
    const isDown = this.#options.clock.nowMs() < this.#downUntilMs;
    if (isDown || fault?.kind === 'unreachable')
      throw new HttpTransportError('unreachable', 'The connection was rejected', {
        mayHaveArrived: false,
      });
    const answer = this.#answered(request, path, this.#answer(request, path));
    if (fault?.kind === 'lostAnswer')
      throw new HttpTransportError('connection-lost', 'The connection ended', {
        mayHaveArrived: true,
      });
    return answer;
  }

  #pathOf({ url }: TransportRequest): string {
    if (url !== this.#base && !url.startsWith(`${this.#base}/`))
      throw new HttpTransportError('unreachable', `No simulated API for "${new URL(url).origin}"`, {
        mayHaveArrived: false,
      });
    return url.slice(this.#base.length);
  }

  #answered(request: TransportRequest, path: string, answer: TransportAnswer): TransportAnswer {
    const { method, body } = request;
    const { status } = answer;
    this.requests.push({
      method,
      path,
      status,
      ...(body !== undefined && { body: bodyOf(request) }),
    });
    return answer;
  }

  #answer(request: TransportRequest, path: string): TransportAnswer {
    const [bare = '', query = ''] = path.split('?');
    const fixed = this.#fixedAnswer(request.method, bare);
    if (fixed !== undefined) return printed(fixed);
    const body = bodyOf(request);
    const { method } = request;
    for (const collection of this.collections) {
      const answer = answerOfCollection(collection, {
        method,
        path: bare,
        query,
        body,
        headers: request.headers,
      });
      if (answer !== undefined) return printed(answer);
    }
    return printed({ status: 404, body: { message: 'Not found' } });
  }

  #fixedAnswer(method: string, path: string): FixedAnswer['answer'] | undefined {
    for (const entry of this.#options.spec.answers ?? []) {
      const used = this.#used.get(entry) ?? 0;
      if (entry.times !== undefined && used >= entry.times) continue;
      if (entry.on.path !== path || (entry.on.method ?? method) !== method) continue;
      this.#used.set(entry, used + 1);
      return entry.answer;
    }
    return undefined;
  }
}

function bodyOf({ body, headers }: TransportRequest): JsonObject {
  if (body === undefined || body === '') return {};
  if (headers['content-type'] === 'application/x-www-form-urlencoded')
    return Object.fromEntries(new URLSearchParams(body));
  return parseJson(body) as JsonObject;
}

function printed({
  status,
  body,
  headers = {},
}: {
  readonly status: number;
  readonly body?: Json;
  readonly headers?: Readonly<Record<string, string>>;
}): TransportAnswer {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body),
  };
}
