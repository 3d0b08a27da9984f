import type { ChildPlan, PhaseInput } from '#compile';
import type { KindAt, RefAt, RoutingCluster, StoredObject } from '#kube/roles.ts';
import { type Problem, problemOfCluster } from '../failure.ts';
import type { OperatorContext } from './context.ts';
import type { ResourceRecords } from './feature.ts';
import type { Pass, PassInput } from './pass.ts';

/**
 * The clusters beside that of the resources, for one definition. An object is identified with its cluster everywhere; what is known of the
 * others is asked here, and only for resources that have or may have objects there.
 */
export interface DefinitionClusters {
  /** All of them as one: the cluster of its kind decides where a request goes. */
  readonly cluster: RoutingCluster;
  /** May the definition have objects in others? */
  readonly isUsed: boolean;
  /** The annotation of resources that have objects in others. */
  readonly annotation: string;
  /** Resolves when it is known which others there are, if the definition uses any. */
  settled(signal: AbortSignal): Promise<void>;
  /** Calls the listener with the name of a cluster whose state changed; undefined: of any. Returns the unsubscribe function. */
  onChange(listener: (cluster: string | undefined) => void): () => void;
  /** `$clusterOf`: the other cluster of an object, by its identity. */
  clusterOf(object: object): string | undefined;
  /** What a pass sees of them, from before its reads on. */
  begin(pass: Pass): OtherClusters;
  /** The passes begin. `isComplete`: is it known of every resource what it has? */
  start(context: OperatorContext, isComplete: () => boolean): void;
  stop(): void;
}

/** The clusters beside that of the resource, as one pass sees them: a change of one enqueues the resource again. */
export interface OtherClusters {
  /** Identifies our objects there. Undefined: unknown, as no cluster can be reached. */
  readonly hubUid: string | undefined;
  /** The clusters that may have objects of the resource, without those that are given up. */
  readonly places: ReadonlySet<string>;
  /** Is one that is not available expected to be so in a moment? Set by {@link available}. */
  readonly isExpected: boolean;
  /** May objects there be read, written, pruned and counted now? */
  reaches(cluster: string): boolean;
  /** Why not; undefined: they may. `gvk`: the children of this kind must be listed there, too. */
  available(cluster: string, gvk?: KindAt): Problem | undefined;
  /** Why objects of a child or read may not be there; undefined: they may, or the cluster does not exist. */
  rejection(plan: Pick<ChildPlan, 'placement'>, cluster: string): Problem | undefined;
  /** Is nothing of the resource searched or waited for there any more? */
  isGivenUp(cluster: string): boolean;
  /** Remembers the cluster of an object that the pass has made up, for expressions. */
  readonly note: (stored: StoredObject) => void;
  /** Every change of the cluster enqueues the resource. */
  depend(cluster: string): void;
  /** Depends on these clusters, and watches the children of the resource there. */
  observe(clusters: Iterable<string>): Promise<void>;
  /** The same for all that may have objects of a resource that is being deleted. Returns why more objects may be there. */
  search(): Promise<readonly Problem[]>;
  /** What must be on the resource before these objects are created. */
  records(creates: readonly RefAt[]): ResourceRecords;
  /** Removes the record of clusters that have nothing of the resource any more. `remaining`: those that have; undefined: unknown. */
  forgetPlaces(remaining: ReadonlySet<string> | undefined): Promise<void>;
}

/** What expressions ask of the other clusters. */
export function expressionsOf(
  others: Pick<DefinitionClusters, 'clusterOf'>,
): Pick<PhaseInput, 'clusterOf'> {
  return { clusterOf: (object) => others.clusterOf(object) };
}

/** May objects in this cluster be read, written, pruned and counted now? */
export function isReachable(
  { others }: Pick<PassInput, 'others'>,
  cluster: string | undefined,
): boolean {
  return cluster === undefined || others?.reaches(cluster) === true;
}

/** Why children of a kind cannot be read or written in its cluster now; undefined: they can. */
export function unavailable(
  { others }: Pick<PassInput, 'others'>,
  gvk: KindAt,
): Problem | undefined {
  const { cluster } = gvk;
  if (cluster === undefined) return undefined;
  return others === undefined
    ? problemOfCluster(cluster, 'it is not connected')
    : others.available(cluster, gvk);
}

/** Is nothing of the resource searched or waited for in this cluster any more? */
export function isGivenUp(
  { others }: Pick<PassInput, 'others'>,
  cluster: string | undefined,
): boolean {
  return cluster !== undefined && others?.isGivenUp(cluster) === true;
}
