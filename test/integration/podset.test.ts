import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { InstantKubelet, useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, shippedText, statusOf } from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';

const shared = useControlPlane();
const startHomeostat = useHomeostat(shared);

interface Deployment extends KubeObject {
  readonly spec: {
    readonly replicas: number;
    readonly template: { readonly spec: { readonly containers: readonly { image: string }[] } };
  };
}

const podset = (namespace: string, size: unknown): KubeObject => ({
  apiVersion: 'apps.example.com/v1alpha1',
  kind: 'PodSet',
  metadata: { name: 'web', namespace },
  spec: { size },
});
const podsetPath = (namespace: string) =>
  `/apis/apps.example.com/v1alpha1/namespaces/${namespace}/podsets/web`;
const deploymentPath = (namespace: string) =>
  `/apis/apps/v1/namespaces/${namespace}/deployments/web`;

/** Applies a PodSet and waits for its Deployment of that many replicas. */
async function applyPodSet(size: number, namespace?: string) {
  const where = namespace ?? (await shared.namespace());
  const client = shared.client();
  const owner = await client.apply(podset(where, size));
  const path = deploymentPath(where);
  const child = await client.untilObject<Deployment>(
    path,
    (object) => object?.spec.replicas === size,
  );
  assert.ok(child);
  return { namespace: where, client, owner, child, path };
}

shared.describe('integration/podset', () => {
  before(async () => {
    await startHomeostat({ 'podset.yaml': shippedText('podset.yaml') });
    // The garbage collector looks for new kinds every 30 s only.
    await shared.plane.restartControllerManager();
  });

  test('a PodSet becomes a Deployment that it owns, and an edit follows', async () => {
    const { namespace, owner, child } = await applyPodSet(3);
    assert.deepEqual(child.metadata.ownerReferences, [
      {
        apiVersion: 'apps.example.com/v1alpha1',
        kind: 'PodSet',
        name: 'web',
        uid: owner.metadata.uid,
        controller: true,
        blockOwnerDeletion: true,
      },
    ]);
    assert.equal(child.metadata.labels?.['app.kubernetes.io/managed-by'], 'homeostat');
    assert.equal(child.metadata.labels?.['homeostat.dev/definition'], 'podset');
    await applyPodSet(5, namespace);
  });

  test('a Deployment that is edited or scaled by hand is reverted', async () => {
    const { client, path } = await applyPodSet(2);
    await client.patch(path, { spec: { replicas: 7 } });
    await client.untilObject<Deployment>(path, (object) => object?.spec.replicas === 2);
    const edited = { containers: [{ name: 'podset', image: 'nginx' }] };
    await client.patch(path, { spec: { template: { spec: edited } } });
    const isBack = (object?: Deployment) =>
      object?.spec.template.spec.containers[0]?.image === 'busybox';
    await client.untilObject<Deployment>(path, isBack);
    await client.patch(`${path}/scale`, { spec: { replicas: 0 } });
    await client.untilObject<Deployment>(path, (object) => object?.spec.replicas === 2);
  });

  test('a Deployment whose label is removed by hand gets it back', async () => {
    const { client, path, child } = await applyPodSet(1);
    await client.patch(path, { metadata: { labels: { 'homeostat.dev/owner-uid': null } } });
    await client.untilObject(
      path,
      (object) => object?.metadata.labels?.['homeostat.dev/owner-uid'] !== undefined,
    );
    assert.equal((await client.get(path))?.metadata.uid, child.metadata.uid);
  });

  test('a Deployment that is deleted by hand comes back', async () => {
    const { client, path, child } = await applyPodSet(1);
    await client.delete(path);
    const isNew = (object?: KubeObject) =>
      object !== undefined && object.metadata.uid !== child.metadata.uid;
    await client.untilObject(path, isNew);
  });

  test('running Pods show in the status, and the PodSet is ready', async () => {
    const { client, namespace } = await applyPodSet(2);
    const pods = `/api/v1/namespaces/${namespace}/pods`;
    await client.untilList(pods, (items) => items.length === 2);
    const early = await client.untilObject(
      podsetPath(namespace),
      (object) => (statusOf(object).nodes as string[] | undefined)?.length === 2,
    );
    assert.equal(conditionOf(early)?.status, 'False');
    const names = await new InstantKubelet(client).runPods({ namespace });
    const ready = await client.untilObject(
      podsetPath(namespace),
      (object) => conditionOf(object)?.status === 'True',
    );
    const status = statusOf(ready);
    assert.deepEqual(status.nodes, [...names].sort());
    assert.equal(status.readyReplicas, 2);
    assert.equal(status.observedGeneration, ready?.metadata.generation);
    assert.equal(conditionOf(ready)?.reason, 'AllReady');
    assert.equal(conditionOf(ready, 'Reconciling'), undefined);
    assert.deepEqual(
      status.children?.map(({ id, name, state }) => ({ id, name, state })),
      [{ id: 'deployment', name: 'web', state: 'Ready' }],
    );
  });

  test('deleting the PodSet removes the Deployment through the garbage collector', async () => {
    const { client, namespace, path } = await applyPodSet(1);
    await client.delete(podsetPath(namespace));
    await client.untilGone(podsetPath(namespace));
    await client.untilGone(path);
  });

  test('a PodSet of the same name again gets a Deployment of its own', async () => {
    const { client, namespace, path, child } = await applyPodSet(1);
    await client.delete(podsetPath(namespace));
    const { child: second } = await applyPodSet(2, namespace);
    assert.notEqual(second.metadata.uid, child.metadata.uid);
    assert.equal((await client.get(path))?.metadata.ownerReferences?.length, 1);
  });

  test('a PodSet of a wrong size is rejected by the schema', async () => {
    const namespace = await shared.namespace();
    const path = `/apis/apps.example.com/v1alpha1/namespaces/${namespace}/podsets`;
    const answer = await shared
      .client()
      .request({ method: 'POST', path, body: podset(namespace, 'abc') });
    assert.equal(answer.status, 422);
    assert.match(JSON.stringify(answer.body), /spec\.size.*must be of type integer/);
  });
});
