import type { Informer } from '../../src/kube/roles.ts';
import { untilInformer } from '../../src/reconcile/index.ts';

/** Resolves when the informer has synced. */
export async function whenSynced(informer: Informer, signal: AbortSignal): Promise<void> {
  await untilInformer(informer, signal, () => informer.state.kind === 'synced' || undefined);
}
