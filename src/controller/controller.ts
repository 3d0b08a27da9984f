import type { Logger, MetricRegistry } from '../telemetry/roles.ts';
import type { Clock } from '../util/clock.ts';
import {
  assertNever,
  errorLogFields,
  HomeostatError,
  invariant,
  TerminalError,
} from '../util/homeostat-error.ts';
import { type ControllerMetrics, createControllerMetrics } from './controller-metrics.ts';
import type { Priority, ReconcileContext, ReconcileResult, Reconciler } from './reconciler.ts';
import { RunningPass } from './running-pass.ts';
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
} as const;

/** Work queue and workers of one definition. Only this class turns results and errors into retries, metrics and log lines. */
export class Controller {
  readonly name: string;
  readonly #options: ControllerOptions;
  readonly #queue: WorkQueue;
  readonly #metrics: ControllerMetrics;
  #concurrency: number;
  /** The worker loops; empty before {@link run}. */
  readonly #workers = new Set<Promise<void>>();
  /** Number of workers that are not stopping. */
  #activeWorkers = 0;
  #isRunning = false;
  /** Started passes by key, parked ones included. */
  readonly #passes = new Map<string, RunningPass>();
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
      ...(baseDelayMs === undefined ? {} : { baseDelayMs }),
      ...(maxDelayMs === undefined ? {} : { maxDelayMs }),
    });
  }

  /** Adds a key. Before {@link run} it waits in the queue. */
  enqueue(key: string, priority: Priority = 'normal'): void {
    this.#queue.add(key, priority);
  }

  /**
   * The server responds again: retries keys at once that failed because it was unreachable ({@link
   * HomeostatError.isUnreachable}).
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
    this.#adjustWorkers();
  }

  /** Resolves when all passes that run now have ended. */
  async passesEnded(): Promise<void> {
    await Promise.all([...this.#passes.values()].map((pass) => pass.ended));
  }

  /**
   * Runs until the signal aborts. Then it starts no more reconciles, waits for running ones (their signal aborts
   * after `graceMs`) and resolves.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, graceMs = 20_000 } = this.#options;
    let cancelGrace = () => {};
    const stop = () => {
      this.#queue.shutDown();
      // No worker picks up parked passes any more: let them continue.
      for (const pass of this.#passes.values()) pass.resume();
      cancelGrace = clock.after(graceMs, () => this.#passAbort.abort(signal.reason));
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    this.#isRunning = true;
    this.#adjustWorkers();
    while (this.#workers.size > 0) await Promise.all(this.#workers);
    this.#isRunning = false;
    await this.passesEnded();
    this.#passes.clear();
    signal.removeEventListener('abort', stop);
    cancelGrace();
  }

  /** Adjusts the number of workers. Surplus workers end after their current key. */
  #adjustWorkers(): void {
    if (!this.#isRunning) return;
    const missing = this.#concurrency - this.#activeWorkers;
    this.#activeWorkers = this.#concurrency;
    if (missing < 0) this.#queue.releaseWorkers(-missing);
    for (
      let started = this.#queue.cancelWorkerReleases(Math.max(0, missing));
      started < missing;
      started++
    ) {
      const worker = this.#work();
      this.#workers.add(worker);
      void worker.finally(() => this.#workers.delete(worker));
    }
  }

  async #work(): Promise<void> {
    for (;;) {
      const key = await this.#queue.next();
      if (key === undefined) return;
      this.#metrics.activeWorkers(1);
      await this.#workOn(key);
      this.#metrics.activeWorkers(-1);
    }
  }

  /** Starts a pass, or continues a parked one. */
  async #workOn(key: string): Promise<void> {
    const parked = this.#passes.get(key);
    const pass = parked ?? this.#begin(key);
    parked?.resume();
    if ((await pass.whenDetached()) === 'parked') return;
    this.#passes.delete(key);
    this.#queue.done(key);
  }

  #begin(key: string): RunningPass {
    const pass = new RunningPass({
      signal: this.#passAbort.signal,
      run: (context) => this.#reconcileOnce(key, context),
      onPark: () => this.#queue.park(key),
      isSuperseded: () => this.#queue.needsAnotherRun(key),
    });
    this.#passes.set(key, pass);
    return pass;
  }

  async #reconcileOnce(key: string, context: ReconcileContext): Promise<void> {
    const { reconciler, clock } = this.#options;
    const startedAtMs = clock.monotonicMs();
    try {
      this.#settle(key, await reconciler.reconcile(key, context));
    } catch (error) {
      this.#fail(key, error, context.signal);
    } finally {
      this.#metrics.took((clock.monotonicMs() - startedAtMs) / 1000);
    }
  }

  /** Maps a result to the queue. */
  #settle(key: string, result: ReconcileResult): void {
    this.#metrics.reconciled(results[result.kind]);
    switch (result.kind) {
      case 'done':
        this.#queue.markSucceeded(key);
        if (result.afterMs !== undefined) this.#queue.addAfter(key, result.afterMs);
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
        const { baseDelayMs, maxDelayMs } = result;
        const delays = { baseDelayMs, maxDelayMs };
        this.#queue.addRateLimited(key, { delays });
        return;
      }
      default:
        assertNever(result);
    }
  }

  #fail(key: string, error: unknown, signal: AbortSignal): void {
    if (signal.aborted) {
      // Paused, not stopped.
      if (signal !== this.#passAbort.signal) this.#queue.add(key);
      return;
    }
    const { logger } = this.#options;
    this.#metrics.reconciled('error');
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
