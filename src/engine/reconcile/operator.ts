/** The API of the room: one running definition. Contract between reconcile and runtime. */
import type { Priority, Reconciler } from '#controller';
import type { KubeErrorCode, MemberClusters } from '#kube/roles.ts';
import type { MetricRegistry } from '#telemetry/roles.ts';
import type { Gvk } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { DeletionGuard } from './deletion-guard.ts';
import type { SharedHistory } from './history/shared-history.ts';
import type { OperatorContext } from './pass/context.ts';
import type { Previewer } from './preview/preview.ts';

/** What an operator passes on to its reconciles. */
type SharedOptions = Pick<
  OperatorContext,
  | 'plan'
  | 'cluster'
  | 'clock'
  | 'random'
  | 'logger'
  | 'timeSlicer'
  | 'memory'
  | 'trace'
  | 'onDecisions'
>;

export interface OperatorOptions extends SharedOptions {
  /** The member clusters of this one. @default undefined: none */
  readonly members?: MemberClusters;
  readonly metrics: MetricRegistry;
  /** The namespaces of the runtime and its definitions: resources in other namespaces may not read or write there. @default none */
  readonly guardedNamespaces?: ReadonlySet<string>;
  /** Called with every resource that is not served only because its namespace is guarded. @default none */
  readonly onGuarded?: (resource: KubeObject) => void;
  /** The namespace of the runtime, which stores the versions of cluster-scoped objects. @default 'default' */
  readonly namespace?: string;
  /** Where the Secret is whose keys sign these versions. @default that of `namespace` */
  readonly keysNamespace?: string;
  /** The recorder that the operators of the definition share. @default one of its own */
  readonly history?: SharedHistory;
  /** Whether versions of reads with `history` are recorded, or only read. @default true */
  readonly recordsHistory?: boolean;
  /** Kinds of which the definition had children before: the remaining ones are pruned. @default none */
  readonly previousKinds?: readonly Gvk[];
  /** Called when {@link Operator.problems} may have changed without a reconcile. @default nothing */
  readonly onWatchState?: () => void;
  /** Puts a key into the definition's work queue. */
  readonly enqueue: (key: string, priority: Priority) => void;
}

export interface OperatorProblem {
  /** What fails: `children (v1/ConfigMap)`, `resources`. */
  readonly what: string;
  /** `not-served`: the resources are in namespaces outside `controller.namespaces`. */
  readonly code: KubeErrorCode | 'not-served';
  /** For people: stable text. */
  readonly message: string;
}

/** The reconciler of one definition with all its informers. */
export interface Operator extends Reconciler {
  /**
   * Acquires the informers (resources, children, reads by selector) and subscribes. Resolves when all informers that a pass needs have
   * synced. Keys may be enqueued from the first event on, but no pass may run before it resolves. An informer that cannot sync (missing
   * kind, forbidden) delays it until the first failure only: see {@link Operator.problems}.
   */
  start(signal: AbortSignal): Promise<void>;
  /** Releases everything. No pass may be running. */
  stop(): void;
  /** Failing informers and missing rights, for readiness and logs. */
  problems(): readonly OperatorProblem[];
  /**
   * Starts to compute what passes would do, without doing it; for a started operator. The caller stops it before the operator.
   * It watches the objects that resources read by name. If passes follow, stop it after them.
   */
  startPreview(): Previewer;
  /** The keys of all resources, for a resync. */
  keys(): Iterable<string>;
  /** The resource in the cache. Undefined: there is none of this key. */
  resource(key: string): KubeObject | undefined;
  /** Another operator takes over the resource: its state is dropped. No pass of it may be running. */
  forget(key: string): void;
  /** From now on, objects that the definition no longer desires are deleted only if the guard permits it. @default undefined: they are */
  guardDeletions(guard: DeletionGuard | undefined): void;
  /** Stops the watches of previous kinds, except of the `remaining` ones. */
  retainPreviousKinds(left: readonly Gvk[]): void;
  /** Does the definition have a child of this kind, according to the informer? */
  hasChildren(gvk: Gvk): boolean;
  /** Are children of the resource recorded in it, or do they exist, according to the informers? Sends no request. */
  hasChildrenOf(key: string): boolean;
  /** Number of resources. */
  readonly instances: number;
  /** Number of objects that stopped matching the selectors (`for`) by a change of the definition, and still have children. */
  readonly unmatchedInstances: number;
  /** Resources by readiness; `unknown` have not run yet. */
  readiness(): Readiness;
}

/** Numbers of resources by their condition `Ready`. */
export interface Readiness {
  readonly ready: number;
  readonly unready: number;
  readonly unknown: number;
}
