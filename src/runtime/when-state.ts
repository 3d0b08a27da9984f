import type { Informer, InformerState } from '../kube/roles.ts';

/** Resolves when an informer is, or comes, in a state that is looked for. Rejects when the signal aborts. */
export function whenState(
  informer: Informer,
  signal: AbortSignal,
  isMet: (state: InformerState) => boolean,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => {
      unsubscribe();
      signal.removeEventListener('abort', onAbort);
      act();
    };
    const onAbort = () => settle(() => reject(signal.reason));
    const look = (state: InformerState) => {
      if (isMet(state)) settle(resolve);
    };
    const unsubscribe = informer.onState(look);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    else look(informer.state);
  });
}

/** Does the server not serve its kind? */
export function isKindMissing(state: InformerState): boolean {
  return state.kind === 'failing' && state.error.code === 'kind-missing';
}
