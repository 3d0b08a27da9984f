import type { Informer } from '#kube/roles.ts';
import { untilInformer } from '#reconcile';

/** Resolves when the informer has synced. */
export async function whenSynced(informer: Informer, signal: AbortSignal): Promise<void> {
  await untilInformer(informer, signal, () => informer.state.kind === 'synced' || undefined);
}
