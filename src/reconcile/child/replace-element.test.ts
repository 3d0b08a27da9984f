import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OperatorWorld } from '../../../test/support/fakes/operator-world.ts';
import { planOfPodSet } from '../../../test/support/podset-text.ts';
import { KubeError } from '../../kube/roles.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { intentAnnotation } from '../names.ts';

const key = 'default/a';

function mapWith(strategy: string, more = ''): string {
  return `
  children:
    - id: map
      updateStrategy: { type: ${strategy} }
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: map }
        data: { text: "\${ spec.text }"${more} }`;
}

async function worldOf(body: string): Promise<{ world: OperatorWorld; resource: KubeObject }> {
  const world = new OperatorWorld(planOfPodSet(body));
  await world.start();
  const resource = world.podSet('a', { text: 'one' });
  await world.settle();
  world.cluster.takeWrites();
  return { world, resource };
}

function mapOf(world: OperatorWorld): KubeObject {
  const map = world.get('v1', 'ConfigMap', 'map');
  assert.ok(map);
  return map;
}

const immutable = new KubeError('rejected', 'data: Forbidden: field is immutable', {
  status: 422,
  causes: [
    {
      reason: 'FieldValueForbidden',
      message: 'field is immutable',
      field: 'data',
      isImmutable: true,
    },
  ],
});

