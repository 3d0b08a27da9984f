import type { Logger, MetricRegistry } from '../telemetry/roles.ts';
import { assertNever } from '../util/assert-never.ts';
import type { Clock } from '../util/clock.ts';
import { failureFields } from '../util/failure-fields.ts';
import { HomeostatError, TerminalError } from '../util/homeostat-error.ts';
import { invariant } from '../util/invariant.ts';
import { type ControllerMetrics, createControllerMetrics } from './controller-metrics.ts';
import type { Outcome, Priority, Reconciler, Turn } from './reconciler.ts';
import { RunningPass } from './running-pass.ts';
import { WorkQueue } from './work-queue.ts';

export interface ControllerOptions {
  /** The definition's name: a metric label and a log field. */
  readonly name: string;
  readonly reconciler: Reconciler;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  /** Keys worked on at once. @default 10 */
  readonly concurrency?: number;
  /** Delay after the first failure of a key, in ms. @default 5 */
  readonly baseDelayMs?: number;
  /** Upper bound of that delay, in ms. @default 1_000_000 */
  readonly maxDelayMs?: number;
  /** How long running passes may go on after the signal, in ms. @default 20_000 */
  readonly graceMs?: number;
}

/** What of a controller can be changed while it runs. */
export type ControllerSettings = Required<
  Pick<ControllerOptions, 'concurrency' | 'baseDelayMs' | 'maxDelayMs'>
>;

/** As controller-runtime counts them; `requeue` is its rate-limited requeue without an error. */
const results = {
  done: 'success',
  requeue: 'requeue_after',
  failed: 'error',
  retry: 'requeue',
} as const;

/**
 * Queue and workers of one definition. Only this loop turns outcomes and errors into retries, metrics and log lines.
 */
export class Controller {
  readonly name: string;
  readonly #options: ControllerOptions;
  readonly #queue: WorkQueue;
  readonly #metrics: ControllerMetrics;
  #concurrency: number;
  /** The loops of its workers; none before it runs. */
  readonly #workers = new Set<Promise<void>>();
  /** How many of them have not been told to go. */
  #staying = 0;
  #isRunning = false;
  /** Passes that have begun, by key; parked ones too. */
  readonly #passes = new Map<string, RunningPass>();
  /** How many hold it. */
  #holds = 0;
  /** Ends the passes that run now. */
  #turns = new AbortController();

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

  /** Adds a key; before {@link run} it waits in the queue. */
  enqueue(key: string, priority: Priority = 'normal'): void {
    this.#queue.add(key, priority);
  }

  /** Runs at once what waits because nobody answered ({@link HomeostatError.isSilence}): somebody does again. */
  retryNow(): void {
    this.#queue.retryNow();
  }

