import { type OperatorPlan, WorkBudget } from '../../compile/index.ts';
import type { Turn } from '../../controller/index.ts';
import type { Cluster } from '../../kube/roles.ts';
import type { Counter, Logger } from '../../telemetry/roles.ts';
import type { BytePool } from '../../util/byte-pool.ts';
import type { Clock } from '../../util/clock.ts';
import { type GroupKind, type Gvk, gvkKey } from '../../util/gvk.ts';
import type { Random } from '../../util/random.ts';
import type { Turns } from '../../util/work-turns.ts';
import type { DecisionRecord } from '../decision.ts';
import type { DeletionGuard } from '../deletion-guard.ts';
import type { MissingRights } from '../wake/missing-rights.ts';
import type { Timetable } from '../wake/timetable.ts';
import type { Watches } from '../wake/watches.ts';
import type { ResourceState } from './resource-state.ts';

/** What all passes of one definition share. */
export interface OperatorContext {
  readonly plan: OperatorPlan;
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: PassMetrics;
  readonly watches: Watches;
  /** Shares the thread with the work of others. */
  readonly turns: Turns;
  /** What all reconciles of the process may hold together. */
  readonly memory: BytePool | undefined;
  readonly rights: MissingRights;
  readonly timetable: Timetable;
  /** By key. */
  readonly states: Map<string, ResourceState>;
  /** UIDs by key of objects that left the watch and are gone from the server too, while something of theirs is still there. */
  readonly departed: Map<string, ReadonlySet<string>>;
  /** By their text, the kinds that the definition has or had children of. Undefined: nobody can tell. */
  readonly kinds: ReadonlyMap<string, GroupKind> | undefined;
  readonly server: ServerTraits;
  /** Where the runtime and its definitions live: nothing is ever read or made there for resources of elsewhere. */
  readonly guardedNamespaces: ReadonlySet<string>;
  /** The definition is broken or gone: nothing is made or changed, only what is being deleted is brought to its end. */
  readonly isFinishing: boolean;
  /** Somebody else may run the definition: the resource is not told what its deletion waits for. */
  readonly isQuiet: boolean;
  /** The definition is being removed with what it has made: nothing is made or changed in resources that live. @default undefined */
  readonly retirement?: Retirement;
  /** Undefined: what is not wanted goes. */
  readonly guard: DeletionGuard | undefined;
  /** Runs a resource again because of what its own pass wrote. */
  readonly follow: (key: string) => void;
  readonly onDecisions: (key: string, record: DecisionRecord) => void;
}

/** A user removes the definition, and more is to go than itself (definition.md section 7). */
export interface Retirement {
  /** Do children of resources that live go, as they would if these were deleted? */
  readonly removesChildren: boolean;
  /** When the removal was asked for: wall clock, ms. */
  readonly sinceMs: number;
  /** Nothing that is to go is left of the resource; it may be told again. */
  readonly onRemoved: (key: string) => void;
}

/** What was learnt about the server on the way. */
export interface ServerTraits {
  /** By kind: is it namespaced? A scope never changes, but discovery may not know it for a moment. */
  readonly scopes: Map<string, boolean>;
}

/** Is the kind namespaced? Undefined: nobody could tell so far. */
export function isNamespaced({ cluster, server }: OperatorContext, gvk: Gvk): boolean | undefined {
  const found = cluster.resourceFor(gvk)?.namespaced;
  if (found !== undefined) server.scopes.set(gvkKey(gvk), found);
  return found ?? server.scopes.get(gvkKey(gvk));
}

/** The metrics of a pass. */
export interface PassMetrics {
  /** `homeostat_applies_total{definition,result}` */
  readonly applies: Counter;
}

/** A pass's turn with a worker, and what it may compute and hold until it ends. */
export interface PassTurn extends Turn {
  readonly budget: WorkBudget;
}

/** What one reconcile of the definition may use. Whoever creates it ends it. */
export function createBudget({ plan, turns, memory }: OperatorContext): WorkBudget {
  const { limits } = plan.definition.controller;
  return new WorkBudget({ limits, owner: plan.name, turns, ...(memory && { memory }) });
}
