import { type LocatedDefinition, usesClusters } from '#definition';
import { type KubeCluster, KubeError } from '#kube';
import type { PlanMember, PlanMembers, UnreachedMember } from '#plan';
import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { CliError } from '../exit-code.ts';
import { type ClusterSession, cliFlow } from './cluster-session.ts';

const clustersPath = '/apis/homeostat.dev/v1alpha1/clusters';
const identityPath = '/api/v1/namespaces/kube-system';

/**
 * The member clusters as the user reaches them: by the context of the kubeconfig that has the name of the `Cluster`, with the user's own
 * rights. The Secrets of `Cluster` objects are not read. A context that leads to another cluster is not used.
 * @returns undefined: no definition uses members
 */
export async function planMembers(
  definitions: readonly LocatedDefinition[],
  session: ClusterSession,
): Promise<PlanMembers | undefined> {
  if (!definitions.some(({ definition }) => usesClusters(definition))) return undefined;
  const { cluster, signal } = session;
  const objects = await clusterObjects(cluster, signal);
  const hubUid = (await uidOf(cluster, signal)) ?? '';
  const reached: PlanMember[] = [];
  const unreached: UnreachedMember[] = [];
  for (const object of objects) {
    const { name, labels = {} } = object.metadata;
    const found = await reach(object, session);
    if (typeof found === 'string') unreached.push({ name, labels, reason: found });
    else reached.push(found);
  }
  return { hubUid, reached, unreached };
}

async function clusterObjects(
  { api }: KubeCluster,
  signal: AbortSignal,
): Promise<readonly KubeObject[]> {
  try {
    const { body } = await api.request(
      { method: 'GET', path: clustersPath, flow: cliFlow },
      signal,
    );
    const items = isJsonObject(body) ? body.items : undefined;
    return Array.isArray(items) ? (items as unknown as readonly KubeObject[]) : [];
  } catch (error) {
    if (error instanceof KubeError && error.status === 404) return [];
    throw error;
  }
}

/** The member, or why it is not used. */
async function reach(
  { metadata: { name, labels = {} }, status }: KubeObject,
  { connectContext, signal }: ClusterSession,
): Promise<PlanMember | string> {
  const recorded = isJsonObject(status) ? status.uid : undefined;
  if (typeof recorded !== 'string') return 'the runtime was never connected to it';
  try {
    const cluster = await connectContext(name, labels);
    const uid = await uidOf(cluster, signal);
    if (uid === recorded) return { name, uid, labels, cluster };
    return `the context "${name}" of the kubeconfig leads to another cluster`;
  } catch (error) {
    if (error instanceof KubeError) return error.message;
    if (!(error instanceof CliError)) throw error;
    return error.cause instanceof Error ? error.cause.message : error.message;
  }
}

async function uidOf({ api }: KubeCluster, signal: AbortSignal): Promise<string | undefined> {
  const { body } = await api.request({ method: 'GET', path: identityPath, flow: cliFlow }, signal);
  const metadata = isJsonObject(body) ? body.metadata : undefined;
  const uid = isJsonObject(metadata) ? metadata.uid : undefined;
  return typeof uid === 'string' ? uid : undefined;
}
