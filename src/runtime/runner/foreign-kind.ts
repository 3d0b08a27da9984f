import type { OperatorPlan } from '../../compile/index.ts';
import type { OperatorDefinition, ServedKind } from '../../definition/index.ts';
import type { Informer } from '../../kube/roles.ts';
import { membershipOf } from '../../reconcile/index.ts';
import { apiVersionOf } from '../../util/gvk.ts';
import type { RuntimeCluster } from '../runtime-cluster.ts';
import { isKindMissing, whenState } from '../when-state.ts';

/** Why a definition waits for its kind. */
export function missingKindText({ gvk }: ServedKind): string {
  return `The cluster does not serve kind "${gvk.kind}" of "${apiVersionOf(gvk)}"`;
}

/**
 * Resolves when the server serves the kind of a definition that works on one that is there (`for`): with a use of its informer, so that
 * who works on it next need not list it again. Only a list tells: discovery remembers kinds that have gone.
 */
export async function whenServed(
  definition: OperatorDefinition,
  { cluster, onMissing }: { readonly cluster: RuntimeCluster; readonly onMissing: () => void },
  signal: AbortSignal,
): Promise<Informer> {
  const informer = cluster.acquire(membershipOf({ definition, isFinalizing: false }).query);
  try {
    let isTold = false;
    await whenState(informer, signal, (state) => {
      if (isKindMissing(state) && !isTold) onMissing();
      isTold ||= isKindMissing(state);
      // Served and forbidden is served: whoever works then says what is missing.
      return state.kind !== 'waiting' && !isKindMissing(state);
    });
    return informer;
  } catch (error) {
    informer.release();
    throw error;
  }
}

/** Resolves, with the reason, when the server does not serve the kind any more; rejects when the signal aborts. */
export async function whenKindLost(
  plan: OperatorPlan,
  cluster: RuntimeCluster,
  signal: AbortSignal,
): Promise<string> {
  const { kind } = plan.definition;
  const informer = cluster.acquire(membershipOf(plan).query);
  try {
    await whenState(informer, signal, isKindMissing);
    return missingKindText(kind);
  } finally {
    informer.release();
  }
}
