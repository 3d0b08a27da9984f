import type { Clock } from '#util/clock.ts';
import { StreamQueue } from '#util/stream-queue.ts';
import { BackendError } from '#web';
import { AskingBackend, type StreamRequest, type Values } from '#web/browser/index.ts';
import type { MessageEnd, PageMessage, WorkerMessage } from './messages.ts';

/** A worker that can be ended. */
export interface EndableWorker extends MessageEnd {
  terminate(): void;
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
  /** It cannot be loaded, or has failed. */
  addEventListener(type: 'error', listener: (event: { readonly message?: string }) => void): void;
}

export interface WorkerBackendOptions {
  readonly clock: Clock;
  readonly startWorker: () => EndableWorker;
  /** Called when {@link WorkerBackend.isBusy} has changed. */
  readonly onBusyChange: () => void;
  /** Called when the worker cannot be loaded. */
  readonly onFailure: (message: string) => void;
}

/** Without a message from the worker for this time, it counts as busy: it computes something without an end. */
const busyMs = 5_000;

type Waiting = Pick<StreamQueue<unknown>, 'push' | 'end' | 'fail'>;

/** Asks a worker. {@link restart} ends it, whatever it does. */
export class WorkerBackend extends AskingBackend {
  readonly #options: WorkerBackendOptions;
  #worker: EndableWorker;
  /** Questions and streams that the worker answers. */
  readonly #waiting = new Map<number, Waiting>();
  /** Questions among them. */
  readonly #asked = new Set<number>();
  #next = 1;
  #isBusy = false;
  #cancelWatch: (() => void) | undefined;

  constructor(options: WorkerBackendOptions) {
    super();
    this.#options = options;
    this.#worker = this.#start();
  }

  /** Whether the worker has not sent anything for a while although it is asked something. */
  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** Ends the worker and starts another one. All that waits fails. */
  restart(): void {
    this.#worker.terminate();
    const gone = new BackendError('unreachable', 'The sandbox was ended');
    for (const waiting of this.#waiting.values()) waiting.fail(gone);
    this.#waiting.clear();
    this.#asked.clear();
    this.#setBusy(false);
    this.#worker = this.#start();
  }

  /** Asks a question of its own, beside those of the pages. @throws BackendError */
  async ask<Answer>(question: string, body: unknown, signal: AbortSignal): Promise<Answer> {
    signal.throwIfAborted();
    const number = this.#next++;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#waiting.set(number, { push: resolve, end: () => resolve(undefined), fail: reject });
    this.#asked.add(number);
    this.#send({ kind: 'ask', number, question, body });
    this.#watch();
    const onAbort = () => {
      this.#send({ kind: 'stop', number });
      reject(signal.reason);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      return (await promise) as Answer;
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#waiting.delete(number);
      this.#asked.delete(number);
    }
  }

  protected override async *open(body: StreamRequest, signal: AbortSignal): Values<unknown> {
    if (signal.aborted) return;
    const number = this.#next++;
    const queue = new StreamQueue<unknown>();
    this.#waiting.set(number, queue);
    this.#send({ kind: 'open', number, body });
    const onAbort = () => queue.end();
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      yield* queue;
    } finally {
      signal.removeEventListener('abort', onAbort);
      if (this.#waiting.delete(number)) this.#send({ kind: 'stop', number });
    }
  }

  #start(): EndableWorker {
    const worker = this.#options.startWorker();
    worker.addEventListener('message', ({ data }) => {
      if (worker === this.#worker) this.#receive(data as WorkerMessage);
    });
    worker.addEventListener('error', ({ message }) => {
      if (worker === this.#worker)
        this.#options.onFailure(message ?? 'The file of the sandbox cannot be loaded');
    });
    return worker;
  }

  #send(message: PageMessage): void {
    this.#worker.postMessage(message);
  }

  #receive(message: WorkerMessage): void {
    this.#cancelWatch?.();
    this.#cancelWatch = undefined;
    this.#setBusy(false);
    const { number } = message;
    const waiting = this.#waiting.get(number);
    const isQuestion = this.#asked.delete(number);
    if (message.kind !== 'value' || isQuestion) this.#waiting.delete(number);
    if (message.kind === 'value') waiting?.push(message.value);
    else if (message.kind === 'end') waiting?.end();
    else waiting?.fail(new BackendError(message.code, message.message));
    if (this.#asked.size > 0) this.#watch();
  }

  /** Begins to count the time without a message. */
  #watch(): void {
    this.#cancelWatch ??= this.#options.clock.after(busyMs, () => {
      this.#cancelWatch = undefined;
      this.#setBusy(this.#asked.size > 0);
    });
  }

  #setBusy(isBusy: boolean): void {
    if (this.#isBusy === isBusy) return;
    this.#isBusy = isBusy;
    this.#options.onBusyChange();
  }
}
