import type { CoverageRecorder, OperatorPlan } from '#compile';
import type {
  ApplyOptions,
  ApplyResult,
  Cluster,
  EventsDenied,
  KindSchema,
  MemberClusters,
  Reader,
  ServerUnreachable,
} from '#kube/roles.ts';
import type { ReconcileTrace } from '#reconcile';
import type { Logger, MetricRegistry } from '#telemetry/roles.ts';
import type { ByteSemaphore } from '#util/byte-semaphore.ts';
import type { Clock } from '#util/clock.ts';
import type { Gvk } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { Random } from '#util/random.ts';
import type { TimeSlicer } from '#util/time-slicer.ts';
import type { ConversionTarget } from './crd/conversion/conversion-target.ts';

/** Options that all definitions of a cluster runtime share. */
export interface SharedOptions {
  readonly cluster: RuntimeCluster;
  /** The member clusters of this one. @default undefined: none */
  readonly members?: MemberClusters;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  /** Name of this runtime, as a label value. Unique in the cluster. */
  readonly runtime?: string;
  /** Namespaces of the runtime and its definitions: never read or written for resources of other namespaces. @default none */
  readonly guardedNamespaces?: ReadonlySet<string>;
  /** The namespace of the runtime, which stores the versions of cluster-scoped objects. @default 'default' */
  readonly namespace?: string;
  /** Set for a member: the cluster from which this runtime works in it. @default undefined: the cluster is the hub */
  readonly hub?: Hub;
  /** Shares the event loop fairly between definitions. */
  readonly timeSlicer: TimeSlicer;
  /** Memory limit for the reconciles of all definitions. @default undefined: no limit */
  readonly memory?: ByteSemaphore;
  /** Schemas of kinds that this runtime installs, before the API server publishes them. @default none */
  readonly ownSchema?: (gvk: Gvk) => KindSchema | undefined;
  /** Allows breaking changes of CRDs, for simulated clusters. @default false */
  readonly allowBreakingChanges?: boolean;
  /** Time between a kind being served and a policy that changes its objects, in ms: a simulated cluster needs none. @default 10_000 */
  readonly schemaDelayMs?: number;
  /** Where the API server has objects converted between versions of a kind. @default undefined: nowhere */
  readonly conversion?: ConversionTarget;
  /** Records what the definitions evaluate, for tests of definitions. @default undefined: nothing is recorded */
  readonly coverage?: CoverageRecorder;
  /** Records reconciles for people who look at them. @default undefined: nothing is recorded */
  readonly observer?: ReconcileObserver;
}

/** Follows the reconciles of all definitions. */
export interface ReconcileObserver {
  /** Follows those of one revision. */
  traceOf(plan: OperatorPlan): ReconcileTrace;
  /** The observer of a member cluster. */
  inMember(cluster: string): ReconcileObserver;
}

/** The cluster with the definitions, seen from a member. */
export interface Hub {
  /** UID of its namespace `kube-system`. */
  readonly uid: string;
  readonly cluster: Reader;
}

/** The cluster as the runtime uses it, in addition to what a pass uses. */
export interface RuntimeCluster extends Cluster {
  /**
   * The kind's schema from the OpenAPI documents; undefined if they do not contain it (yet).
   * @throws KubeError
   */
  fetchKindSchema(gvk: Gvk, signal: AbortSignal): Promise<KindSchema | undefined>;
  /** Calls the listener when the API server accepts the credentials again. Returns the unsubscribe function. */
  onAuthenticated(listener: () => void): () => void;
  /** Undefined while the API server answers and accepts the credentials. */
  readonly unreachable: ServerUnreachable | undefined;
  /** Why Events are denied. Undefined: none was denied. */
  readonly eventsDenied: EventsDenied | undefined;
  /** Updates the gauges before a scrape. */
  observe(): void;
  /**
   * An apply that the API server does not store. @default undefined: writes of this cluster are never stored
   * @throws KubeError as an apply
   */
  dryRunApply?(
    manifest: KubeObject,
    options: ApplyOptions,
    signal: AbortSignal,
  ): Promise<ApplyResult>;
  /** Call after a kind's CRD was created. */
  kindCreated(gvk: Gvk): void;
  /** Call after a kind's CRD was changed. */
  kindChanged(gvk: Gvk): void;
}
