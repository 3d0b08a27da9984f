import type { Informer, Watcher } from '../../kube/roles.ts';

export interface OutdatedGateOptions {
  readonly watcher: Pick<Watcher, 'onOutdated'>;
  /** All that is watched at the moment. */
  readonly informers: () => Iterable<Informer>;
  /** Nothing may be done any more (true); it may again (false). */
  readonly hold: (isHeld: boolean) => void;
}

/**
 * Holds a definition while any of its informers is outdated: with one part of the world as it is and another as it was before etcd was
 * restored, a pass would delete what is wanted. Returns the function that ends the looking.
 */
export function holdWhileOutdated({ watcher, informers, hold }: OutdatedGateOptions): () => void {
  let isHeld = false;
  const look = () => {
    const isOutdated = [...informers()].some((informer) => informer.isOutdated);
    if (isOutdated === isHeld) return;
    isHeld = isOutdated;
    hold(isHeld);
  };
  look();
  return watcher.onOutdated(look);
}
