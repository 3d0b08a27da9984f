import { KubeError } from '../kube/roles.ts';
import { type BackoffOptions, backoffMs } from '../util/backoff.ts';
import type { Clock } from '../util/clock.ts';
import { Waker } from '../util/pause.ts';
import type { RuntimeCluster } from './runner-options.ts';

interface WaitOptions {
  readonly clock: Clock;
  readonly cluster: RuntimeCluster;
  readonly signal: AbortSignal;
}

/** Waits until the delay has passed, the missing right is granted, or the signal aborts. */
export async function waitToRetry(
  ms: number,
  error: unknown,
  { clock, cluster, signal }: WaitOptions,
): Promise<void> {
  const waker = new Waker(clock);
  const right = error instanceof KubeError ? error.right : undefined;
  const unsubscribe = right && cluster.onGranted(right, () => waker.wake());
  await waker.pause(ms, signal);
  unsubscribe?.();
}

interface RetryOptions extends WaitOptions {
  /** Delays between attempts. */
  readonly delays: BackoffOptions;
  /** `failures`: number of previous failures. */
  readonly onFailure: (error: unknown, failures: number) => void;
}

/** Calls `act` until it succeeds or the signal aborts. Never rejects. */
export async function retryUntilDone(
  act: () => Promise<void>,
  { delays, onFailure, ...wait }: RetryOptions,
): Promise<void> {
  for (let failures = 0; !wait.signal.aborted; failures++) {
    try {
      return await act();
    } catch (error) {
      if (wait.signal.aborted) return;
      onFailure(error, failures);
      await waitToRetry(backoffMs(failures, delays), error, wait);
    }
  }
}
