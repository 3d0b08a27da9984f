import { KubeError } from '../../kube/roles.ts';
import type { Clock } from '../../util/clock.ts';
import type { RuntimeCluster } from '../runtime-cluster.ts';

export interface WaitOptions {
  readonly clock: Clock;
  readonly cluster: RuntimeCluster;
  readonly signal: AbortSignal;
}

/** Waits until it is time to try again, a right that was missing is there, or the signal aborts. */
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
