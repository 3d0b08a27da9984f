import type { OperatorPlan } from '#compile';
import type { OperatorDefinition, ServedKind } from '#definition';
import type { Informer } from '#kube/roles.ts';
import { isKindMissing, membershipOf, untilInformer } from '#reconcile';
import { apiVersionOf } from '#util/gvk.ts';
import type { RuntimeCluster } from '../runner-options.ts';

/** Message of a definition that waits for its kind. */
export function missingKindMessage({ gvk }: ServedKind): string {
  return `The cluster does not serve kind "${gvk.kind}" of "${apiVersionOf(gvk)}"`;
}

/**
 * Resolves when the kind of `for` is served, with its informer, so that its next user need not list again. Uses a list, because discovery
 * caches deleted kinds.
 */
export async function whenServed(
  definition: OperatorDefinition,
  { cluster, onMissing }: { readonly cluster: RuntimeCluster; readonly onMissing: () => void },
  signal: AbortSignal,
): Promise<Informer> {
  const informer = cluster.acquire(membershipOf({ definition, needsFinalizer: false }).query);
  try {
    let isReported = false;
    await untilInformer(informer, signal, () => {
      const isMissing = isKindMissing(informer);
      if (isMissing && !isReported) onMissing();
      isReported ||= isMissing;
      // Forbidden counts as served: the operator reports the missing right.
      return informer.state.kind === 'waiting' || isMissing ? undefined : true;
    });
    return informer;
  } catch (error) {
    informer.release();
    throw error;
  }
}

/** Resolves with the reason when the kind is not served any more; rejects when the signal aborts. */
export async function whenKindLost(
  plan: OperatorPlan,
  cluster: RuntimeCluster,
  signal: AbortSignal,
): Promise<string> {
  const { kind } = plan.definition;
  const informer = cluster.acquire(membershipOf(plan).query);
  try {
    return await untilInformer(informer, signal, () =>
      isKindMissing(informer) ? missingKindMessage(kind) : undefined,
    );
  } finally {
    informer.release();
  }
}
