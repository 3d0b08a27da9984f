import type { KubeCluster } from '#kube';
import type { PlanMember, PlanMembers } from '#plan';
import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { Simulation } from '../simulation.ts';
import type { TestApi } from '../test-api.ts';

/** The clusters of a simulation, as its user reaches them. */
export interface UserClusters {
  /** The cluster of the resource. */
  readonly cluster: KubeCluster;
  readonly members: PlanMembers;
  readonly close: () => Promise<void>;
}

/**
 * Connects to the cluster of a resource, and to the members of the simulation.
 * @param place name of the member that the resource is in. Undefined: it is on the hub
 */
export async function connectAsUser(
  simulation: Simulation,
  place: string | undefined,
): Promise<UserClusters> {
  const hubUid = (await uidOf(simulation)) ?? '';
  const reached: PlanMember[] = [];
  for (const name of simulation.members.names) {
    const object = await simulation.get(`/apis/homeostat.dev/v1alpha1/clusters/${name}`);
    const uid = await uidOf(simulation.members.get(name).api);
    if (!isJsonObject(object) || uid === undefined) continue;
    const { labels = {} } = (object as unknown as KubeObject).metadata;
    reached.push({ name, uid, labels, cluster: simulation.members.connect(name, labels) });
  }
  const own = reached.find(({ name }) => name === place)?.cluster;
  const cluster = own ?? simulation.connect();
  const all = new Set([cluster, ...reached.map((each) => each.cluster)]);
  return {
    cluster,
    // A resource of a member cannot reach others.
    members: { hubUid, reached: own === undefined ? reached : [], unreached: [] },
    close: async () => {
      await Promise.all(Array.from(all, (each) => each.close()));
    },
  };
}

async function uidOf(api: Pick<TestApi, 'get'>): Promise<string | undefined> {
  const namespace = await api.get('/api/v1/namespaces/kube-system');
  return isJsonObject(namespace) ? (namespace as unknown as KubeObject).metadata.uid : undefined;
}
