import type { OperatorPlan } from '#compile';
import { placesInMembers } from '#definition';
import type { Cluster, MemberClusters, RoutingCluster } from '#kube/roles.ts';
import type { MetricRegistry } from '#telemetry/roles.ts';
import { clustersAnnotationOf } from '#util/stored-names.ts';
import type { OperatorContext } from '../pass/context.ts';
import type { DefinitionClusters, OtherClusters } from '../pass/other-clusters.ts';
import type { Pass } from '../pass/pass.ts';
import { type Connections, createRoutedCluster } from '../routed-cluster.ts';
import { settled } from '../watch/informer-waits.ts';
import { LostOwners } from './lost-owners.ts';
import { MemberInformer, memberUnreachable } from './member-informer.ts';
import { Members, MemberView } from './members.ts';
import { PassMembers } from './pass-members.ts';

interface DefinitionMembersOptions {
  readonly plan: OperatorPlan;
  /** The hub: the cluster of the resources. */
  readonly cluster: Cluster;
  /** @default undefined: there are none; what resources have on record of them is not usable. */
  readonly members?: MemberClusters | undefined;
  readonly metrics: MetricRegistry;
}

/** The member clusters of one definition. */
export class DefinitionMembers implements DefinitionClusters {
  readonly cluster: RoutingCluster;
  readonly isUsed: boolean;
  readonly annotation: string;
  readonly #options: DefinitionMembersOptions;
  readonly #members: Members | undefined;
  #stop: (() => void) | undefined;

  constructor(options: DefinitionMembersOptions) {
    this.#options = options;
    const { plan, cluster, members } = options;
    this.#members = members && new Members(cluster, members);
    this.cluster = this.#members
      ? createRoutedCluster(cluster, connections(this.#members))
      : cluster;
    this.isUsed = placesInMembers(plan);
    this.annotation = clustersAnnotationOf(plan.name);
  }

  async settled(signal: AbortSignal): Promise<void> {
    if (this.#members !== undefined && this.isUsed) await settled(this.#members.open(), signal);
  }

  onChange(listener: (cluster: string | undefined) => void): () => void {
    return this.#members?.onChange(listener) ?? (() => undefined);
  }

  clusterOf(object: object): string | undefined {
    return this.#members?.clusterOf(object);
  }

  begin(pass: Pass): OtherClusters {
    const view = this.#members && new MemberView(this.#members);
    return new PassMembers(pass, view, (stored) => this.#members?.note(stored));
  }

  /** Searches objects without an owner, and counts those that resources have in members. */
  start(context: OperatorContext, isComplete: () => boolean): void {
    if (this.#members === undefined || !this.isUsed) return;
    const { metrics, members: clusters, plan } = this.#options;
    const placed = new LostOwners(context, this.#members, metrics);
    const uncount = clusters?.countPlaced?.(plan.name, (member) =>
      isComplete() ? placed.countIn(member) : undefined,
    );
    this.#stop = () => {
      uncount?.();
      placed.stop();
    };
  }

  stop(): void {
    this.#stop?.();
    this.#stop = undefined;
    this.#members?.stop();
  }
}

function connections(members: Members): Connections {
  return {
    usable: (name) => members.usable(name),
    connectionOf: (name) => members.connectionOf(name),
    informer: (query, name) => new MemberInformer(query, name, members),
    note: (stored) => members.note(stored),
    unreachable: memberUnreachable,
  };
}
