import type { ServedKind } from '../../definition/index.ts';
import type { Informer, Watcher } from '../../kube/roles.ts';
import { finalizerOf } from '../names.ts';
import { wholeKindQuery } from './membership.ts';
import { settled } from './settled.ts';

export interface LeftFinalizersOptions {
  /** The definition's name. */
  readonly name: string;
  readonly kind: ServedKind;
  readonly watcher: Watcher;
}

/**
 * Does any object of the kind have our finalizer, from a time when the definition needed one? A watch that is narrowed by labels would
 * not show those that match no more. Lists the kind once. True where nobody can tell.
 */
export async function hasLeftFinalizers(
  { name, kind, watcher }: LeftFinalizersOptions,
  signal: AbortSignal,
): Promise<boolean> {
  const informer = watcher.acquire(wholeKindQuery(name, kind));
  try {
    await settled(informer, signal);
    return informer.state.kind !== 'synced' || holds(informer, finalizerOf(name));
  } finally {
    informer.release();
  }
}

/** Resolves when no object of the kind has our finalizer any more, as far as the watch on it tells. Rejects when the signal aborts. */
export function whenNoFinalizersLeft(
  { name, kind, watcher }: LeftFinalizersOptions,
  signal: AbortSignal,
): Promise<void> {
  const informer = watcher.acquire(wholeKindQuery(name, kind));
  const finalizer = finalizerOf(name);
  return new Promise<void>((resolve, reject) => {
    const stops: (() => void)[] = [];
    const end = (finish: () => void) => {
      signal.removeEventListener('abort', onAbort);
      for (const stop of stops) stop();
      finish();
    };
    const onAbort = () => end(() => reject(signal.reason));
    const look = () => {
      if (informer.state.kind === 'synced' && !holds(informer, finalizer)) end(resolve);
    };
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    stops.push(informer.subscribe(look), informer.onState(look));
    // An answer that came while subscribing came before there was anything to stop.
    look();
  }).finally(() => informer.release());
}

function holds(informer: Informer, finalizer: string): boolean {
  return Iterator.from(informer.list()).some(
    ({ object }) => object.metadata.finalizers?.includes(finalizer) === true,
  );
}
