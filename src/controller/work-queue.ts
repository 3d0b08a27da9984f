import type { MetricRegistry } from '../telemetry/roles.ts';
import { type BackoffOptions, backoffMs } from '../util/backoff.ts';
import type { Clock } from '../util/clock.ts';
import { createQueueMetrics, type QueueMetrics } from './queue-metrics.ts';
import { ReadyQueue } from './ready-queue.ts';
import type { Priority } from './reconciler.ts';
import { RetryBudget } from './retry-budget.ts';

export interface WorkQueueOptions {
  /** The controller's name, a metric label. */
  readonly name: string;
  readonly clock: Clock;
  readonly metrics: MetricRegistry;
  /** Delay after the first failure of a key, in ms. @default 5 */
  readonly baseDelayMs?: number;
  /** Upper bound of that delay, in ms. @default 1_000_000 */
  readonly maxDelayMs?: number;
  /** Retries of all keys together, per second in the long run. @default 10 */
  readonly retriesPerSecond?: number;
  /** Retries of all keys together that may follow each other after a quiet time. @default 100 */
  readonly retryBurst?: number;
  /** So many of these go at once, @default 10 */
  readonly retriesAtOnce?: number;
  /** and the others so long after each other, in ms. @default 20 */
  readonly retrySpacingMs?: number;
}

/** The first failures of a key are of the kind that passes: a conflict, a moment without a server. */
const freshFailures = 5;

/** How a failure is waited out. */
export interface RetryOptions {
  /** Others than the queue's own. */
  readonly delays?: BackoffOptions;
  /** Nobody answered: it is over when somebody does, see {@link WorkQueue.retryNow}. @default false */
  readonly isSilence?: boolean;
}

/** Work on a key that has begun. */
interface Processing {
  readonly startedAtMs: number;
  readonly priority: Priority;
}

/**
 * The keyed queue of a controller, with the rules of client-go's work queue: one key is never with two workers, and any number of
 * adds while it is worked on makes exactly one more run.
 */
export class WorkQueue {
  readonly #clock: Clock;
  #delays: BackoffOptions;
  readonly #metrics: QueueMetrics;
  readonly #ready = new ReadyQueue();
  /** Needs work; the priority it asked for. */
  readonly #dirty = new Map<string, Priority>();
  readonly #processing = new Map<string, Processing>();
  readonly #waiting = new Map<
    string,
    { readonly readyAtMs: number; readonly cancel: () => void }
  >();
  readonly #failures = new Map<string, number>();
  /** Keys whose last failure was that nobody answered. */
  readonly #unanswered = new Set<string>();
  readonly #budget: RetryBudget;
  /** Keys that a token of the budget has made ready. */
  readonly #onBudget = new Set<string>();
  readonly #addedAtMs = new Map<string, number>();
  readonly #idleWorkers: ((key: string | undefined) => void)[] = [];
  /** So many of those who ask next get nothing. */
  #dismissed = 0;
  #isShutDown = false;
  #isHeld = false;

