import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OperatorWorld } from '../../../test/support/fakes/operator-world.ts';
import { planOfPodSet } from '../../../test/support/podset-text.ts';
import type { KubeObject } from '../../util/kube-object.ts';

const plan = planOfPodSet(`
  children:
    - id: config
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }" } }
  controller: { namespaces: { exclude: [other-*] } }
`);

function podSetIn(world: OperatorWorld, namespace: string, more = {}): KubeObject {
  return world.cluster.server.put({
    apiVersion: 'apps.example.com/v1',
    kind: 'PodSet',
    metadata: { name: 'one', namespace, ...more },
    spec: {},
  }).object;
}

describe('reconcile/watch served resources', () => {
  test('resources of other namespaces are neither counted nor worked on, whatever happens to them or what they own', async () => {
    const world = new OperatorWorld(plan);
    await world.start();
    const other = podSetIn(world, 'other-a', { finalizers: ['homeostat.dev/podset'] });
    const labels = {
      'homeostat.dev/definition': 'podset',
      'homeostat.dev/child': 'config',
      'homeostat.dev/owner-uid': other.metadata.uid ?? '',
    };
    const metadata = { name: 'one', namespace: 'other-a', labels };
    world.cluster.server.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
    podSetIn(world, 'default');
    await world.settle();
    assert.equal(world.operator.instances, 1);
    world.cluster.server.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'b' } });
    await world.settle();
    await world.runOne('other-a/one');
    const touched = world.cluster.server
      .list({ group: '', version: 'v1', kind: 'ConfigMap' })
      .filter(({ object }) => object.metadata.namespace === 'other-a');
    assert.deepEqual(
      touched.map(({ object }) => object.data),
      [{ a: 'b' }],
    );
    assert.deepEqual(
      world.cluster.requests.map(({ verb, kind }) => `${verb} ${kind}`),
      ['apply ConfigMap', 'status PodSet'],
    );
  });

  test('what waits there for our finalizer is reported after a while, until it is gone', async () => {
    const world = new OperatorWorld(plan);
    await world.start();
    podSetIn(world, 'other-a', { finalizers: ['homeostat.dev/podset'] });
    const going = podSetIn(world, 'other-b', { finalizers: ['homeostat.dev/podset'] });
    world.remove(podSetIn(world, 'other-c', { finalizers: ['example.com/theirs'] }));
    world.remove(going);
    await world.settle();
    assert.deepEqual(world.operator.problems(), []);
    await world.clock.advance(600_000);
    const [problem, ...others] = world.operator.problems();
    assert.deepEqual(others, []);
    assert.match(
      problem?.message ?? '',
      /^1 resource is being deleted .* "homeostat.dev\/podset": add/,
    );
    podSetIn(world, 'other-b', { deletionTimestamp: '2020-01-01T00:00:00Z' });
    await world.settle();
    assert.deepEqual(world.operator.problems(), []);
    assert.deepEqual(world.cluster.requests, []);
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
      const world = new OperatorWorld(
        planOfPodSet(`
  children: [{ id: config, template: { ${template} } }]
  controller: { namespaces: { ${served} } }
`),
      );
      await world.start();
      podSetIn(world, 'homeostat-system');
      podSetIn(world, 'default');
      await world.settle();
      assert.deepEqual([...world.operator.keys()].sort(), expected);
      assert.equal(world.names('v1', 'ConfigMap').length, expected.length);
    });
  }
});
