import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Gvk, gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { clockOf, useControlPlane } from '../support/control-plane/index.ts';
import { customKind } from '../support/definitions.ts';
import { useKubeCluster } from '../support/kube-cluster.ts';

const shared = useControlPlane({ controllerManager: false });
const configMap = gvkOf('v1', 'ConfigMap');
const deployment = gvkOf('apps/v1', 'Deployment');
const otherUid = 'b0d0d0d0-0000-0000-0000-000000000000';
const signal = new AbortController().signal;

shared.describe('integration/kube-discovery', () => {
  const own = useKubeCluster(shared);

  test('knows scope, plural and status of what the server serves', async () => {
    await own.cluster.start(signal);
    const known = (gvk: Gvk) => {
      const type = own.cluster.resourceFor(gvk);
      return [type?.plural, type?.namespaced, type?.hasStatus];
    };
    assert.deepEqual(known(deployment), ['deployments', true, true]);
    assert.deepEqual(known(configMap), ['configmaps', true, false]);
    assert.deepEqual(known(gvkOf('v1', 'Namespace')), ['namespaces', false, true]);
    assert.equal(own.cluster.resourceFor(gvkOf('v1', 'Nothing')), undefined);
  });

  test('finds a kind that is installed later, and then its schema', async () => {
    const crd = clusterCrd('late.example', 'Late');
    const gvk = gvkOf('late.example/v1', 'Late');
    assert.equal(await own.cluster.lookUp(gvk, signal), undefined);
    assert.equal(await own.cluster.fetchKindSchema(gvk, signal), undefined);
    await shared.client().create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd);
    let type = await own.cluster.lookUp(gvk, signal);
    while (type === undefined) type = await own.cluster.lookUp(gvk, signal);
    assert.equal(type.plural, 'lates');
    assert.equal(type.namespaced, false);
    assert.equal(type.hasStatus, true);
    let schema = await own.cluster.fetchKindSchema(gvk, signal);
    while (schema === undefined) {
      await clockOf(shared.plane).sleep(100, signal);
      schema = await own.cluster.fetchKindSchema(gvk, signal);
    }
    const root = schema.components[schema.root] as { properties: Record<string, unknown> };
    assert.deepEqual(root.properties.spec, {
      type: 'object',
      properties: { description: { type: 'string' } },
    });
  });

  test('a status that went to the successor of a custom resource is noticed', async () => {
    // A server rejects this for its own kinds; for custom ones it ignores the uid and writes.
    await shared.client().installCrd(clusterCrd('heir.example', 'Heir'));
    const heir = { apiVersion: 'heir.example/v1', kind: 'Heir', metadata: { name: 'a' } };
    const { stored } = await own.apply({ ...heir, spec: { description: 'x' } });
    const status = { ...heir, metadata: { name: 'a', uid: otherUid }, status: {} };
    await assert.rejects(own.apply(status, { status: true }), { code: 'uid-mismatch' });
    const right = { ...status, metadata: { name: 'a', uid: stored.object.metadata.uid ?? '' } };
    assert.equal((await own.apply(right, { status: true })).created, false);
  });

  test('the schema of a Deployment is its closure, without descriptions, read once', async () => {
    const schema = await own.cluster.fetchKindSchema(deployment, signal);
    assert.equal(schema?.root, 'io.k8s.api.apps.v1.Deployment');
    const names = Object.keys(schema?.components ?? {});
    assert.ok(names.includes('io.k8s.api.core.v1.PodSpec'));
    assert.ok(!names.includes('io.k8s.api.apps.v1.StatefulSet'));
    const text = JSON.stringify(schema);
    assert.ok(text.length > 40_000 && text.length < 120_000, `found ${text.length} characters`);
    const again = await own.cluster.fetchKindSchema(deployment, signal);
    assert.equal(again, schema);
  });
});

/** A kind without namespaces, with a status, and with a field called as what is dropped from schemas. */
function clusterCrd(group: string, kind: string): KubeObject {
  const description = { type: 'string', description: 'Goes as well' };
  const spec = { type: 'object', description: 'Goes', properties: { description } };
  const properties = { spec, status: { type: 'object' } };
  return customKind({ group, kind, scope: 'Cluster', properties, subresources: { status: {} } });
}
