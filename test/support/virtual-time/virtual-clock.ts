import type { Clock } from '../../../src/util/clock.ts';
import { sleepBy } from '../clock-sleep.ts';

interface Timer {
  readonly dueMs: number;
  readonly run: () => void;
}

/** A clock that runs like the real one, and can be moved ahead: timers that fall due on the way run in their order. */
export class VirtualClock implements Clock {
  /** How far it is ahead of the real clock, in ms. */
  #aheadMs = 0;
  #alarm: NodeJS.Timeout | undefined;
  #activity = 0;
  #hasStopped = false;
  readonly #timers = new Set<Timer>();

  /** Grows whenever a timer is set or runs. */
  get activity(): number {
    return this.#activity;
  }

  nowMs(): number {
    return Math.floor(Date.now() + this.#aheadMs);
  }

  monotonicMs(): number {
    return performance.now() + this.#aheadMs;
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
    this.#aheadMs += Math.max(0, next.dueMs - this.monotonicMs());
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