  constructor(options: WorkQueueOptions) {
    const { name, clock, metrics, baseDelayMs = 5, maxDelayMs = 1_000_000 } = options;
    // Rate and burst are what controller-runtime allows a controller.
    const { retriesPerSecond = 10, retryBurst = 100 } = options;
    const { retriesAtOnce = 10, retrySpacingMs = 20 } = options;
    this.#clock = clock;
    this.#delays = { baseDelayMs, maxDelayMs };
    this.#metrics = createQueueMetrics(metrics, name);
    this.#budget = new RetryBudget({
      clock,
      perSecond: retriesPerSecond,
      burst: retryBurst,
      atOnce: retriesAtOnce,
      spacingMs: retrySpacingMs,
      onRelease: (key, isLate) => this.#retry(key, isLate),
    });
  }

  /** Keys that are ready and with no worker, parked ones included. */
  get length(): number {
    return this.#ready.size;
  }

  /** Failures of a key since it was last forgotten. */
  failuresOf(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  /** Makes a key ready now, also one that was waiting for its delay. */
  add(key: string, priority: Priority = 'normal'): void {
    if (this.#isShutDown) return;
    this.#stopWaiting(key);
    const asked = this.#dirty.get(key);
    if (asked === 'normal' || asked === priority) return;
    if (asked === undefined) this.#metrics.adds.increment();
    this.#dirty.set(key, priority);
    if (this.#processing.has(key)) return;
    if (!this.#addedAtMs.has(key)) this.#addedAtMs.set(key, this.#clock.monotonicMs());
    this.#ready.add(key, priority);
    this.#handOut();
  }

  /** Makes a key ready after a delay; of several delays the earliest counts. */
  addAfter(key: string, delayMs: number, priority: Priority = 'normal'): void {
    this.#wait(key, delayMs, () => this.add(key, priority));
  }

  /** Like {@link addAfter} for a key in trouble: it also waits until the budget of all retries has room for it. */
  retryAfter(key: string, delayMs: number): void {
    this.#retryAfter(key, delayMs, false);
  }

  /** Counts a failure and makes the key ready after its growing delay, which is returned in ms. */
  addRateLimited(
    key: string,
    { delays = this.#delays, isSilence = false }: RetryOptions = {},
  ): number {
    // For how long nobody answered says nothing about how long somebody will refuse.
    if (this.#unanswered.delete(key) && !isSilence) this.#failures.delete(key);
    if (isSilence) this.#unanswered.add(key);
    const failures = this.failuresOf(key);
    this.#failures.set(key, failures + 1);
    const delayMs = backoffMs(failures, delays);
    this.#metrics.retries.increment();
    this.#retryAfter(key, delayMs, failures < freshFailures);
    return delayMs;
  }

  /**
   * Somebody answers again: every key that waits because nobody did becomes ready, its failures forgotten. Other failures are not
   * over by that, and the budget neither: their keys wait as they did.
   */
  retryNow(): void {
    for (const key of this.#unanswered) {
      // Also of one that is being worked on: if nobody answers once more, it waits as after a first failure.
      this.#failures.delete(key);
      if (this.#waiting.has(key)) this.add(key, 'low');
    }
    this.#unanswered.clear();
  }

  /** Clears a key's failures. */
  forget(key: string): void {
    this.#failures.delete(key);
    this.#unanswered.delete(key);
  }

  /** The running work on a key goes well: clears its failures and, if it was a retry, lets another one go. */
  succeeded(key: string): void {
    this.forget(key);
    if (this.#onBudget.delete(key)) this.#budget.giveBack();
  }

  /**
   * The next key, as soon as there is one; undefined when the queue is shut down. Give it back with {@link done}, or with
   * {@link park} to get it once more.
   */
  next(): Promise<string | undefined> {
    if (this.#isShutDown) return Promise.resolve(undefined);
    if (this.#dismissed > 0) {
      this.#dismissed--;
      return Promise.resolve(undefined);
    }
    return new Promise((resolve) => {
      this.#idleWorkers.push(resolve);
      this.#handOut();
    });
  }

  /** So many workers more are not needed: those who ask, or ask next, get nothing once. */
  dismiss(workers: number): void {
    this.#dismissed += workers;
    while (this.#dismissed > 0) {
      const idle = this.#idleWorkers.pop();
      if (idle === undefined) return;
      this.#dismissed--;
      idle(undefined);
    }
  }

  /** Takes so many dismissals back; as many as nobody has learnt of, which is returned. */
  recall(workers: number): number {
    const recalled = Math.min(workers, this.#dismissed);
    this.#dismissed -= recalled;
    return recalled;
  }

  /** Growing delays of failures from now on. */
  adjust(delays: BackoffOptions): void {
    this.#delays = delays;
  }

  /** Hands out nothing until {@link release}; keys are added as ever. */
  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
    this.#handOut();
  }

  /** Puts work that has begun back in line, behind what has not; {@link next} gives its key again. False: not any more. */
  park(key: string): boolean {
    if (this.#isShutDown) return false;
    this.#ready.park(key, this.#processing.get(key)?.priority ?? 'normal');
    this.#handOut();
    return true;
  }

  /** Has a key that is worked on been added meanwhile, so that it is ready as soon as it is {@link done}? Low priority does not count: it may take long. */
  isWanted(key: string): boolean {
    return !this.#isShutDown && this.#dirty.get(key) === 'normal';
  }

  /** Ends the work on a key. If it was added meanwhile it becomes ready once. */
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
    this.#handOut();
  }

  /** Hands out nothing more: idle workers get undefined, delays are dropped. Running work may still call {@link done}. */
  shutDown(): void {
    this.#isShutDown = true;
    for (const { cancel } of this.#waiting.values()) cancel();
    this.#waiting.clear();
    for (const resolve of this.#idleWorkers.splice(0)) resolve(undefined);
  }

  /** Writes the gauges, for a scrape: depth, unfinished and longest-running work. */
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
    const waiting = this.#waiting.get(key);
    if (waiting !== undefined && waiting.readyAtMs <= readyAtMs) return;
    waiting?.cancel();
    this.#waiting.set(key, { readyAtMs, cancel: this.#clock.after(delayMs, onEnd) });
  }

  #retryAfter(key: string, delayMs: number, isFresh: boolean): void {
    this.#wait(key, delayMs, () => {
      const cancel = () => this.#budget.leave(key);
      this.#waiting.set(key, { readyAtMs: this.#clock.monotonicMs(), cancel });
      this.#budget.ask(key, isFresh);
    });
  }

  /** A token is there. What had to wait for it gives way to what is new. */
  #retry(key: string, isLate: boolean): void {
    this.#onBudget.add(key);
    this.add(key, isLate ? 'low' : 'normal');
  }

  #stopWaiting(key: string): void {
    this.#waiting.get(key)?.cancel();
    this.#waiting.delete(key);
  }

  #handOut(): void {
    while (this.#idleWorkers.length > 0 && !this.#isHeld) {
      const key = this.#ready.take();
      if (key === undefined) return;
      if (!this.#processing.has(key)) this.#begin(key);
      this.#idleWorkers.shift()?.(key);
    }
  }

  #begin(key: string): void {
    const priority = this.#dirty.get(key) ?? 'normal';
    this.#dirty.delete(key);
    const nowMs = this.#clock.monotonicMs();
    this.#processing.set(key, { startedAtMs: nowMs, priority });
    this.#metrics.queued((nowMs - (this.#addedAtMs.get(key) ?? nowMs)) / 1000);
    this.#addedAtMs.delete(key);
  }
}
