import type { KubeCluster } from '#kube';
import type { MemberCluster, MemberClusters } from '#kube/roles.ts';
import { DryRunCluster, type DryRunWrite } from './dry-run-cluster.ts';

/** A member cluster as the user of a plan reaches it. */
export interface PlanMember {
  /** Name of its `Cluster`. */
  readonly name: string;
  /** UID of its namespace `kube-system`. */
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Its name and labels are those of the `Cluster`. */
  readonly cluster: KubeCluster;
}

export interface UnreachedMember extends Pick<PlanMember, 'name' | 'labels'> {
  readonly reason: string;
}

/** The member clusters of a plan. */
export interface PlanMembers {
  readonly hubUid: string;
  readonly reached: readonly PlanMember[];
  /** Members that the plan cannot look at, with the reason for people. */
  readonly unreached: readonly UnreachedMember[];
}

/** Member clusters whose reads are real and whose writes are dry runs. */
export class DryRunMembers implements MemberClusters {
  readonly hubUid: string;
  readonly #members: ReadonlyMap<string, MemberCluster & { readonly cluster: DryRunCluster }>;

  constructor({ hubUid, reached }: PlanMembers) {
    this.hubUid = hubUid;
    this.#members = new Map(
      reached.map(({ name, uid, cluster }) => [name, { uid, cluster: new DryRunCluster(cluster) }]),
    );
  }

  get(name: string): MemberCluster | undefined {
    return this.#members.get(name);
  }

  /** Connections do not change while a plan is computed. */
  onChange(): () => void {
    return () => undefined;
  }

  /** The writes to all members since the last call. */
  takeWrites(): readonly DryRunWrite[] {
    return [...this.#members].flatMap(([name, { cluster }]) =>
      cluster.takeWrites().map((write) => ({ ...write, cluster: name })),
    );
  }
}
