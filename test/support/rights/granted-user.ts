import { runtimeRights } from '#check';
import type { PlaneClient } from '../control-plane/index.ts';

/** A rule of a role. */
export interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

const rbac = 'rbac.authorization.k8s.io';
const events = 'events';

/** What `homeostat run` needs for itself, but for Events. */
export const runtimeRules: readonly Rule[] = runtimeRights({ leaseName: 'homeostat' })
  .cluster.filter(({ resource }) => resource !== events)
  .map(({ apiGroup, resource, names, verbs }) => ({
    apiGroups: [apiGroup],
    resources: [resource],
    ...(names && { resourceNames: names }),
    verbs,
  }));

/** Gives a user exactly these rights, in the whole cluster. The server takes notice of its own roles a little later. */
export async function grantExactly(
  client: PlaneClient,
  user: string,
  rules: readonly Rule[],
): Promise<void> {
  const apiVersion = `${rbac}/v1`;
  const metadata = { name: user };
  await client.apply({ apiVersion, kind: 'ClusterRole', metadata, rules });
  await client.apply({
    apiVersion,
    kind: 'ClusterRoleBinding',
    metadata,
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: user },
    subjects: [{ apiGroup: rbac, kind: 'User', name: user }],
  });
}
