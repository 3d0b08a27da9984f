/**
 * The door of the room: one running definition. CONTRACT between reconcile and runtime.
 */
import type { OperatorPlan } from '../compile/index.ts';
import type { Priority, Reconciler } from '../controller/index.ts';
import type { Cluster, KubeErrorCode } from '../kube/roles.ts';
import type { Logger, MetricRegistry } from '../telemetry/roles.ts';
import type { BytePool } from '../util/byte-pool.ts';
import type { Clock } from '../util/clock.ts';
import type { Gvk } from '../util/gvk.ts';
import type { KubeObject } from '../util/kube-object.ts';
import type { Random } from '../util/random.ts';
import type { Turns } from '../util/work-turns.ts';
import type { DecisionRecord } from './decision.ts';
import type { DeletionGuard } from './deletion-guard.ts';
import type { Previewer } from './preview/preview.ts';

export interface OperatorOptions {
  readonly plan: OperatorPlan;
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  /** Where the runtime and its definitions live: nobody of elsewhere may read or write there. @default none */
  readonly guardedNamespaces?: ReadonlySet<string>;
  /** Shares the thread with the work of others. @default endlessTurns */
  readonly turns?: Turns;
  /** What all reconciles of the process may hold together. @default undefined: no bound */
  readonly memory?: BytePool;
  /** Kinds that the definition has had children of: what is left of them goes. @default none */
  readonly formerKinds?: readonly Gvk[];
  /** Puts a key into the definition's work queue. */
  readonly enqueue: (key: string, priority: Priority) => void;
  /** Asked before anything goes that the definition does not want any more. @default undefined: it goes */
  readonly deletionGuard?: DeletionGuard;
  /** Called with the record of every finished pass (logs, tests, the web page). */
  readonly onDecisions?: (key: string, record: DecisionRecord) => void;
}

export interface OperatorProblem {
  /** What cannot be done: `children (v1/ConfigMap)`, `resources`. */
  readonly what: string;
  /** `not-served`: they are in namespaces that are left out. */
  readonly code: KubeErrorCode | 'not-served';
  /** For people; stable text. */
  readonly message: string;
}

/** The reconciler of one definition with all it watches. */
export interface Operator extends Reconciler {
  /**
   * Acquires the informers (resources, children, reads by selector) and subscribes. Resolves when all that a pass needs have synced;
   * keys may be enqueued from the first event on, but no pass may run before it resolves. Informers that cannot sync (a missing kind, forbidden)
   * do not hold it back beyond the first failure: what needs them waits, see {@link Operator.problems}.
   */
  start(signal: AbortSignal): Promise<void>;
  /** Releases everything. No pass may be running. */
  stop(): void;
  /** What stands in the way, for readiness and logs: informers that fail, and rights that its resources miss. */
  problems(): readonly OperatorProblem[];
  /**
   * Begins to say what passes would do, without doing anything; for a started operator. Whoever calls it stops it, before the operator.
   * What resources read by name is watched until then: where passes follow, it is better stopped after them than before.
   */
  startPreview(): Previewer;
  /** The keys of all resources it knows, for a resync. */
  keys(): Iterable<string>;
  /** The resource as its watch has it. Undefined: it knows none of this key. */
  resource(key: string): KubeObject | undefined;
  /** Somebody else works on the resource from now on: all that is remembered of it goes. No pass of it may be running. */
  forget(key: string): void;
  /** Ends the watches on former kinds but those that are `left`. */
  keepFormerKinds(left: readonly Gvk[]): void;
  /** Is there a child of the definition of this kind, as far as its watch can tell? */
  hasChildren(gvk: Gvk): boolean;
  /** How many resources it knows. */
  readonly instances: number;
  /** How many objects have children of this definition though they do not match its selectors (`for`), since it was edited so. */
  readonly leftInPlace: number;
  /** How many of them are ready, are not, and have not run yet. */
  readiness(): Readiness;
}

/** Resources by their condition `Ready`. */
export interface Readiness {
  readonly ready: number;
  readonly unready: number;
  readonly unknown: number;
}