describe('reconcile/child Recreate', () => {
  test('a changed intent creates the object again, in one pass', async () => {
    const { world, resource } = await worldOf(mapWith('Recreate'));
    const before = mapOf(world).metadata.uid;
    world.edit(resource, { spec: { text: 'two' } });
    await world.settle();
    assert.notEqual(mapOf(world).metadata.uid, before);
    assert.deepEqual(mapOf(world).data, { text: 'two' });
    assert.deepEqual(world.cluster.takeWrites(), [
      'delete ConfigMap/map',
      'apply ConfigMap/map',
      'status PodSet/a',
    ]);
    await world.runOne(key);
    await world.restart(planOfPodSet(mapWith('Recreate')));
    await world.settle();
    assert.deepEqual(world.cluster.requests, []);
  });

  test('a field that left the intent creates it again too', async () => {
    const { world, resource } = await worldOf(mapWith('Recreate', ', more: "${? spec.more }"'));
    world.edit(resource, { spec: { text: 'one', more: 'x' } });
    await world.settle();
    const before = mapOf(world).metadata.uid;
    world.edit(resource, { spec: { text: 'one' } });
    await world.settle();
    assert.notEqual(mapOf(world).metadata.uid, before);
    assert.deepEqual(mapOf(world).data, { text: 'one' });
  });

  test('what a user changed of ours is reverted, and fields of others are left alone', async () => {
    const { world } = await worldOf(mapWith('Recreate'));
    const before = mapOf(world);
    world.edit(before, { data: { text: 'meddled', theirs: 'kept' } });
    await world.settle();
    assert.equal(mapOf(world).metadata.uid, before.metadata.uid);
    assert.deepEqual(mapOf(world).data, { text: 'one', theirs: 'kept' });
    assert.deepEqual(world.cluster.takeWrites(), ['apply ConfigMap/map']);
  });

  test('drift that was there before a restart is reverted, not created again', async () => {
    const { world } = await worldOf(mapWith('Recreate'));
    const before = mapOf(world);
    world.operator.stop();
    world.edit(before, { data: { text: 'meddled' } });
    await world.restart(planOfPodSet(mapWith('Recreate')));
    await world.settle();
    assert.equal(mapOf(world).metadata.uid, before.metadata.uid);
    assert.deepEqual(mapOf(world).data, { text: 'one' });
  });

  test('an object that does not say what it was made of is changed in place', async () => {
    const { world, resource } = await worldOf(mapWith('Apply'));
    const before = mapOf(world).metadata.uid;
    world.operator.stop();
    world.edit(resource, { spec: { text: 'two' } });
    await world.restart(planOfPodSet(mapWith('Recreate')));
    await world.settle();
    assert.equal(mapOf(world).metadata.uid, before);
    assert.ok(mapOf(world).metadata.annotations?.[intentAnnotation]);
    world.edit(resource, { spec: { text: 'three' } });
    await world.settle();
    assert.notEqual(mapOf(world).metadata.uid, before);
  });

  test('while the old object is being deleted that is reported; then it is made', async () => {
    const body = mapWith('Recreate').replace(
      'name: map }',
      'name: map, finalizers: [example.com/stay] }',
    );
    const { world, resource } = await worldOf(body);
    world.edit(resource, { spec: { text: 'two' } });
    await world.settle();
    assert.equal(world.ready('a'), 'False Waiting: map "map": ConfigMap "map" is being deleted');
    const old = mapOf(world);
    world.edit(old, { metadata: { ...old.metadata, finalizers: [] } });
    await world.settle();
    assert.notEqual(mapOf(world).metadata.uid, old.metadata.uid);
    assert.deepEqual(mapOf(world).data, { text: 'two' });
    assert.match(world.ready('a'), /^True/);
  });

  test('drift of a field that cannot be changed creates the object again, once in ten minutes for one intent', async () => {
    const { world } = await worldOf(mapWith('Recreate'));
    const refuse = () => {
      world.cluster.fault = ({ verb, manifest }) =>
        verb === 'apply' && manifest?.metadata.uid !== undefined ? immutable : undefined;
    };
    const meddle = () => world.edit(mapOf(world), { data: { text: 'meddled' } });
    // It was made of this intent a moment ago.
    refuse();
    meddle();
    await world.settle();
    assert.deepEqual(world.cluster.takeWrites(), ['apply ConfigMap/map', 'status PodSet/a']);
    assert.match(world.ready('a'), /ApplyFailed: map "map": data cannot be changed/);
    await world.clock.advance(600_000);
    await world.runOne(key);
    await world.settle();
    assert.deepEqual(mapOf(world).data, { text: 'one' });
    assert.deepEqual(world.cluster.takeWrites(), [
      'apply ConfigMap/map',
      'delete ConfigMap/map',
      'apply ConfigMap/map',
      'status PodSet/a',
    ]);
    meddle();
    await world.settle();
    assert.deepEqual(world.cluster.takeWrites(), ['apply ConfigMap/map', 'status PodSet/a']);
  });

  test('a Secret says nothing of its values, and is replaced only where it cannot be changed', async () => {
    const body = mapWith('Recreate').replace('kind: ConfigMap', 'kind: Secret');
    const { world, resource } = await worldOf(body);
    const secret = () => world.get('v1', 'Secret', 'map');
    assert.equal(secret()?.metadata.annotations?.[intentAnnotation], undefined);
    const before = secret()?.metadata.uid;
    world.edit(resource, { spec: { text: 'dHdv' } });
    await world.settle();
    assert.equal(secret()?.metadata.uid, before);
    world.cluster.fault = ({ verb, manifest }) =>
      verb === 'apply' && manifest?.metadata.uid !== undefined ? immutable : undefined;
    world.edit(resource, { spec: { text: 'dGhyZWU=' } });
    await world.settle();
    assert.notEqual(secret()?.metadata.uid, before);
    assert.deepEqual(secret()?.data, { text: 'dGhyZWU=' });
  });

  test('an object that may not go is kept, and created again when it may', async () => {
    const body = mapWith('Recreate').replace(
      'updateStrategy',
      "deleteWhen: ${ $not($child.data.busy = 'yes') }\n      updateStrategy",
    );
    const { world, resource } = await worldOf(body);
    const before = mapOf(world);
    world.edit(before, { data: { text: 'one', busy: 'yes' } });
    world.edit(resource, { spec: { text: 'two' } });
    await world.settle();
    assert.equal(mapOf(world).metadata.uid, before.metadata.uid);
    assert.equal(
      world.ready('a'),
      'False Waiting: map "map": Replacement on hold: kept until "deleteWhen" is true',
    );
    world.edit(mapOf(world), { data: { text: 'one', busy: 'no' } });
    await world.settle();
    assert.notEqual(mapOf(world).metadata.uid, before.metadata.uid);
    assert.deepEqual(mapOf(world).data, { text: 'two' });
  });

  test('a password goes over to the object that takes the place of the old one', async () => {
    const body = mapWith(
      'Recreate',
      ', password: "${ observed.map.data.password ?? $randomString(9) }"',
    ).replace('name: map }', 'name: map, finalizers: [example.com/stay] }');
    const { world, resource } = await worldOf(body);
    const passwordOf = () => (mapOf(world).data as { password: string }).password;
    const first = passwordOf();
    world.edit(resource, { spec: { text: 'two' } });
    await world.settle();
    const old = mapOf(world);
    world.edit(old, { metadata: { ...old.metadata, finalizers: [] } });
    await world.settle();
    assert.notEqual(mapOf(world).metadata.uid, old.metadata.uid);
    assert.equal(passwordOf(), first);
  });
});

