import type { Informer } from '../../kube/roles.ts';
import type { Clock } from '../../util/clock.ts';

/** Resolves when an informer has synced or failed for the first time; rejects when the signal aborts. */
export function settled(informer: Informer, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    if (informer.state.kind === 'failing') return resolve();
    const stop = new AbortController();
    const finish = (end: () => void) => {
      unsubscribe();
      signal.removeEventListener('abort', onAbort);
      stop.abort();
      end();
    };
    const onAbort = () => finish(() => reject(signal.reason));
    const unsubscribe = informer.onState((state) => {
      if (state.kind === 'failing') finish(resolve);
    });
    signal.addEventListener('abort', onAbort, { once: true });
    // Synced implies that the subscribers received the first list.
    informer.whenSynced(stop.signal).then(
      () => finish(resolve),
      () => undefined,
    );
  });
}

export interface SettleLimit {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Like {@link settled} for several informers, with a time limit. */
export async function settledSoon(
  informers: readonly Informer[],
  { clock, timeoutMs, signal }: SettleLimit,
): Promise<void> {
  const open = informers.filter(({ state }) => state.kind === 'waiting');
  if (open.length === 0) return;
  const enough = new AbortController();
  const cancel = clock.after(timeoutMs, () => enough.abort());
  const either = AbortSignal.any([signal, enough.signal]);
  try {
    await Promise.all(open.map((informer) => settled(informer, either)));
  } catch (error) {
    if (!enough.signal.aborted || signal.aborted) throw error;
  } finally {
    cancel();
  }
}

/** Whether the objects of a kind are known. An informer that has not synced is never treated as empty; a kind that is not served has no objects. */
export function isKnown({ state }: Informer): boolean {
  return (
    state.kind === 'synced' || (state.kind === 'failing' && state.error.code === 'kind-missing')
  );
}

/** The list that is not known yet, for messages. */
export function listOf({ query }: Informer): string {
  return `the list of ${query.gvk.kind} objects`;
}
