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
    after: runAfter,
  };
}

/** Timers have 31 bits (24 days) and fire at once for larger values. */
const maxTimerMs = 2_147_483_647;

function runAfter(ms: number, callback: () => void): () => void {
  let timer: ReturnType<typeof setTimeout>;
  const wait = (leftMs: number) => {
    timer =
      leftMs > maxTimerMs
        ? setTimeout(wait, maxTimerMs, leftMs - maxTimerMs)
        : setTimeout(callback, leftMs);
  };
  wait(ms);
  return () => clearTimeout(timer);
}

function sleepFor(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const onAbort = () => {
      cancel();
      reject(signal.reason);
    };
    const cancel = runAfter(ms, () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
