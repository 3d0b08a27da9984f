import type { Informer } from '#kube/roles.ts';
import { anySignal } from '#util/any-signal.ts';
import type { Clock } from '#util/clock.ts';
import { orAborted } from '#util/when-aborted.ts';

/**
 * Returns the first defined result of `look`, called now and after each change of the informer or its state. Rejects when the signal
 * aborts.
 */
export async function untilInformer<T>(
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

/** Resolves when an informer has synced or failed for the first time; rejects when the signal aborts. */
export async function settled(informer: Informer, signal: AbortSignal): Promise<void> {
  await untilInformer(informer, signal, () => informer.state.kind !== 'waiting' || undefined);
}

interface SettleLimit {
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
  const either = anySignal([signal, enough.signal]);
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
  return state.kind === 'synced' || isKindMissing({ state });
}

/** Whether the API server does not serve the informer's kind. */
export function isKindMissing({ state }: Pick<Informer, 'state'>): boolean {
  return state.kind === 'failing' && state.error.code === 'kind-missing';
}

/** The list that is not known yet, for messages. */
export function listOf({ query }: Informer): string {
  return `the list of ${query.gvk.kind} objects`;
}
