import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OperatorWorld } from '../../../test/support/fakes/operator-world.ts';
import { planOfPodSet } from '../../../test/support/podset-text.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { deletionPolicyAnnotation, managedByLabel, ownerUidLabel } from '../names.ts';

const key = 'default/a';

const body = (fields = '', data = '') => `
  children:
    - id: map
      adopt: IfUnowned
      when: \${ spec.wanted ?? true }
      ${fields}
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: map }
        data: { ours: "\${ spec.text }"${data} }`;

const theirs: KubeObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'map', namespace: 'default', labels: { team: 'x' } },
  data: { theirs: 'kept', ours: 'before' },
};

async function worldWith(object: KubeObject, text = body()): Promise<OperatorWorld> {
  const world = new OperatorWorld(planOfPodSet(text));
  world.cluster.server.put(object);
  await world.start();
  return world;
}

function mapOf(world: OperatorWorld): KubeObject {
  const map = world.get('v1', 'ConfigMap', 'map');
  assert.ok(map);
  return map;
}

describe('reconcile/child adopt: IfUnowned', () => {
  test('an object without an owner is taken over, with what others have in it', async () => {
    const world = await worldWith(theirs);
    const before = mapOf(world).metadata.uid;
    world.podSet('a', { text: 'one' });
    await world.settle();
    const { metadata, data } = mapOf(world);
    assert.equal(metadata.uid, before);
    assert.deepEqual(data, { ours: 'one', theirs: 'kept' });
    assert.equal(metadata.labels?.team, 'x');
    assert.equal(metadata.labels?.[managedByLabel], 'homeostat');
    assert.equal(metadata.annotations?.[deletionPolicyAnnotation], 'Orphan');
    assert.match(world.ready('a'), /^True/);
    world.cluster.takeWrites();
    await world.runOne(key);
    await world.restart(planOfPodSet(body()));
    await world.settle();
    assert.deepEqual(world.cluster.requests, []);
  });

  test('it follows the intent, and what a user changes of ours is reverted', async () => {
    const world = await worldWith(theirs);
    const resource = world.podSet('a', { text: 'one' });
    await world.settle();
    world.edit(resource, { spec: { text: 'two' } });
    await world.settle();
    assert.deepEqual(mapOf(world).data, { ours: 'two', theirs: 'kept' });
    world.edit(mapOf(world), { data: { ours: 'meddled', theirs: 'kept' } });
    await world.settle();
    assert.deepEqual(mapOf(world).data, { ours: 'two', theirs: 'kept' });
    assert.equal(mapOf(world).metadata.annotations?.[deletionPolicyAnnotation], 'Orphan');
  });

  test('when it is not wanted any more it stays, and nothing says that it was ours', async () => {
    const world = await worldWith(theirs);
    const resource = world.podSet('a', { text: 'one' });
    await world.settle();
    world.edit(resource, { spec: { text: 'one', wanted: false } });
    await world.settle();
    assert.doesNotMatch(JSON.stringify(mapOf(world).metadata), /homeostat/);
    // Wanted again, it is taken over again.
    world.edit(resource, { spec: { text: 'two' } });
    await world.settle();
    assert.deepEqual(mapOf(world).data, { ours: 'two', theirs: 'kept' });
  });

  test('what we have made ourselves goes with the child', async () => {
    const world = new OperatorWorld(planOfPodSet(body()));
    await world.start();
    const resource = world.podSet('a', { text: 'one' });
    await world.settle();
    assert.equal(mapOf(world).metadata.annotations?.[deletionPolicyAnnotation], undefined);
    world.edit(resource, { spec: { text: 'one', wanted: false } });
    await world.settle();
    assert.deepEqual(world.names('v1', 'ConfigMap'), []);
  });

  test('with `deletionPolicy: Delete` written it is deleted like any other', async () => {
    const text = body('deletionPolicy: Delete');
    const world = await worldWith(theirs, text);
    const resource = world.podSet('a', { text: 'one' });
    await world.settle();
    assert.equal(mapOf(world).metadata.ownerReferences?.[0]?.uid, resource.metadata.uid);
    world.edit(resource, { spec: { text: 'one', wanted: false } });
    await world.settle();
    assert.deepEqual(world.names('v1', 'ConfigMap'), []);
  });

  const controller = { apiVersion: 'v1', kind: 'Other', name: 'o', uid: 'other', controller: true };
  const notTaken: readonly (readonly [string, Partial<KubeObject['metadata']>])[] = [
    ['another controller owns', { ownerReferences: [controller] }],
    [
      'another definition has made',
      { labels: { [managedByLabel]: 'homeostat', 'homeostat.dev/definition': 'other' } },
    ],
    ['is on its way out', { finalizers: ['example.com/stay'] }],
  ];
  for (const [what, metadata] of notTaken) {
    test(`an object that ${what} is left alone`, async () => {
      const object = { ...theirs, metadata: { ...theirs.metadata, ...metadata } };
      const world = await worldWith(object);
      if (metadata.finalizers !== undefined) world.remove(object);
      const before = mapOf(world);
      world.podSet('a', { text: 'one' });
      await world.settle();
      assert.deepEqual(mapOf(world), before);
      assert.match(world.ready('a'), /^False (?:Conflict|Waiting)/);
    });
  }

  test("another resource's child is left alone, and taken over when that resource is gone", async () => {
    const world = new OperatorWorld(planOfPodSet(body()));
    await world.start();
    const first = world.podSet('a', { text: 'first' });
    await world.settle();
    world.podSet('b', { text: 'second' });
    await world.settle();
    assert.deepEqual(mapOf(world).data, { ours: 'first' });
    assert.match(world.ready('b'), /^False Conflict/);
    // Left behind by somebody who took our finalizer off.
    world.cluster.server.put({ ...first, metadata: { ...first.metadata, finalizers: [] } });
    world.remove(first);
    await world.settle();
    await world.clock.advance(600_000);
    await world.runOne('default/b');
    assert.equal(
      mapOf(world).metadata.labels?.[ownerUidLabel],
      world.get('apps.example.com/v1', 'PodSet', 'b')?.metadata.uid,
    );
    assert.deepEqual(mapOf(world).data, { ours: 'second' });
  });

  test('it is not taken over before what the child comes after is ready', async () => {
    const first = `
  children:
    - id: first
      ready: \${ $child.data.ready = 'yes' }
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: first }
        data: { ready: "\${ spec.go }" }`;
    const world = await worldWith(theirs, body('after: [first]').replace('\n  children:', first));
    const before = mapOf(world);
    const resource = world.podSet('a', { text: 'one', go: 'no' });
    await world.settle();
    assert.deepEqual(mapOf(world), before);
    world.edit(resource, { spec: { text: 'one', go: 'yes' } });
    await world.settle();
    assert.deepEqual(mapOf(world).data, { ours: 'one', theirs: 'kept' });
  });

  test('a password that is there already is not created again', async () => {
    const data = ', password: "${ observed.map.data.password ?? $randomString(9) }"';
    const world = await worldWith({ ...theirs, data: { password: 'theirs' } }, body('', data));
    world.podSet('a', { text: 'one' });
    await world.settle();
    assert.deepEqual(mapOf(world).data, { ours: 'one', password: 'theirs' });
  });

  test('with OnDelete it is taken over once, and left alone from then on', async () => {
    const world = await worldWith(theirs, body('updateStrategy: { type: OnDelete }'));
    const resource = world.podSet('a', { text: 'one' });
    await world.settle();
    world.edit(resource, { spec: { text: 'two' } });
    await world.settle();
    assert.deepEqual(mapOf(world).data, { ours: 'one', theirs: 'kept' });
  });

  test('with Recreate it is changed in place, also when the intent changes: it was not ours to begin with', async () => {
    const world = await worldWith(theirs, body('updateStrategy: { type: Recreate }'));
    const resource = world.podSet('a', { text: 'one' });
    await world.settle();
    assert.deepEqual(mapOf(world).data, { ours: 'one', theirs: 'kept' });
    world.edit(resource, { spec: { text: 'two' } });
    await world.settle();
    assert.deepEqual(mapOf(world).data, { ours: 'two', theirs: 'kept' });
  });

  test('with Recreate and "deletionPolicy: Delete" it is like what we made ourselves', async () => {
    const fields = 'updateStrategy: { type: Recreate }\n      deletionPolicy: Delete';
    const world = await worldWith(theirs, body(fields));
    const resource = world.podSet('a', { text: 'one' });
    await world.settle();
    assert.deepEqual(mapOf(world).data, { ours: 'one', theirs: 'kept' });
    world.edit(resource, { spec: { text: 'two' } });
    await world.settle();
    assert.deepEqual(mapOf(world).data, { ours: 'two' });
  });
});
