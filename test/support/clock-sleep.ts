import type { Clock } from '#util/clock.ts';

/** `Clock.sleep` by `Clock.after`. */
export function sleepBy(
  after: Clock['after'],
  ms: number,
  signal: AbortSignal,
): ReturnType<Clock['sleep']> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const onAbort = () => {
      cancel();
      reject(signal.reason);
    };
    const cancel = after(ms, () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
