import type { Logger, MetricRegistry } from '#telemetry/roles.ts';
import type { Clock } from '#util/clock.ts';
import {
  assertNever,
  errorLogFields,
  HomeostatError,
  invariant,
  TerminalError,
} from '#util/homeostat-error.ts';
import { type ControllerMetrics, createControllerMetrics } from './controller-metrics.ts';
import type { Outcome, Priority, ReconcileContext, Reconciler } from './reconciler.ts';
import { WorkQueue } from './work-queue.ts';

export interface ControllerOptions {
  /** Name of the definition: a metric label and a log field. */
  readonly name: string;
  readonly reconciler: Reconciler;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  /** Number of concurrent reconciles. @default 10 */
  readonly concurrency?: number;
  /** Delay after the first failure of a key, in ms. @default 5 */
  readonly baseDelayMs?: number;
  /** Upper bound of that delay, in ms. @default 1_000_000 */
  readonly maxDelayMs?: number;
  /** Time for running reconciles to finish after the signal, in ms. @default 20_000 */
  readonly graceMs?: number;
}

/** Settings that can be changed while the controller runs. */
type ControllerSettings = Required<
  Pick<ControllerOptions, 'concurrency' | 'baseDelayMs' | 'maxDelayMs'>
>;

/** Result labels of controller-runtime. `requeue` is its rate-limited requeue without an error. */
const results = {
  done: 'success',
  requeue: 'requeue_after',
  failed: 'error',
  retry: 'requeue',
  error: 'error',
} as const;

/** Work queue and workers of one definition. Only this class turns results and errors into retries, metrics and log lines. */
export class Controller {
  readonly name: string;
  readonly #options: ControllerOptions;
  readonly #queue: WorkQueue;
  readonly #metrics: ControllerMetrics;
  #concurrency: number;
  /** Number of workers with a pass. */
  #busyWorkers = 0;
  #isRunning = false;
  /** By key, the ends of started passes, parked ones included. */
  readonly #passes = new Map<string, Promise<void>>();
  /** By key, continues a pass that has yielded its worker. */
  readonly #parked = new Map<string, () => void>();
  /** Number of callers that paused it. */
  #pauses = 0;
  /** Aborts the running passes. */
  #passAbort = new AbortController();

