import type { Informer, Watcher } from '../../kube/roles.ts';

export interface OutdatedGateOptions {
  readonly watcher: Pick<Watcher, 'onOutdated'>;
  readonly resources: Informer;
  /** All that is watched at the moment. */
  readonly informers: () => Iterable<Informer>;
  /** Nothing may be done any more (true); it may again (false). */
  readonly hold: (isHeld: boolean) => void;
}

/**
 * Holds a definition while any of its informers is outdated: with one part of the world as it is and another as it was before etcd was
 * restored, a pass would delete what is wanted. What cannot be listed again is not known, which passes bear; but not of the resources
 * themselves. Returns the function that ends the looking, and the holding.
 */
export function holdWhileOutdated(options: OutdatedGateOptions): () => void {
  const { watcher, informers, resources, hold } = options;
  let isHeld = false;
  const misleads = (informer: Informer) =>
    informer.isOutdated && (informer === resources || informer.state.kind === 'synced');
  const look = () => {
    const isMisled = [...informers()].some(misleads);
    if (isMisled === isHeld) return;
    isHeld = isMisled;
    hold(isHeld);
  };
  look();
  const unsubscribe = watcher.onOutdated(look);
  return () => {
    unsubscribe();
    if (isHeld) hold(false);
    isHeld = false;
  };
}
