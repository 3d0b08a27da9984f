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

function holds(informer: Informer, finalizer: string): boolean {
  return Iterator.from(informer.list()).some(
    ({ object }) => object.metadata.finalizers?.includes(finalizer) === true,
  );
}
