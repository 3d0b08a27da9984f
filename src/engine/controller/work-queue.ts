import type { MetricRegistry } from '#telemetry/roles.ts';
import { type BackoffOptions, backoffMs } from '#util/backoff.ts';
import type { Clock } from '#util/clock.ts';
import { createQueueMetrics, type QueueMetrics } from './controller-metrics.ts';
import { ReadyQueue } from './ready-queue.ts';
import type { Due, Priority } from './reconciler.ts';
import { RetryBudget } from './retry-budget.ts';

export interface WorkQueueOptions {
  /** Name of the controller, a metric label. */
  readonly name: string;
  readonly clock: Clock;
  readonly metrics: MetricRegistry;
  /** A key may be ready for {@link WorkQueue.take}. */
  readonly onReady: () => void;
  /** Delay after the first failure of a key, in ms. @default 5 */
  readonly baseDelayMs?: number;
  /** Upper bound of that delay, in ms. @default 1_000_000 */
  readonly maxDelayMs?: number;
  /** Interval between the retries of a burst that do not run at once, in ms. @default 20 */
  readonly retrySpacingMs?: number;
}

/** The first failures of a key are often transient: a conflict, a short outage. */
const transientFailures = 5;

/** How a failed key is retried. */
export interface RetryOptions {
  /** @default the delays of the queue */
  readonly delays?: BackoffOptions;
  /** The server was unreachable: retry when it responds, see {@link WorkQueue.retryNow}. @default false */
  readonly isUnreachable?: boolean;
}

/** A key that is being processed. */
interface Processing {
  readonly startedAtMs: number;
  readonly priority: Priority;
}

/** What makes a key ready: its delay, or the retry budget that holds it, the first of both. */
interface Waiting {
  readonly timer: { readonly readyAtMs: number; readonly cancel: () => void } | undefined;
  readonly isHeld: boolean;
}

