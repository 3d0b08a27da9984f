import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { definesCrd } from '#definition';
import { whenAborted } from '#util/when-aborted.ts';
import { settle } from '../../../../test/support/fake-clock.ts';
import { RuntimeFakeCluster } from '../../../../test/support/fakes/runtime-fake-cluster.ts';
import { located } from '../../../../test/support/fakes/thing-texts.ts';
import { crdGvk } from '../crd/crd-definition.ts';
import { removeCrd } from './remove-crd.ts';

const name = 'as.a.example.com';
const { definition } = located(`apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: mine }
spec:
  crd: { group: a.example.com, names: { kind: A, plural: as }, scope: Cluster, versions: [{ name: v1, schema: { openAPIV3Schema: { type: object } } }] }
  crdPolicy: { adopt: true, deletion: Delete }
`);

/** Removes the definition's CRD where one with that metadata is there. `finalize`: what its resources are worked on by. */
function remove(metadata?: object, finalize?: () => Promise<void>) {
  assert.ok(definesCrd(definition));
  const cluster = new RuntimeFakeCluster();
  if (metadata !== undefined)
    cluster.server.put({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name, ...metadata },
    });
  const worked = { now: 0, ever: 0 };
  const work = async (signal: AbortSignal) => {
    worked.now += 1;
    worked.ever += 1;
    await whenAborted(signal);
    worked.now -= 1;
  };
  const removing = removeCrd(
    { definition, cluster, finalizeResources: finalize ?? work },
    new AbortController().signal,
  );
  const deliver = async () => {
    for (let rounds = 0; rounds < 10; rounds++) {
      cluster.deliver();
      await settle();
    }
  };
  const isThere = () => cluster.server.get(crdGvk, undefined, name) !== undefined;
  return { cluster, removing, worked, deliver, isThere };
}

const mine = { 'homeostat.dev/definition': 'mine' };

describe('runtime/finalize/remove-crd', () => {
  test('that of the definition is deleted, and its resources are worked on until it is gone', async () => {
    const finalizers = ['customresourcecleanup.apiextensions.k8s.io'];
    const { cluster, removing, worked, deliver, isThere } = remove({ labels: mine, finalizers });
    await deliver();
    assert.deepEqual([isThere(), worked.now], [true, 1]);
    const { object } = cluster.server.get(crdGvk, undefined, name) ?? assert.fail();
    cluster.server.put({ ...object, metadata: { ...object.metadata, finalizers: [] } });
    await deliver();
    assert.equal(await removing, undefined);
    assert.deepEqual([isThere(), worked], [false, { now: 0, ever: 1 }]);
    assert.deepEqual(cluster.watched, []);
  });

  test('an error of the finalizing ends the wait for the CRD, so that all of it is tried again', async () => {
    const finalizers = ['customresourcecleanup.apiextensions.k8s.io'];
    const fails = async () => {
      throw new Error('The resources cannot be listed');
    };
    const { cluster, removing, deliver, isThere } = remove({ labels: mine, finalizers }, fails);
    const outcome = assert.rejects(removing, /cannot be listed/);
    await deliver();
    await outcome;
    assert.deepEqual([isThere(), cluster.watched], [true, []]);
  });

  test('one that is gone already keeps no listener waiting', async () => {
    const { removing, worked } = remove();
    assert.equal(await removing, undefined);
    assert.equal(worked.ever, 0);
  });

  for (const [what, metadata, reason] of [
    ['of another definition', { labels: { 'homeostat.dev/definition': 'other' } }, /belongs to/],
    ['without a manager', {}, /is not managed by Homeostat/],
    [
      'that was taken over',
      { labels: mine, annotations: { 'homeostat.dev/adopted': 'true' } },
      /was adopted/,
    ],
  ] as const)
    test(`one ${what} stays`, async () => {
      const { removing, worked, isThere } = remove(metadata);
      assert.match((await removing) ?? '', reason);
      assert.deepEqual([worked.ever, isThere()], [0, true]);
    });
});
