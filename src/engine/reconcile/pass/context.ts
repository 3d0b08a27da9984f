import { type OperatorPlan, WorkBudget } from '#compile';
import type { ReconcileContext } from '#controller';
import type { KindAt, RoutingCluster } from '#kube/roles.ts';
import type { Counter, Logger } from '#telemetry/roles.ts';
import type { ByteSemaphore } from '#util/byte-semaphore.ts';
import type { Clock } from '#util/clock.ts';
import type { GroupKind } from '#util/gvk.ts';
import type { Random } from '#util/random.ts';
import type { TimeSlicer } from '#util/time-slicer.ts';
import type { DecisionRecord } from '../decision.ts';
import { kindKey } from '../identity.ts';
import type { Obstacles } from '../ledger/obstacles.ts';
import type { ReconcileTrace } from '../trace.ts';
import type { Watches } from '../watch/watches.ts';
import type { Features } from './feature.ts';
import type { DefinitionClusters } from './other-clusters.ts';
import type { ResourceState } from './resource-state.ts';

/** The context that all passes of one definition share. */
export interface OperatorContext {
  readonly plan: OperatorPlan;
  readonly cluster: RoutingCluster;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** `homeostat_applies_total{definition,result}` */
  readonly applies: Counter;
  readonly watches: Watches;
  /** The clusters beside that of the resources. */
  readonly others: DefinitionClusters;
  /** Shares the thread with other work. */
  readonly timeSlicer: TimeSlicer;
  /** Bounds the memory of all reconciles of the process. @default undefined: no bound */
  readonly memory?: ByteSemaphore;
  /** What most definitions do not use. */
  readonly features: Features;
  readonly obstacles: Obstacles;
  /** By key. */
  readonly states: Map<string, ResourceState>;
  /** By key, the UIDs of owners that the server no longer has, while children of theirs still exist. */
  readonly deletedOwners: Map<string, ReadonlySet<string>>;
  /** By text, the kinds of which the definition has or had children. Undefined: unknown. */
  readonly childKinds: ReadonlyMap<string, GroupKind> | undefined;
  /** By kind: is it namespaced? A scope never changes, but discovery may be temporarily incomplete. */
  readonly scopes: Map<string, boolean>;
  /** The namespaces of the runtime and its definitions: resources in other namespaces may not read or write there. */
  readonly guardedNamespaces: ReadonlySet<string>;
  /** The definition is broken or deleted: only pending deletions are completed, nothing is created or changed. */
  readonly isFinalizeOnly: boolean;
  /** The definition is being removed with its created objects: nothing is created or changed. @default undefined */
  readonly uninstall?: Uninstall;
  /** Follows the reconciles, for a record of them. @default undefined: nothing is recorded */
  readonly trace?: ReconcileTrace | undefined;
  /** Called with the record of every finished pass (logs, tests, the web page). */
  readonly onDecisions?: ((key: string, record: DecisionRecord) => void) | undefined;
}

/** The removal of a definition together with created objects (docs/definition/deletion.md#deletion-of-a-definition). */
export interface Uninstall {
  /** Are the children of live resources deleted, as in a deletion of these? */
  readonly deletesChildren: boolean;
  /** When the removal was requested: wall clock, ms. */
  readonly sinceMs: number;
  /** All objects to delete of the resource are deleted. May be called more than once. */
  readonly onRemoved: (key: string) => void;
}

/** Is the kind namespaced? Undefined: discovery has not found it yet. */
export function isNamespaced(
  { cluster, scopes }: OperatorContext,
  gvk: KindAt,
): boolean | undefined {
  const key = kindKey(gvk);
  const found = cluster.resourceFor(gvk)?.namespaced;
  if (found !== undefined) scopes.set(key, found);
  return found ?? scopes.get(key);
}

/** The worker turn of a pass, with its budget for computation and memory. */
export interface PassTurn extends ReconcileContext {
  readonly budget: WorkBudget;
}

/** The budget of one reconcile of the definition. The caller releases it. */
export function createBudget({ plan, timeSlicer, memory }: OperatorContext): WorkBudget {
  const { limits } = plan.definition.controller;
  return new WorkBudget({
    limits,
    owner: plan.name,
    timeSlicer: timeSlicer,
    ...(memory && { memory }),
  });
}
