import type { Clock } from '#util/clock.ts';
import { sleepBy } from './clock-sleep.ts';

interface Timer {
  readonly atMs: number;
  readonly run: () => void;
}

/** Time that moves only when the test says so. */
export class FakeClock implements Clock {
  #nowMs: number;
  /** How far the clock on the wall is ahead. */
  #wallMs = 0;
  readonly #timers = new Set<Timer>();

  constructor(startMs = Date.parse('2026-01-01T00:00:00Z')) {
    this.#nowMs = startMs;
  }

  /** Timers that have not run. */
  get pending(): number {
    return this.#timers.size;
  }

  nowMs(): number {
    return this.#nowMs + this.#wallMs;
  }

  /** Somebody sets the clock on the wall; no timer hears of it. */
  setWall(ms: number): void {
    this.#wallMs = ms - this.#nowMs;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  after(ms: number, callback: () => void): () => void {
    const timer: Timer = { atMs: this.#nowMs + ms, run: callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return sleepBy((...args) => this.after(...args), ms, signal);
  }

  /** Moves time, running what falls due in order; promises settle after each timer. */
  async advance(ms: number): Promise<void> {
    await settle(); // what happened before time moves must see the time before
    const endMs = this.#nowMs + ms;
    for (;;) {
      const [next] = [...this.#timers]
        .filter(({ atMs }) => atMs <= endMs)
        .sort((a, b) => a.atMs - b.atMs);
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.run();
      await settle();
    }
    this.#nowMs = endMs;
    await settle();
  }
}

/** Lets everything that is ready to run do so: promise jobs and one turn of the event loop. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
