import type { OperatorPlan } from '#compile';
import type { LocatedDefinition } from '#definition';
import type { ReconcileTrace } from '#reconcile';
import type { Gvk } from '#util/gvk.ts';

/** A revision that is ready to run. */
export interface PreparedRevision {
  readonly located: LocatedDefinition;
  readonly plan: OperatorPlan;
  /** Kinds of children and reads that are not served, and the own kind while it has no schema. */
  readonly unknownKinds: readonly Gvk[];
  /** Kinds of previous children, which are to be deleted. */
  readonly previousKinds: readonly Gvk[];
  /** Records its reconciles. @default undefined: nothing is recorded */
  readonly trace?: ReconcileTrace | undefined;
}