  /**
   * Hands out no keys until {@link release}, and aborts the passes that run: what they know may not be so any more. Their keys run
   * again, and no key is lost. Whoever holds it releases it: held twice, it goes on after the second release.
   */
  hold(): void {
    this.#holds += 1;
    if (this.#holds > 1) return;
    this.#queue.hold();
    const turns = this.#turns;
    this.#turns = new AbortController();
    turns.abort(new Error('What the pass knows may not be so any more'));
  }

  /** Goes on after {@link hold}. */
  release(): void {
    invariant(this.#holds > 0, 'A controller is released by who holds it');
    this.#holds -= 1;
    if (this.#holds === 0) this.#queue.release();
  }

  get isHeld(): boolean {
    return this.#holds > 0;
  }

  /** Keys that are ready and with no worker. */
  get depth(): number {
    return this.#queue.length;
  }

  /** Brings the gauges up to date, for a scrape. */
  observe(): void {
    this.#queue.observe();
  }

  /** From now on; what has failed already waits as it did. */
  adjust({ concurrency, ...delays }: ControllerSettings): void {
    this.#concurrency = concurrency;
    this.#metrics.concurrency(concurrency);
    this.#queue.adjust(delays);
    this.#adjustWorkers();
  }

  /** Resolves when all passes that run now have ended. */
  async passesEnded(): Promise<void> {
    await Promise.all([...this.#passes.values()].map((pass) => pass.ended));
  }

  /**
   * Works until the signal aborts, then hands out no more keys, lets running passes end (their signal aborts after `graceMs`) and resolves.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, graceMs = 20_000 } = this.#options;
    let cancelGrace = () => {};
    const stop = () => {
      this.#queue.shutDown();
      // No worker takes up what has given way: it goes on by itself.
      for (const pass of this.#passes.values()) pass.resume();
      cancelGrace = clock.after(graceMs, () => this.#turns.abort(signal.reason));
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

  /** As many workers as wanted; those that are too many end when they have nothing in hand. */
  #adjustWorkers(): void {
    if (!this.#isRunning) return;
    const wanted = this.#concurrency - this.#staying;
    this.#staying = this.#concurrency;
    if (wanted < 0) this.#queue.dismiss(-wanted);
    for (let hired = this.#queue.recall(Math.max(0, wanted)); hired < wanted; hired++) {
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

  /** Begins a pass, or goes on with one that gave way. */
  async #workOn(key: string): Promise<void> {
    const parked = this.#passes.get(key);
    const pass = parked ?? this.#begin(key);
    parked?.resume();
    if ((await pass.left()) === 'parked') return;
    this.#passes.delete(key);
    this.#queue.done(key);
  }

  #begin(key: string): RunningPass {
    const pass = new RunningPass({
      signal: this.#turns.signal,
      run: (turn) => this.#reconcileOnce(key, turn),
      onPark: () => this.#queue.park(key),
      isOvertaken: () => this.#queue.isWanted(key),
    });
    this.#passes.set(key, pass);
    return pass;
  }

  async #reconcileOnce(key: string, turn: Turn): Promise<void> {
    const { reconciler, clock } = this.#options;
    const startedAtMs = clock.monotonicMs();
    try {
      this.#settle(key, await reconciler.reconcile(key, turn));
    } catch (error) {
      this.#fail(key, error, turn.signal);
    } finally {
      this.#metrics.took((clock.monotonicMs() - startedAtMs) / 1000);
    }
  }

  /** Turns an outcome into what the queue does. */
  #settle(key: string, outcome: Outcome): void {
    this.#metrics.reconciled(results[outcome.kind]);
    switch (outcome.kind) {
      case 'done':
        this.#queue.succeeded(key);
        return;
      case 'failed':
        this.#metrics.terminal();
        this.#queue.forget(key);
        this.#queue.retryAfter(key, outcome.afterMs);
        return;
      case 'requeue':
        this.#queue.forget(key);
        this.#queue.retryAfter(key, outcome.afterMs);
        return;
      case 'retry': {
        const { firstMs, mostMs } = outcome;
        const delays = { baseDelayMs: firstMs, maxDelayMs: mostMs };
        this.#queue.addRateLimited(key, { delays });
        return;
      }
      default:
        assertNever(outcome);
    }
  }

  #fail(key: string, error: unknown, signal: AbortSignal): void {
    if (signal.aborted) {
      // Held, not stopped.
      if (signal !== this.#turns.signal) this.#queue.add(key);
      return;
    }
    const { logger } = this.#options;
    this.#metrics.reconciled('error');
    if (error instanceof TerminalError) {
      this.#metrics.terminal();
      this.#queue.forget(key);
      logger.error({ ...failureFields(error), key }, 'Reconcile failed for good');
      return;
    }
    const isBug = !(error instanceof HomeostatError);
    if (isBug) this.#metrics.panicked();
    // What the world did the pass has told, in words that hold nothing of a Secret. A bug is told once for a row of failures.
    const level = isBug && this.#queue.failuresOf(key) === 0 ? 'error' : 'debug';
    const fields = isBug ? failureFields(error) : { code: error.code };
    const isSilence = !isBug && error.isSilence;
    const afterMs = this.#queue.addRateLimited(key, { isSilence });
    logger[level]({ ...fields, key, afterMs }, 'Reconcile failed, will retry');
  }
}
