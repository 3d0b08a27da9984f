import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';
import { planOfPodSet } from '../../../../test/support/podset-text.ts';

const plan = planOfPodSet(`
  children:
    - id: config
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }" } }
  controller: { namespaces: { exclude: [other-*] } }
`);

function podSetIn(harness: OperatorHarness, namespace: string, more = {}): KubeObject {
  return harness.cluster.server.put({
    apiVersion: 'apps.example.com/v1',
    kind: 'PodSet',
    metadata: { name: 'one', namespace, ...more },
    spec: {},
  }).object;
}

describe('reconcile/watch served resources', () => {
  test('resources of other namespaces are neither counted nor worked on, whatever happens to them or what they own', async () => {
    const harness = new OperatorHarness(plan);
    await harness.start();
    const other = podSetIn(harness, 'other-a', { finalizers: ['homeostat.dev/podset'] });
    const labels = {
      'homeostat.dev/definition': 'podset',
      'homeostat.dev/child': 'config',
      'homeostat.dev/owner-uid': other.metadata.uid ?? '',
    };
    const metadata = { name: 'one', namespace: 'other-a', labels };
    harness.cluster.server.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
    podSetIn(harness, 'default');
    await harness.settle();
    assert.equal(harness.operator.instances, 1);
    harness.cluster.server.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'b' } });
    await harness.settle();
    await harness.runOne('other-a/one');
    const touched = harness.cluster.server
      .list({ group: '', version: 'v1', kind: 'ConfigMap' })
      .filter(({ object }) => object.metadata.namespace === 'other-a');
    assert.deepEqual(
      touched.map(({ object }) => object.data),
      [{ a: 'b' }],
    );
    assert.deepEqual(
      harness.cluster.requests.map(({ verb, kind }) => `${verb} ${kind}`),
      ['apply ConfigMap', 'status PodSet'],
    );
  });

  test('what waits there for our finalizer is reported after a while, until it is gone', async () => {
    const harness = new OperatorHarness(plan);
    await harness.start();
    podSetIn(harness, 'other-a', { finalizers: ['homeostat.dev/podset'] });
    const going = podSetIn(harness, 'other-b', { finalizers: ['homeostat.dev/podset'] });
    harness.remove(podSetIn(harness, 'other-c', { finalizers: ['example.com/theirs'] }));
    harness.remove(going);
    await harness.settle();
    assert.deepEqual(harness.operator.problems(), []);
    await harness.clock.advance(600_000);
    const [problem, ...others] = harness.operator.problems();
    assert.deepEqual(others, []);
    assert.match(
      problem?.message ?? '',
      /^1 resource is being deleted .* "homeostat.dev\/podset": add/,
    );
    podSetIn(harness, 'other-b', { deletionTimestamp: '2020-01-01T00:00:00Z' });
    await harness.settle();
    assert.deepEqual(harness.operator.problems(), []);
    assert.deepEqual(harness.cluster.requests, []);
  });

  for (const [what, served, expected] of [
    ['are not served', '', ['default/one']],
    ['are not served by globs', 'include: ["*"]', ['default/one']],
    [
      'are served where they are named',
      'include: ["*", homeostat-system]',
      ['default/one', 'homeostat-system/one'],
    ],
  ] as const) {
    test(`resources in the namespace of the runtime ${what}`, async () => {
      const template = 'apiVersion: v1, kind: ConfigMap, metadata: { name: a }';
      const harness = new OperatorHarness(
        planOfPodSet(`
  children: [{ id: config, template: { ${template} } }]
  controller: { namespaces: { ${served} } }
`),
      );
      await harness.start();
      podSetIn(harness, 'homeostat-system');
      podSetIn(harness, 'default');
      await harness.settle();
      assert.deepEqual([...harness.operator.keys()].sort(), expected);
      assert.equal(harness.names('v1', 'ConfigMap').length, expected.length);
    });
  }
});
