import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KubeError } from '#kube';
import { gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { aConfigMap, aDeployment, testFlow, useKubeCluster } from '../support/kube-cluster.ts';
import { patienceMs } from '../support/patience.ts';

const shared = useControlPlane({ controllerManager: false, users: ['nobody'] });
const configMap = gvkOf('v1', 'ConfigMap');
const otherUid = 'b0d0d0d0-0000-0000-0000-000000000000';
const signal = new AbortController().signal;

shared.describe('integration/kube-errors', () => {
  const own = useKubeCluster(shared);

  async function failure(work: Promise<unknown>): Promise<KubeError> {
    const error = await work.then(
      () => undefined,
      (found: unknown) => found,
    );
    assert.ok(error instanceof KubeError, `Expected a KubeError, found ${String(error)}`);
    return error;
  }

  test('already-exists: a create-only apply of an object that is there', async () => {
    const namespace = await shared.namespace();
    await own.apply(aConfigMap(namespace));
    const again = aConfigMap(namespace, { metadata: { resourceVersion: '1' } });
    assert.equal((await failure(own.apply(again))).code, 'already-exists');
    assert.equal(
      (await failure(own.apply(again, { force: false, manager: 'other' }))).code,
      'already-exists',
    );
  });

  test('conflict: another version than the expected', async () => {
    const namespace = await shared.namespace();
    await own.apply(aConfigMap(namespace));
    const stale = aConfigMap(namespace, { metadata: { resourceVersion: '2' } });
    assert.equal((await failure(own.apply(stale))).code, 'conflict');
  });

  test('field-conflict: names the manager and the field', async () => {
    const namespace = await shared.namespace();
    await own.apply(aConfigMap(namespace), { manager: 'kubectl' });
    const error = await failure(
      own.apply(aConfigMap(namespace, { data: { a: '2' } }), { force: false }),
    );
    assert.equal(error.code, 'field-conflict');
    assert.deepEqual(error.causes, [
      {
        reason: 'FieldManagerConflict',
        message: 'conflict with "kubectl"',
        field: '.data.a',
        manager: 'kubectl',
      },
    ]);
  });

  test('uid-mismatch: gone, recreated, or the wrong one to delete', async () => {
    const namespace = await shared.namespace();
    const insisting = aConfigMap(namespace, { metadata: { uid: otherUid } });
    assert.equal((await failure(own.apply(insisting))).code, 'uid-mismatch');
    await own.apply(aConfigMap(namespace));
    assert.equal((await failure(own.apply(insisting))).code, 'uid-mismatch');
    const ref = { gvk: configMap, namespace, name: 'a' };
    const remove = own.cluster.delete(ref, { flow: testFlow, uid: otherUid }, signal);
    assert.equal((await failure(remove)).code, 'uid-mismatch');
  });

  test('not-found: a status of nothing, a namespace that is not there', async () => {
    const namespace = await shared.namespace();
    const status = { ...aDeployment(namespace), status: {} };
    assert.equal((await failure(own.apply(status, { status: true }))).code, 'not-found');
    assert.equal((await failure(own.apply(aConfigMap('nowhere')))).code, 'not-found');
  });

  test('kind-missing: a group, a version, a kind that is not served', async () => {
    for (const apiVersion of ['nowhere.example/v1', 'apps/v9', 'apps/v1', 'v1']) {
      const manifest = {
        apiVersion,
        kind: 'Nothing',
        metadata: { name: 'a', namespace: 'default' },
      };
      assert.equal((await failure(own.apply(manifest))).code, 'kind-missing');
    }
    const request = { method: 'GET', path: '/apis/apps/v1/nothings', flow: testFlow } as const;
    assert.equal((await failure(own.cluster.api.request(request, signal))).code, 'kind-missing');
  });

  test('forbidden: says what is not allowed, and is permanent', async () => {
    const nobody = await own.connect(shared.plane.kubeconfigPath('nobody'));
    const ref = { gvk: configMap, namespace: 'default', name: 'a' };
    const error = await failure(nobody.get(ref, { flow: testFlow }, signal));
    assert.equal(error.code, 'forbidden');
    assert.equal(error.isPermanent, true);
    assert.match(error.message, /User "nobody" cannot get resource "configmaps"/);
  });

  test('namespace-terminating and quota-exceeded differ from forbidden', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    await client.create(`/api/v1/namespaces/${namespace}/resourcequotas`, {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'none' },
      spec: { hard: { 'count/configmaps': '0' } },
    });
    // No controller fills in what is used: the quota controller does not run here.
    await client.must({
      method: 'PATCH',
      path: `/api/v1/namespaces/${namespace}/resourcequotas/none/status`,
      contentType: 'application/merge-patch+json',
      body: { status: { hard: { 'count/configmaps': '0' }, used: { 'count/configmaps': '0' } } },
    });
    const deadline = performance.now() + patienceMs;
    let code: string | undefined;
    for (let index = 0; code === undefined && performance.now() < deadline; index++) {
      const manifest = aConfigMap(namespace, { metadata: { name: `c-${index}` } });
      code = await own.apply(manifest).then(
        () => undefined,
        (error: KubeError) => error.code,
      );
    }
    assert.equal(code, 'quota-exceeded');
    await own.apply({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'held', namespace, finalizers: ['a.example/b'] },
    } as KubeObject);
    await client.must({ method: 'DELETE', path: `/api/v1/namespaces/${namespace}` });
    const error = await failure(
      own.apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'late', namespace } }),
    );
    assert.equal(error.code, 'namespace-terminating');
    await own.apply({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'held', namespace, finalizers: [] },
    } as KubeObject);
  });

  for (const [what, spec, field] of [
    ['a value of a wrong type', { replicas: 'three' }, '.spec.replicas'],
    ['an unknown field', { replcas: 3 }, '.spec.replcas'],
    ['an object where text belongs', { template: 'x' }, '.spec.template'],
    ['a value that validation rejects', { replicas: -1 }, 'spec.replicas'],
  ] as const) {
    test(`rejected: ${what}, with its field`, async () => {
      const namespace = await shared.namespace();
      const error = await failure(own.apply(aDeployment(namespace, spec)));
      assert.equal(error.code, 'rejected');
      assert.deepEqual(
        error.causes.map((cause) => cause.field),
        [field],
      );
    });
  }

  test('rejected: several errors are reported one by one', async () => {
    const namespace = await shared.namespace();
    const error = await failure(own.apply(aDeployment(namespace, { replicas: 'x', paused: 'y' })));
    assert.deepEqual(error.causes.map((cause) => cause.field).sort(), [
      '.spec.paused',
      '.spec.replicas',
    ]);
  });

  test('too-large: above the limit of a request', async () => {
    const namespace = await shared.namespace();
    const data = { a: 'x'.repeat(4_000_000) };
    assert.equal((await failure(own.apply(aConfigMap(namespace, { data })))).code, 'too-large');
  });

  test('unavailable: a version from the future, with its cause', async () => {
    const error = await failure(
      own.cluster.api.request(
        {
          method: 'GET',
          path: '/api/v1/configmaps',
          query: { resourceVersion: '99999999999999', resourceVersionMatch: 'NotOlderThan' },
          flow: testFlow,
        },
        signal,
      ),
    );
    assert.equal(error.code, 'unavailable');
    assert.equal(error.retryAfterSeconds, 1);
    assert.equal(error.causes[0]?.reason, 'ResourceVersionTooLarge');
  });

  test('unauthorized: a token that the server does not know', async () => {
    const path = own.write(
      'wrong',
      shared.plane.kubeconfig().replace('admin-token', 'wrong-token'),
    );
    const unauthenticated = await own.connect(path);
    assert.equal((await failure(unauthenticated.start(signal))).code, 'unauthorized');
  });

  test('timeout: our own deadline', async () => {
    const error = await failure(
      own.cluster.api.request(
        {
          method: 'GET',
          path: '/api/v1/configmaps',
          query: { watch: '1', timeoutSeconds: '30' },
          timeoutMs: 300,
          flow: testFlow,
        },
        signal,
      ),
    );
    assert.equal(error.code, 'timeout');
  });
});
