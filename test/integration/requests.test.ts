import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { KubeObject } from '../../src/util/kube-object.ts';
import { type AuditCounts, useControlPlane } from '../support/control-plane/index.ts';
import { shippedText, statusOf } from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';
import type { HomeostatProcess } from '../support/homeostat-process.ts';

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

/** What `act` costs: all requests of the operator until it has been quiet for two seconds. */
async function costOf(act: () => Promise<void>): Promise<AuditCounts> {
  const since = shared.audit.mark();
  await act();
  await shared.audit.quiet(2_000);
  return shared.audit.count({ since });
}

describe('integration/requests', { skip: shared.skip }, () => {
  let homeostat: HomeostatProcess;
  let namespace: string;

  before(async () => {
    homeostat = await startHomeostat({ 'podset.yaml': shippedText('podset.yaml') });
    namespace = await shared.namespace();
    await shared.audit.quiet(1_000);
  });

  test('a new PodSet costs two requests: one apply and one status write', async () => {
    const { by, total, events } = await costOf(() => applyAll(namespace, podSets, 1));
    assert.deepEqual(
      { by, events },
      {
        by: { 'patch deployments': podSets, 'patch podsets/status': podSets },
        events: 0,
      },
    );
    assert.equal(total, 2 * podSets);
  });

  test('an edit costs one apply and at most one status write', async () => {
    const { by, total } = await costOf(() => applyAll(namespace, podSets, 2));
    assert.equal(by['patch deployments'], podSets);
    assert.ok((by['patch podsets/status'] ?? 0) <= podSets);
    assert.equal(total, podSets + (by['patch podsets/status'] ?? 0));
  });

  test('a label that no expression reads costs nothing', async () => {
    const { total } = await costOf(async () => {
      const path = `/apis/apps/v1/namespaces/${namespace}/deployments/p0`;
      await shared.client().patch(path, { metadata: { annotations: { 'example.com/note': 'x' } } });
      await shared.client().patch(`${path}/status`, { status: { conditions: [] } });
    });
    assert.equal(total, 0);
  });

  test('200 PodSets at rest cost nothing in a minute', async () => {
    const since = shared.audit.mark();
    await shared.audit.quiet(60_000);
    const { total, events, by } = shared.audit.count({ since });
    // Watches are renewed every 5 to 10 minutes by design.
    const watches = Object.entries(by).filter(([request]) => request.startsWith('watch '));
    const renewals = watches.reduce((sum, [, count]) => sum + count, 0);
    assert.equal(total + events - renewals, 0, JSON.stringify(by));
  });

  test('a restart with 200 PodSets lists and watches, and writes nothing', async () => {
    const { writes, by, events } = await costOf(async () => {
      assert.equal(await homeostat.stop(), 0);
      homeostat = await startHomeostat({ 'podset.yaml': shippedText('podset.yaml') });
    });
    assert.deepEqual({ writes, events }, { writes: 0, events: 0 }, JSON.stringify(by));
    const others = Object.keys(by).filter((request) => !/^(list|watch) /.test(request));
    assert.deepEqual(others, []);
  });

  test('after the restart it still follows an edit, at the same cost', async () => {
    const { by } = await costOf(() => applyAll(namespace, podSets, 3));
    assert.equal(by['patch deployments'], podSets);
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