  constructor(options: ControllerOptions) {
    const { name, clock, metrics, baseDelayMs, maxDelayMs, concurrency = 10 } = options;
    this.name = name;
    this.#options = options;
    this.#concurrency = concurrency;
    this.#metrics = createControllerMetrics(metrics, name);
    this.#metrics.concurrency(concurrency);
    this.#queue = new WorkQueue({
      name,
      clock,
      metrics,
      onReady: () => this.#startReady(),
      ...(baseDelayMs === undefined ? {} : { baseDelayMs }),
      ...(maxDelayMs === undefined ? {} : { maxDelayMs }),
    });
  }

  /** Adds a key. Before {@link run} it waits in the queue. */
  enqueue(key: string, priority: Priority = 'normal'): void {
    this.#queue.add(key, priority);
  }

  /** Adds a key after a delay, unless it is added earlier. */
  enqueueAfter(key: string, delayMs: number): void {
    if (delayMs === 0) this.#queue.add(key);
    else this.#queue.addAfter(key, delayMs);
  }

  /**
   * The server responds again: retries keys at once that failed because it was unreachable ({@link
   * HomeostatError.isUnreachable}, or `isUnreachable` of a result).
   */
  retryNow(): void {
    this.#queue.retryNow();
  }

  /**
   * Starts no reconciles until {@link resume}, and aborts the running ones: the state they read may be stale. Their
   * keys run again. Calls nest: each pause needs its own resume.
   */
  pause(): void {
    this.#pauses += 1;
    if (this.#pauses > 1) return;
    this.#queue.pause();
    const turns = this.#passAbort;
    this.#passAbort = new AbortController();
    turns.abort(new Error('The controller is paused: the cached state may be stale'));
  }

  /** Undoes one {@link pause}. */
  resume(): void {
    invariant(this.#pauses > 0, 'Controller.resume needs a preceding pause');
    this.#pauses -= 1;
    if (this.#pauses === 0) this.#queue.resume();
  }

  get isPaused(): boolean {
    return this.#pauses > 0;
  }

  /** Number of ready keys without a worker. */
  get depth(): number {
    return this.#queue.length;
  }

  /** Updates the gauges before a scrape. */
  observe(): void {
    this.#queue.observe();
  }

  /** Applies from now on. Keys that already wait keep their delays. */
  updateSettings({ concurrency, ...delays }: ControllerSettings): void {
    this.#concurrency = concurrency;
    this.#metrics.concurrency(concurrency);
    this.#queue.setDelays(delays);
    this.#startReady();
  }

  /** Resolves when all passes that run now have ended. */
  async passesEnded(): Promise<void> {
    await Promise.all(this.#passes.values());
  }

  /**
   * Runs until the signal aborts. Then it starts no more reconciles, waits for running ones (their signal aborts
   * after `graceMs`) and resolves.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, graceMs = 20_000 } = this.#options;
    const stopped = Promise.withResolvers<() => void>();
    const stop = () => {
      this.#queue.shutDown();
      for (const key of this.#parked.keys()) this.#resume(key);
      stopped.resolve(clock.after(graceMs, () => this.#passAbort.abort(signal.reason)));
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    this.#isRunning = true;
    this.#startReady();
    const cancelGrace = await stopped.promise;
    await this.passesEnded();
    this.#isRunning = false;
    cancelGrace();
  }

  /** Gives ready keys to idle workers. */
  #startReady(): void {
    while (this.#isRunning && this.#busyWorkers < this.#concurrency) {
      const key = this.#queue.take();
      if (key === undefined) return;
      if (this.#parked.has(key)) {
        this.#resume(key);
        continue;
      }
      this.#occupyWorkers(1);
      this.#passes.set(key, this.#run(key));
    }
  }

  #occupyWorkers(delta: 1 | -1): void {
    this.#busyWorkers += delta;
    this.#metrics.activeWorkers(delta);
  }

  async #run(key: string): Promise<void> {
    // Never within the event that enqueued the key.
    await undefined;
    const { signal } = this.#passAbort;
    await this.#reconcileOnce(key, { signal, yieldWorker: () => this.#park(key) });
    this.#passes.delete(key);
    this.#occupyWorkers(-1);
    this.#queue.done(key);
    this.#startReady();
  }

  /** Yields the worker of a pass. Resolves when it continues with another one. */
  #park(key: string): Promise<'current' | 'superseded'> {
    return new Promise((resolve) => {
      this.#parked.set(key, () =>
        resolve(this.#queue.needsAnotherRun(key) ? 'superseded' : 'current'),
      );
      this.#occupyWorkers(-1);
      if (!this.#queue.park(key)) this.#resume(key);
    });
  }

  #resume(key: string): void {
    const proceed = this.#parked.get(key);
    this.#parked.delete(key);
    this.#occupyWorkers(1);
    proceed?.();
  }

  async #reconcileOnce(key: string, context: ReconcileContext): Promise<void> {
    const { reconciler, clock } = this.#options;
    const startedAtMs = clock.monotonicMs();
    try {
      const result = await reconciler.reconcile(key, context);
      this.#settle(key, result, context.signal);
      const { due } = result;
      // A run that follows at once has a time of its own.
      if (due !== undefined && !this.#queue.wasAdded(key)) this.#queue.setDue(key, due);
    } catch (error) {
      this.#settle(key, { kind: 'error', error }, context.signal);
    } finally {
      this.#metrics.took((clock.monotonicMs() - startedAtMs) / 1000);
    }
  }

  /** Maps an outcome to the queue. */
  #settle(key: string, result: Outcome, signal: AbortSignal): void {
    if (result.kind === 'error' && signal.aborted) {
      // Paused, not stopped.
      if (signal !== this.#passAbort.signal) this.#queue.add(key);
      return;
    }
    this.#metrics.reconciled(results[result.kind]);
    switch (result.kind) {
      case 'done':
        this.#queue.markSucceeded(key);
        return;
      case 'failed':
        this.#metrics.terminal();
        this.#queue.forget(key);
        this.#queue.retryAfter(key, result.afterMs);
        return;
      case 'requeue':
        this.#queue.forget(key);
        this.#queue.retryAfter(key, result.afterMs);
        return;
      case 'retry': {
        const { baseDelayMs, maxDelayMs, isUnreachable = false } = result;
        const delays = { baseDelayMs, maxDelayMs };
        this.#queue.addRateLimited(key, { delays, isUnreachable });
        return;
      }
      case 'error':
        this.#fail(key, result.error);
        return;
      default:
        assertNever(result);
    }
  }

  #fail(key: string, error: unknown): void {
    const { logger } = this.#options;
    if (error instanceof TerminalError) {
      this.#metrics.terminal();
      this.#queue.forget(key);
      logger.error({ ...errorLogFields(error), key }, 'Reconcile failed, will not retry');
      return;
    }
    const isBug = !(error instanceof HomeostatError);
    if (isBug) this.#metrics.panicked();
    // The pass itself has reported API failures, without data of Secrets. A bug is logged once per series of
    // failures.
    const level = isBug && this.#queue.failuresOf(key) === 0 ? 'error' : 'debug';
    const fields = isBug ? errorLogFields(error) : { code: error.code };
    const isUnreachable = !isBug && error.isUnreachable;
    const afterMs = this.#queue.addRateLimited(key, { isUnreachable });
    logger[level]({ ...fields, key, afterMs }, 'Reconcile failed, will retry');
  }
}