/**
 * The work queue of a controller, with the guarantees of client-go: a key is never with two workers, and any number
 * of adds during a run causes exactly one more run.
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #onReady: () => void;
  #delays: BackoffOptions;
  readonly #metrics: QueueMetrics;
  readonly #ready = new ReadyQueue();
  /** Keys that need processing, with the requested priority. */
  readonly #dirty = new Map<string, Priority>();
  readonly #processing = new Map<string, Processing>();
  readonly #waiting = new Map<string, Waiting>();
  /** By key, cancels the timer of its due time. Apart from the waiting keys: the retry budget may hold a key for longer. */
  readonly #due = new Map<string, () => void>();
  readonly #failures = new Map<string, number>();
  /** Keys whose last failure was an unreachable server. */
  readonly #unreachable = new Set<string>();
  readonly #budget: RetryBudget;
  /** Keys that run with a token of the retry budget. */
  readonly #onBudget = new Set<string>();
  readonly #addedAtMs = new Map<string, number>();
  #isShutDown = false;
  #isPaused = false;

  constructor(options: WorkQueueOptions) {
    const { name, clock, metrics, onReady, retrySpacingMs = 20 } = options;
    const { baseDelayMs = 5, maxDelayMs = 1_000_000 } = options;
    this.#clock = clock;
    this.#onReady = onReady;
    this.#delays = { baseDelayMs, maxDelayMs };
    this.#metrics = createQueueMetrics(metrics, name);
    this.#budget = new RetryBudget({
      clock,
      // The rate and burst of controller-runtime.
      perSecond: 10,
      burst: 100,
      atOnce: 10,
      spacingMs: retrySpacingMs,
      onRelease: (key, isLate) => this.#retry(key, isLate),
    });
  }

  /** Number of ready keys without a worker, parked ones included. */
  get length(): number {
    return this.#ready.size;
  }

  /** Failures of a key since {@link forget}. */
  failuresOf(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  /** Makes a key ready now, even if it waits for a delay. */
  add(key: string, priority: Priority = 'normal'): void {
    if (this.#isShutDown) return;
    this.#stopWaiting(key);
    const asked = this.#dirty.get(key);
    if (asked === 'normal' || asked === priority) return;
    if (asked === undefined) this.#metrics.added();
    this.#dirty.set(key, priority);
    if (this.#processing.has(key)) return;
    if (!this.#addedAtMs.has(key)) this.#addedAtMs.set(key, this.#clock.monotonicMs());
    this.#ready.add(key, priority);
    this.#onReady();
  }

  /** Makes a key ready after a delay. The earliest of several delays wins. */
  addAfter(key: string, delayMs: number): void {
    this.#wait(key, delayMs, () => this.add(key));
  }

  /** Replaces the time at which a key is ready, even if it waits for a retry. {@link take} clears it. */
  setDue(key: string, { afterMs, priority = 'normal' }: Due): void {
    if (this.#isShutDown) return;
    this.#clearDue(key);
    const cancel = this.#clock.after(afterMs, () => {
      this.#due.delete(key);
      this.add(key, priority);
    });
    this.#due.set(key, cancel);
  }

  /** Like {@link addAfter} for a failing key: it also waits for a token of the retry budget. */
  retryAfter(key: string, delayMs: number): void {
    this.#retryAfter(key, delayMs, false);
  }

  /**
   * Counts a failure and retries the key after its exponential delay.
   * @returns the delay in ms
   */
  addRateLimited(
    key: string,
    { delays = this.#delays, isUnreachable = false }: RetryOptions = {},
  ): number {
    // The duration of an outage must not lengthen the delays of later failures.
    if (this.#unreachable.delete(key) && !isUnreachable) this.#failures.delete(key);
    if (isUnreachable) this.#unreachable.add(key);
    const failures = this.failuresOf(key);
    this.#failures.set(key, failures + 1);
    const delayMs = backoffMs(failures, delays);
    this.#metrics.retried();
    this.#retryAfter(key, delayMs, failures < transientFailures);
    return delayMs;
  }

  /**
   * The server responds again: makes the keys ready that failed because it was unreachable, and clears their
   * failures. Keys with other failures keep waiting.
   */
  retryNow(): void {
    for (const key of this.#unreachable) {
      // Also for keys in process: if the server is unreachable again, they start with the first delay.
      this.#failures.delete(key);
      if (this.#waiting.has(key)) this.add(key, 'low');
    }
    this.#unreachable.clear();
  }

  /** Clears a key's failures. */
  forget(key: string): void {
    this.#failures.delete(key);
    this.#unreachable.delete(key);
  }

  /** Reports success of a running key: clears its failures and, if it was a retry, returns its token. */
  markSucceeded(key: string): void {
    this.forget(key);
    if (this.#onBudget.delete(key)) this.#budget.returnToken();
  }

  /** The next key. Undefined: none is ready. Finish it with {@link done}, or with {@link park} to get it again. */
  take(): string | undefined {
    if (this.#isShutDown || this.#isPaused) return undefined;
    const key = this.#ready.take();
    if (key !== undefined && !this.#processing.has(key)) this.#begin(key);
    return key;
  }

  /** Sets the delays of future failures. */
  setDelays(delays: BackoffOptions): void {
    this.#delays = delays;
  }

  /** Hands out no keys until {@link resume}. Keys can still be added. */
  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#onReady();
  }

  /**
   * Queues a running key again, behind keys that have not started. {@link take} returns it again. False: the queue is
   * shut down.
   */
  park(key: string): boolean {
    if (this.#isShutDown) return false;
    this.#ready.park(key, this.#processing.get(key)?.priority ?? 'normal');
    this.#onReady();
    return true;
  }

  /** Was a running key added meanwhile? */
  wasAdded(key: string): boolean {
    return this.#dirty.has(key);
  }

  /** Returns whether a running key was added with normal priority meanwhile, so that it runs again right after {@link done}. */
  needsAnotherRun(key: string): boolean {
    return !this.#isShutDown && this.#dirty.get(key) === 'normal';
  }

  /** Finishes a key. If it was added meanwhile, it becomes ready once. */
  done(key: string): void {
    const work = this.#processing.get(key);
    if (work === undefined) return;
    this.#processing.delete(key);
    this.#onBudget.delete(key);
    this.#metrics.worked((this.#clock.monotonicMs() - work.startedAtMs) / 1000);
    const priority = this.#dirty.get(key);
    if (priority === undefined || this.#isShutDown) return;
    this.#addedAtMs.set(key, this.#clock.monotonicMs());
    this.#ready.add(key, priority);
    this.#onReady();
  }

  /** Stops the queue: no key is ready any more, and delays are dropped. Running workers may still call {@link done}. */
  shutDown(): void {
    this.#isShutDown = true;
    for (const key of this.#waiting.keys()) this.#stopWaiting(key);
    for (const cancel of this.#due.values()) cancel();
    this.#due.clear();
  }

  /** Updates the gauges before a scrape: depth, unfinished and longest-running work. */
  observe(): void {
    const nowMs = this.#clock.monotonicMs();
    const work = [...this.#processing.values()];
    const ages = work.map(({ startedAtMs }) => (nowMs - startedAtMs) / 1000);
    this.#metrics.running(ages);
    this.#metrics.depth(this.#ready);
    this.#metrics.held(this.#budget.held);
  }

  #wait(key: string, delayMs: number, onEnd: () => void): void {
    if (this.#isShutDown) return;
    const readyAtMs = this.#clock.monotonicMs() + delayMs;
    const { timer, isHeld = false } = this.#waiting.get(key) ?? {};
    if (timer !== undefined && timer.readyAtMs <= readyAtMs) return;
    timer?.cancel();
    const cancel = this.#clock.after(delayMs, onEnd);
    this.#waiting.set(key, { timer: { readyAtMs, cancel }, isHeld });
  }

  #retryAfter(key: string, delayMs: number, isFresh: boolean): void {
    this.#wait(key, delayMs, () => {
      this.#waiting.set(key, { timer: undefined, isHeld: true });
      this.#budget.request(key, isFresh);
    });
  }

  /** The budget released the key. Keys that had to wait get low priority. */
  #retry(key: string, isLate: boolean): void {
    this.#onBudget.add(key);
    this.add(key, isLate ? 'low' : 'normal');
  }

  #stopWaiting(key: string): void {
    const { timer, isHeld = false } = this.#waiting.get(key) ?? {};
    timer?.cancel();
    if (isHeld) this.#budget.remove(key);
    this.#waiting.delete(key);
  }

  #clearDue(key: string): void {
    this.#due.get(key)?.();
    this.#due.delete(key);
  }

  #begin(key: string): void {
    this.#clearDue(key);
    const priority = this.#dirty.get(key) ?? 'normal';
    this.#dirty.delete(key);
    const nowMs = this.#clock.monotonicMs();
    this.#processing.set(key, { startedAtMs: nowMs, priority });
    this.#metrics.queued((nowMs - (this.#addedAtMs.get(key) ?? nowMs)) / 1000);
    this.#addedAtMs.delete(key);
  }
}
