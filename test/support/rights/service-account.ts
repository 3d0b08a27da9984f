import type { PlaneClient } from '../control-plane/index.ts';

/** A token of a ServiceAccount, as a Pod gets it. */
export async function tokenOf(
  client: PlaneClient,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
  const kind = 'TokenRequest';
  const apiVersion = 'authentication.k8s.io/v1';
  const spec = { expirationSeconds: 7_200 };
  const { status } = await client.create(path, { apiVersion, kind, metadata: {}, spec });
  return (status as { readonly token: string }).token;
}
