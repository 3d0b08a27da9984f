import type { Informer, Watcher } from '../kube/roles.ts';

/**
 * Tells when what an informer holds may be of before (true), and when it has been listed anew (false). What cannot be listed anew is no
 * doubt: its state tells. Returns the function that ends the telling, and the doubt.
 */
export function followDoubt(
  informer: Pick<Informer, 'isOutdated' | 'state'>,
  watcher: Pick<Watcher, 'onOutdated'>,
  tell: (isInDoubt: boolean) => void,
): () => void {
  let isInDoubt = false;
  const become = (now: boolean) => {
    if (now === isInDoubt) return;
    isInDoubt = now;
    tell(now);
  };
  const look = () => become(informer.isOutdated && informer.state.kind === 'synced');
  const unsubscribe = watcher.onOutdated(look);
  look();
  return () => {
    unsubscribe();
    become(false);
  };
}
