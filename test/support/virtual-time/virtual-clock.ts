import type { Clock } from '#util/clock.ts';
import { sleepBy } from '../clock-sleep.ts';

interface Timer {
  readonly dueMs: number;
  readonly run: () => void;
}

/**
 * The most that passes between two looks at the clock, in ms. A process that gets no turn for longer stands still, and the clock with it:
 * else its deadlines would fall due before it has read the answers that are there.
 */
const mostStepMs = 200;

/** A clock that runs like the real one, and can be moved ahead: timers that fall due on the way run in their order. */
export class VirtualClock implements Clock {
  /** Is it, at present, the time of other processes, too, which do not stand still with this one? */
  readonly #isShared: () => boolean;
  /** From the monotonic time to that on the wall, in ms. */
  readonly #wallOffsetMs = Date.now() - performance.now();
  #nowMs = performance.now();
  /** The real time at the last look, in ms. */
  #lookedAtMs = this.#nowMs;
  #alarm: NodeJS.Timeout | undefined;
  #activity = 0;
  #hasStopped = false;
  readonly #timers = new Set<Timer>();

  constructor(isShared: () => boolean) {
    this.#isShared = isShared;
  }

  /** Grows whenever a timer is set or runs. */
  get activity(): number {
    return this.#activity;
  }

  nowMs(): number {
    return Math.floor(this.#wallOffsetMs + this.monotonicMs());
  }

  monotonicMs(): number {
    const realMs = performance.now();
    const passedMs = realMs - this.#lookedAtMs;
    this.#lookedAtMs = realMs;
    this.#nowMs += passedMs <= mostStepMs || this.#isShared() ? passedMs : mostStepMs;
    return this.#nowMs;
  }

  after(ms: number, callback: () => void): () => void {
    this.#activity++;
    const timer: Timer = { dueMs: this.monotonicMs() + Math.max(0, ms), run: callback };
    if (!this.#hasStopped) this.#timers.add(timer);
    this.#setAlarm();
    return () => {
      this.#timers.delete(timer);
      this.#setAlarm();
    };
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return sleepBy((...args) => this.after(...args), ms, signal);
  }

  /** Moves to the time of the next timer, and runs it; false when there is none. */
  skipToNextTimer(): boolean {
    const next = this.#next();
    if (next === undefined) return false;
    this.#nowMs += Math.max(0, next.dueMs - this.monotonicMs());
    this.#runDue();
    return true;
  }

  /** No timer runs any more, and none keeps the process alive. */
  stop(): void {
    this.#hasStopped = true;
    this.#timers.clear();
    this.#setAlarm();
  }

  #next(): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers)
      if (next === undefined || timer.dueMs < next.dueMs) next = timer;
    return next;
  }

  #setAlarm(): void {
    clearTimeout(this.#alarm);
    const next = this.#next();
    // A platform's timer takes 31 bits and fires at once for more.
    const waitMs = Math.min(Math.max(0, (next?.dueMs ?? 0) - this.monotonicMs()), 2_147_483_647);
    this.#alarm = next === undefined ? undefined : setTimeout(() => this.#runDue(), waitMs);
  }

  #runDue(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      if (next.dueMs > this.monotonicMs()) break;
      this.#timers.delete(next);
      this.#activity++;
      next.run();
    }
    this.#setAlarm();
  }
}
