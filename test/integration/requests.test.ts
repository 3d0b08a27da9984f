import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { tallyOf, useControlPlane } from '../support/control-plane/index.ts';
import { shippedText, statusOf } from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';

// Without controllers a child's own status never moves: every request counted here is ours to explain.
const shared = useControlPlane({ audit: true, controllerManager: false });
const startHomeostat = useHomeostat(shared);

const podSets = 200;
const group = '/apis/apps.example.com/v1alpha1';

function podset(namespace: string, name: string, size: number): KubeObject {
  return {
    apiVersion: 'apps.example.com/v1alpha1',
    kind: 'PodSet',
    metadata: { name, namespace },
    spec: { size },
  };
}

/** Applies `count` PodSets and waits until all have been reported on. */
async function applyAll(namespace: string, count: number, size: number): Promise<void> {
  const client = shared.client();
  const names = Array.from({ length: count }, (_, index) => `p${index}`);
  const reported = client.untilList(
    `${group}/namespaces/${namespace}/podsets`,
    (items) =>
      items.length === count &&
      items.every((item) => statusOf(item).observedGeneration === item.metadata.generation) &&
      items.every((item) => (item.spec as { size: number }).size === size),
  );
  await Promise.all(names.map((name) => client.apply(podset(namespace, name, size))));
  await reported;
}

/** Requests by verb and resource, Events too, but without watches that are opened again. */
type Cost = Readonly<Record<string, number>>;

/** What `act` costs: all requests of the operator until `least` has come and it has been quiet for two seconds. */
async function costOf(act: () => Promise<void>, least: Cost = {}): Promise<Cost> {
  const since = shared.audit.mark();
  await act();
  // An operator that gets no turn on a busy machine is quiet too.
  await shared.audit.untilSeen(() => {
    const cost = costSince(since);
    return Object.entries(least).every(([request, count]) => (cost[request] ?? 0) >= count);
  });
  await shared.audit.quiet(2_000);
  return costSince(since);
}

function costSince(since: number): Cost {
  const events = shared.audit.entries({ since }).filter(({ resource }) => resource === 'events');
  return tallyOf([...shared.audit.atRest({ since }), ...events]);
}

shared.describe('integration/requests', () => {
  let homeostat: HomeostatRuntime;
  let namespace: string;

  before(async () => {
    homeostat = await startHomeostat({ 'podset.yaml': shippedText('podset.yaml') });
    namespace = await shared.namespace();
    await shared.audit.quiet(1_000);
  });

  test('a new PodSet costs two requests: one apply and one status write', async () => {
    const expected = { 'patch deployments': podSets, 'patch podsets/status': podSets };
    assert.deepEqual(await costOf(() => applyAll(namespace, podSets, 1), expected), expected);
  });

  test('an edit costs one apply and at most one status write', async () => {
    const { 'patch deployments': applies, ...rest } = await costOf(
      () => applyAll(namespace, podSets, 2),
      { 'patch deployments': podSets },
    );
    assert.equal(applies, podSets);
    const { 'patch podsets/status': reports = 0, ...others } = rest;
    assert.ok(reports <= podSets);
    assert.deepEqual(others, {});
  });

  test('a label that no expression reads costs nothing', async () => {
    const cost = await costOf(async () => {
      const path = `/apis/apps/v1/namespaces/${namespace}/deployments/p0`;
      await shared.client().patch(path, { metadata: { annotations: { 'example.com/note': 'x' } } });
      await shared.client().patch(`${path}/status`, { status: { conditions: [] } });
    });
    assert.deepEqual(cost, {});
  });

  test('200 idle PodSets cost nothing in a minute', async () => {
    const since = shared.audit.mark();
    await shared.audit.quiet(60_000);
    assert.deepEqual(costSince(since), {});
  });

  test('a restart with 200 PodSets lists and watches, and writes nothing', async () => {
    const cost = await costOf(async () => {
      assert.equal(await homeostat.stop(), 0);
      homeostat = await startHomeostat({ 'podset.yaml': shippedText('podset.yaml') });
    });
    const others = Object.keys(cost).filter((request) => !request.startsWith('list '));
    assert.deepEqual(others, []);
  });

  test('after the restart it still follows an edit, at the same cost', async () => {
    const cost = await costOf(() => applyAll(namespace, podSets, 3), {
      'patch deployments': podSets,
    });
    assert.equal(cost['patch deployments'], podSets);
  });

  test('a kill without warning leaves nothing undone', async () => {
    const target = await shared.namespace();
    const client = shared.client();
    const first = client.untilList(
      `/apis/apps/v1/namespaces/${target}/deployments`,
      (items) => items.length >= 20,
    );
    const apply = Promise.all(
      Array.from({ length: 100 }, (_, index) => client.apply(podset(target, `k${index}`, 1))),
    );
    await first;
    await homeostat.stop('SIGKILL');
    await apply;
    homeostat = await startHomeostat({ 'podset.yaml': shippedText('podset.yaml') });
    await client.untilList(
      `${group}/namespaces/${target}/podsets`,
      (items) =>
        items.length === 100 && items.every((item) => statusOf(item).observedGeneration === 1),
    );
    const deployments = await client.list(`/apis/apps/v1/namespaces/${target}/deployments`);
    assert.equal(deployments.length, 100);
  });
});
