/** The clock, passed in so that tests control time. */
export interface Clock {
  /** Wall-clock time in ms since the epoch. */
  nowMs(): number;
  /** Monotonic time in ms, for intervals and deadlines. */
  monotonicMs(): number;
  /** Resolves after `ms`; rejects with the signal's reason when aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Runs `callback` once after `ms`; returns a function that cancels it. */
  after(ms: number, callback: () => void): () => void;
}

/** The system clock. */
export function createSystemClock(): Clock {
  return {
    nowMs: () => Date.now(),
    monotonicMs: () => performance.now(),
    sleep: sleepFor,
    after(ms, callback) {
      const timer = setTimeout(callback, timerMs(ms));
      return () => clearTimeout(timer);
    },
  };
}

/** Timers have 31 bits and fire at once for larger values. Firing early after 24 days is harmless. */
function timerMs(ms: number): number {
  return Math.min(ms, 2_147_483_647);
}

function sleepFor(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    }, timerMs(ms));
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
