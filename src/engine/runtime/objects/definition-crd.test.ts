import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import { gvkOf } from '#util/gvk.ts';
import { FakeClock, settle } from '../../../../test/support/fake-clock.ts';
import { RuntimeFakeCluster } from '../../../../test/support/fakes/runtime-fake-cluster.ts';
import { createDefinitionCrd, operatorDefinitionKind } from './definition-crd.ts';
import { definitionCrdName } from './names.ts';
import { installOwnCrd } from './own-kind.ts';

const crdGvk = gvkOf('apiextensions.k8s.io/v1', 'CustomResourceDefinition');
const written = [`apply CustomResourceDefinition/${definitionCrdName}`];
const { signal } = new AbortController();

function setUp() {
  const cluster = new RuntimeFakeCluster();
  const clock = new FakeClock();
  return {
    cluster,
    clock,
    bring: () => installOwnCrd(operatorDefinitionKind, { cluster, clock }, signal),
  };
}

describe('runtime/objects/definition-crd', () => {
  test('installs it once', async () => {
    const { cluster, bring } = setUp();
    await bring();
    assert.deepEqual(cluster.takeWrites(), written);
    await bring();
    assert.deepEqual(cluster.takeWrites(), []);
  });

  test('one that a user has applied by hand is not written', async () => {
    const { cluster, bring } = setUp();
    cluster.server.put(createDefinitionCrd());
    await bring();
    assert.deepEqual(cluster.takeWrites(), []);
  });

  test('one of another version of Homeostat is brought up to date', async () => {
    const { cluster, bring } = setUp();
    const crd = createDefinitionCrd();
    const names = { ...(crd.spec as { names: object }).names, shortNames: [] };
    cluster.server.put({ ...crd, spec: { ...(crd.spec as object), names } });
    await bring();
    assert.deepEqual(cluster.takeWrites(), written);
  });

  test('one that is being deleted is waited for, and installed when it is gone', async () => {
    const { cluster, clock, bring } = setUp();
    const crd = createDefinitionCrd();
    const finalizers = ['customresourcecleanup.apiextensions.k8s.io'];
    cluster.server.put({ ...crd, metadata: { ...crd.metadata, finalizers } });
    cluster.server.delete(crdGvk, { namespace: undefined, name: definitionCrdName });
    const { lookUp } = cluster;
    cluster.lookUp = async () => undefined;
    const brought = bring();
    await clock.advance(5_000);
    assert.deepEqual(cluster.takeWrites(), []);
    cluster.server.editMetadata(crdGvk, {
      namespace: undefined,
      name: definitionCrdName,
      metadata: { finalizers: [] },
    });
    await clock.advance(10_000);
    assert.deepEqual(cluster.takeWrites(), written);
    cluster.lookUp = lookUp;
    await clock.advance(10_000);
    await brought;
  });

  test('without the right one that is served is left as it is', async () => {
    const { cluster, bring } = setUp();
    cluster.fault = () => new KubeError('forbidden', 'no', { status: 403 });
    await bring();
    await settle();
  });

  test('without the right one that is not served is missing, and the message says what to apply', async () => {
    const { cluster, bring } = setUp();
    cluster.fault = () => new KubeError('forbidden', 'no', { status: 403 });
    cluster.lookUp = async () => undefined;
    await assert.rejects(bring(), { code: 'kind-missing', message: /apply deploy\/crds/ });
  });
});
