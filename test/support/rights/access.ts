import type { PlaneClient } from '../control-plane/index.ts';
import type { GrantedRight } from './granted-rule.ts';

export type Access = Pick<GrantedRight, 'apiGroup' | 'resource' | 'verb' | 'namespace' | 'names'>;

/** Does the server allow it to the user? It takes notice of its own roles a little later. */
export async function isAllowed(
  client: PlaneClient,
  user: string,
  right: Access,
): Promise<boolean> {
  const { apiGroup: group, verb, namespace, names: [name] = [] } = right;
  const [resource, subresource] = right.resource.split('/');
  const apiVersion = 'authorization.k8s.io/v1';
  const resourceAttributes = { group, resource, subresource, verb, name, namespace };
  const spec = { user, resourceAttributes };
  const review = { apiVersion, kind: 'SubjectAccessReview', spec };
  const { status } = await client.create(`/apis/${apiVersion}/subjectaccessreviews`, review);
  return (status as { readonly allowed: boolean }).allowed;
}

/** Resolves when the server allows all of it to the user. */
export async function untilAllowed(
  client: PlaneClient,
  user: string,
  rights: readonly Access[],
): Promise<void> {
  for (const right of rights)
    while (!(await isAllowed(client, user, right))) await client.sleep(50);
}
