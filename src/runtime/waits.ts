import { type Informer, KubeError } from '../kube/roles.ts';
import { type BackoffOptions, backoffMs } from '../util/backoff.ts';
import type { Clock } from '../util/clock.ts';
import { orAborted } from '../util/when-aborted.ts';
import type { RuntimeCluster } from './runner-options.ts';

/**
 * Returns the first defined result of `look`, called now and after each change of the informer or its state. Rejects when the signal
 * aborts.
 */
export async function waitForResult<T>(
  informer: Informer,
  signal: AbortSignal,
  look: () => T | undefined,
): Promise<T> {
  signal.throwIfAborted();
  const found = Promise.withResolvers<T>();
  const check = () => {
    const answer = look();
    if (answer !== undefined) found.resolve(answer);
  };
  const stops = [informer.onState(check), informer.subscribe(check)];
  try {
    // An empty informer calls no subscriber, so check once now.
    check();
    return await orAborted(found.promise, signal);
  } finally {
    for (const stop of stops) stop();
  }
}

/** Whether the API server does not serve the informer's kind. */
export function isKindMissing({ state }: Informer): boolean {
  return state.kind === 'failing' && state.error.code === 'kind-missing';
}

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
  const isOver = new AbortController();
  const right = error instanceof KubeError ? error.right : undefined;
  const unsubscribe = right && cluster.onGranted(right, () => isOver.abort());
  await clock.sleep(ms, AbortSignal.any([signal, isOver.signal])).catch(() => {});
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
