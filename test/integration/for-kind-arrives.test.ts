import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { customKind } from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';

const shared = useControlPlane({ audit: true });
const startHomeostat = useHomeostat(shared);

/** Reports of a kind that somebody else installs; only what is mapped may be written. */
const definition = `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: arriving }
spec:
  for: { apiVersion: arriving.example.org/v1, kind: Gadget }
  children:
    - id: settings
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }" }
        data: { size: "\${ spec.size }" }
  status:
    sizes: \${ spec.size }
`;

const crd = customKind({
  group: 'arriving.example.org',
  kind: 'Gadget',
  properties: {
    spec: { type: 'object', properties: { size: { type: 'integer' } } },
    status: {
      type: 'object',
      properties: {
        sizes: { type: 'array', items: { type: 'string' } },
        other: { type: 'string' },
        conditions: {
          type: 'array',
          items: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
      },
    },
  },
  subresources: { status: {} },
});
const crdPath = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crd.metadata.name}`;

function gadget(namespace: string, size: number): KubeObject {
  return {
    apiVersion: 'arriving.example.org/v1',
    kind: 'Gadget',
    metadata: { name: 'one', namespace },
    spec: { size },
  };
}

const sizeOf = (object: KubeObject | undefined) =>
  (object?.data as { size?: string } | undefined)?.size;

const sizesOf = (object: KubeObject | undefined) =>
  (object?.status as { sizes?: unknown } | undefined)?.sizes;

shared.describe('integration/for-kind-arrives', () => {
  let homeostat: HomeostatRuntime;
  before(async () => {
    homeostat = await startHomeostat({ 'arriving.yaml': definition });
  });

  test('a definition waits for its kind, without asking, and starts by itself when it comes', async () => {
    const { reason } = await homeostat.whenLogged('Definition waits for its kind');
    assert.equal(reason, 'The cluster does not serve kind "Gadget" of "arriving.example.org/v1"');
    const ready = await fetch(`${await homeostat.url()}/readyz?verbose`);
    assert.equal(ready.status, 200);
    assert.match(
      await ready.text(),
      /\[!\]arriving waiting: The cluster does not serve kind "Gadget"/,
    );
    await shared.audit.quiet(1_000);
    const mark = shared.audit.mark();
    await shared.audit.quiet(5_000);
    assert.deepEqual(shared.audit.atRest({ since: mark }), []);
    const client = shared.client();
    const namespace = await shared.namespace();
    await client.installCrd(crd);
    await homeostat.whenLogged('Definition running');
    await client.apply(gadget(namespace, 3));
    const child = await client.untilObject(
      `/api/v1/namespaces/${namespace}/configmaps/one`,
      (object) => object !== undefined,
    );
    assert.equal(sizeOf(child), '3');
  });

  test('what is mapped is fitted to the schema that the server reports, and nothing else is written', async () => {
    const client = shared.client();
    const namespace = await shared.namespace();
    await client.installCrd(crd);
    await client.apply(gadget(namespace, 3));
    const path = `/apis/arriving.example.org/v1/namespaces/${namespace}/gadgets/one`;
    await client.untilObject(path, (object) => Array.isArray(sizesOf(object)));
    // What others write there stays, a condition of the type that is ours elsewhere too.
    const conditions = [{ type: 'Ready', status: 'False', reason: 'Theirs' }];
    await client.patch(`${path}/status`, { status: { other: 'theirs', conditions } });
    await shared.audit.quiet(2_000);
    const mark = shared.audit.mark();
    await client.patch(path, { metadata: { labels: { any: 'label' } } });
    await shared.audit.quiet(2_000);
    assert.deepEqual(shared.audit.atRest({ since: mark }), []);
    const { status } = (await client.get(path)) as KubeObject;
    assert.deepEqual(status, { sizes: ['3'], other: 'theirs', conditions });
    await client.patch(path, { spec: { size: 4 } });
    const after = await client.untilObject(
      path,
      (object) => JSON.stringify(sizesOf(object)) === '["4"]',
    );
    assert.deepEqual(after?.status, { sizes: ['4'], other: 'theirs', conditions });
  });

  test('a kind that is deleted is waited for again, and comes back', async () => {
    const client = shared.client();
    const namespace = await shared.namespace();
    await client.installCrd(crd);
    const waits = homeostat.entries.filter(({ msg }) => msg === 'Definition waits for its kind');
    await client.delete(crdPath);
    await client.untilGone(crdPath);
    await homeostat.whenLoggedTimes('Definition waits for its kind', waits.length + 1);
    const runs = homeostat.entries.filter(({ msg }) => msg === 'Definition running');
    await client.installCrd(crd);
    await homeostat.whenLoggedTimes('Definition running', runs.length + 1);
    await client.apply(gadget(namespace, 5));
    const child = await client.untilObject(
      `/api/v1/namespaces/${namespace}/configmaps/one`,
      (object) => object !== undefined,
    );
    assert.equal(sizeOf(child), '5');
  });
});