describe('reconcile/child OnDelete', () => {
  test('what is there is left alone, anyone who changes it or its template; what is deleted is created again', async () => {
    const { world, resource } = await worldOf(mapWith('OnDelete'));
    world.edit(mapOf(world), { data: { text: 'meddled' } });
    world.edit(resource, { spec: { text: 'two' } });
    await world.settle();
    assert.deepEqual(mapOf(world).data, { text: 'meddled' });
    assert.deepEqual(world.cluster.takeWrites(), ['status PodSet/a']);
    world.remove(mapOf(world));
    await world.settle();
    assert.deepEqual(mapOf(world).data, { text: 'two' });
    assert.match(world.ready('a'), /^True/);
  });

  test('a random value is made once', async () => {
    const { world, resource } = await worldOf(
      mapWith('OnDelete', ', random: "${ $randomString(9) }"'),
    );
    const { data } = mapOf(world);
    world.edit(resource, { spec: { text: 'two' } });
    await world.settle();
    assert.deepEqual(mapOf(world).data, data);
  });

  test('an object that has lost our label is left alone too, and followed all the same', async () => {
    const { world } = await worldOf(mapWith('OnDelete'));
    const { metadata, ...rest } = mapOf(world);
    world.cluster.server.put({ ...rest, metadata: { ...metadata, labels: {} } } as KubeObject);
    await world.settle();
    world.cluster.takeWrites();
    await world.runOne(key);
    assert.deepEqual(world.cluster.requests, []);
    world.remove(mapOf(world));
    await world.settle();
    assert.ok(mapOf(world).metadata.labels);
  });

  describe('an object that was there before us', () => {
    const body = (more = '') => `
  children:
    - id: map
      adopt: IfUnowned
      updateStrategy: { type: Recreate }${more}
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: map }
        data: { ours: "\${ spec.text }" }`;
    const theirs: KubeObject = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'map', namespace: 'default' },
      data: { theirs: 'kept' },
    };
    const refuseChanges = (world: OperatorWorld) => {
      world.cluster.fault = ({ verb, kind, manifest }) =>
        verb === 'apply' && kind === 'ConfigMap' && manifest?.metadata.uid !== undefined
          ? immutable
          : undefined;
    };

    for (const more of ['', '\n      deletionPolicy: Delete']) {
      test(`is not deleted because it cannot be taken over${more && ', whatever becomes of it later'}`, async () => {
        const world = new OperatorWorld(planOfPodSet(body(more)));
        world.cluster.server.put(theirs);
        const before = mapOf(world);
        refuseChanges(world);
        await world.start();
        world.podSet('a', { text: 'one' });
        await world.settle();
        assert.deepEqual(mapOf(world), before);
        assert.match(world.ready('a'), /data cannot be changed on an existing object/);
      });
    }

    test('is changed in place when the intent changes, and stays when that is rejected', async () => {
      const world = new OperatorWorld(planOfPodSet(body()));
      world.cluster.server.put(theirs);
      const { uid } = mapOf(world).metadata;
      await world.start();
      const resource = world.podSet('a', { text: 'one' });
      await world.settle();
      world.edit(resource, { spec: { text: 'two' } });
      await world.settle();
      assert.equal(mapOf(world).metadata.uid, uid);
      assert.deepEqual(mapOf(world).data, { ours: 'two', theirs: 'kept' });
      refuseChanges(world);
      world.edit(resource, { spec: { text: 'three' } });
      await world.settle();
      assert.deepEqual(mapOf(world).data, { ours: 'two', theirs: 'kept' });
      assert.match(world.ready('a'), /data cannot be changed on an existing object/);
    });

    test('what was made in its place is created again as ever', async () => {
      const world = new OperatorWorld(planOfPodSet(body()));
      await world.start();
      const resource = world.podSet('a', { text: 'one' });
      await world.settle();
      const { uid } = mapOf(world).metadata;
      world.edit(resource, { spec: { text: 'two' } });
      await world.settle();
      assert.notEqual(mapOf(world).metadata.uid, uid);
    });
  });
});
