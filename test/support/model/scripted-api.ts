import type { ApiClient, ApiRequest, ApiResponse, ApiStream } from '#kube/client/api-client.ts';
import { KubeError, type KubeErrorCode } from '#kube/kube-error.ts';

type StreamRequest = Parameters<ApiClient['stream']>[0];

/** A request that waits for the test to answer it. */
export interface PendingRequest {
  readonly request: ApiRequest;
  readonly signal: AbortSignal;
  answer(body: unknown): void;
  fail(error: unknown): void;
}

/** A watch that waits for the test to open it. */
export interface PendingStream {
  readonly request: StreamRequest;
  open(): ScriptedStream;
  fail(error: unknown): void;
}

/** An API client whose answers the test gives, one by one. */
export class ScriptedApi implements ApiClient {
  readonly #requests = new Mailbox<PendingRequest>();
  readonly #streams = new Mailbox<PendingStream>();
  /** Streams that were opened and neither ended nor were closed. */
  readonly openStreams = new Set<ScriptedStream>();

  request(request: ApiRequest, signal: AbortSignal): Promise<ApiResponse> {
    return this.#pending(signal, (resolve, fail) => {
      const answer = (body: unknown) => resolve({ status: 200, body });
      this.#requests.put({ request, signal, answer, fail });
    });
  }

  stream(request: StreamRequest, signal: AbortSignal): Promise<ApiStream> {
    return this.#pending(signal, (resolve, fail) => {
      const open = () => {
        const stream = new ScriptedStream(() => this.openStreams.delete(stream));
        this.openStreams.add(stream);
        resolve(stream);
        return stream;
      };
      this.#streams.put({ request, open, fail });
    });
  }

  /** The next request, as soon as it is made. */
  nextRequest(): Promise<PendingRequest> {
    return this.#requests.take();
  }

  nextStream(): Promise<PendingStream> {
    return this.#streams.take();
  }

  /** Requests and streams that were asked for and not taken by the test. */
  get untaken(): number {
    return this.#requests.size + this.#streams.size;
  }

  #pending<T>(
    signal: AbortSignal,
    start: (resolve: (value: T) => void, fail: (error: unknown) => void) => void,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const onAbort = () => reject(kubeError('aborted', 0));
      if (signal.aborted) return onAbort();
      signal.addEventListener('abort', onAbort, { once: true });
      const settled = () => signal.removeEventListener('abort', onAbort);
      start(
        (value) => {
          settled();
          resolve(value);
        },
        (error) => {
          settled();
          reject(error);
        },
      );
    });
  }
}

/** A watch whose text the test writes. */
export class ScriptedStream implements ApiStream {
  readonly #chunks = new Mailbox<{ text: string } | { end: true } | { error: unknown }>();
  readonly #onOver: () => void;
  closed = false;

  constructor(onOver: () => void) {
    this.#onOver = onOver;
  }

  get chunks(): AsyncIterable<string> {
    return this.#read();
  }

  push(text: string): void {
    this.#chunks.put({ text });
  }

  /** Sends one event as a line. */
  event(type: string, object: unknown): void {
    this.push(`${JSON.stringify({ type, object })}\n`);
  }

  end(): void {
    this.#chunks.put({ end: true });
  }

  break(error: unknown): void {
    this.#chunks.put({ error });
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.#onOver();
    this.break(kubeError('aborted', 0));
  }

  async *#read(): AsyncGenerator<string> {
    for (;;) {
      const chunk = await this.#chunks.take();
      if ('error' in chunk) throw chunk.error;
      if ('end' in chunk) return;
      yield chunk.text;
    }
  }
}

/** An error as the API client throws it. */
export function kubeError(code: KubeErrorCode, status: number): KubeError {
  return new KubeError(code, `Scripted "${code}"`, { status });
}

/** Values that wait for takers, or takers that wait for values. */
class Mailbox<T> {
  readonly #values: T[] = [];
  readonly #takers: ((value: T) => void)[] = [];

  get size(): number {
    return this.#values.length;
  }

  put(value: T): void {
    const taker = this.#takers.shift();
    if (taker === undefined) this.#values.push(value);
    else taker(value);
  }

  take(): Promise<T> {
    const value = this.#values.shift();
    if (value !== undefined) return Promise.resolve(value);
    return new Promise((resolve) => this.#takers.push(resolve));
  }
}
