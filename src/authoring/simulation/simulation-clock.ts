import type { Clock } from '#util/clock.ts';

interface Timer {
  readonly dueMs: number;
  readonly run: () => void;
}

/** 2026-01-01T00:00:00Z: the same time in every simulation, so that outputs are the same. */
const defaultStartMs = Date.UTC(2026, 0, 1);

/** A clock that stands still until it is advanced. Timers run in the order in which they are due. */
export class SimulationClock implements Clock {
  #nowMs: number;
  #activity = 0;
  readonly #timers = new Set<Timer>();

  constructor(startMs: number = defaultStartMs) {
    this.#nowMs = startMs;
  }

  /** Grows whenever a timer is set or runs. */
  get activity(): number {
    return this.#activity;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  after(ms: number, callback: () => void): () => void {
    this.#activity += 1;
    const timer: Timer = { dueMs: this.#nowMs + Math.max(0, ms), run: callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const onAbort = () => {
        cancel();
        reject(signal.reason);
      };
      const cancel = this.after(ms, () => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      });
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Moves to the next timer that is due at `limitMs` (monotonic) at the latest and runs it; else moves to `limitMs` and returns false. */
  runNextTimer(limitMs: number): boolean {
    const next = this.#next();
    if (next === undefined || next.dueMs > limitMs) {
      this.#nowMs = Math.max(this.#nowMs, limitMs);
      return false;
    }
    this.#timers.delete(next);
    this.#activity += 1;
    this.#nowMs = Math.max(this.#nowMs, next.dueMs);
    next.run();
    return true;
  }

  /** Drops all timers. */
  stop(): void {
    this.#timers.clear();
  }

  /** Of timers that are due at the same time the one that was set first. */
  #next(): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers)
      if (next === undefined || timer.dueMs < next.dueMs) next = timer;
    return next;
  }
}
