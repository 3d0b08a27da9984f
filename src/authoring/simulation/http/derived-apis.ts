import { createDefaultLeafParser } from '#compile';
import { DerivedApi } from '#http-objects';
import { httpKinds, httpLabel } from '#http-objects/kinds/index.ts';
import type { Sandbox } from '#sandbox';
import { apiVersionOf } from '#util/gvk.ts';
import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';

/** APIs that are derived from the objects of a sandbox. */
export function createDerivedApi(sandbox: Sandbox): DerivedApi {
  return new DerivedApi({
    parser: createDefaultLeafParser(),
    objects: () => httpKinds.flatMap((kind) => listed(kind, sandbox)),
  });
}

/** Objects behind HTTP of the namespace `default` may use its Secrets: it gets the label that permits it. */
export async function permitHttp(sandbox: Sandbox): Promise<void> {
  sandbox.handle({
    method: 'PATCH',
    path: '/api/v1/namespaces/default',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: JSON.stringify({ metadata: { labels: { [httpLabel]: 'true' } } }),
  });
}

function listed(
  { gvk, crdName }: (typeof httpKinds)[number],
  sandbox: Sandbox,
): readonly KubeObject[] {
  const apiVersion = apiVersionOf(gvk);
  const plural = crdName.slice(0, crdName.indexOf('.'));
  const { status, body } = sandbox.handle({
    method: 'GET',
    path: `/apis/${apiVersion}/${plural}`,
    headers: { accept: 'application/json' },
    body: '',
  });
  const list: unknown = status === 200 ? JSON.parse(String(body)) : undefined;
  const items = isJsonObject(list) && Array.isArray(list.items) ? list.items : [];
  return items.map((item) => ({ ...(item as unknown as KubeObject), apiVersion, kind: gvk.kind }));
}
