import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { intentAnnotation } from '#util/stored-names.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';
import { planOfPodSet } from '../../../../test/support/podset-text.ts';

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

async function harnessOf(
  body: string,
): Promise<{ harness: OperatorHarness; resource: KubeObject }> {
  const harness = new OperatorHarness(planOfPodSet(body));
  await harness.start();
  const resource = harness.podSet('a', { text: 'one' });
  await harness.settle();
  harness.cluster.takeWrites();
  return { harness, resource };
}

function mapOf(harness: OperatorHarness): KubeObject {
  const map = harness.get('v1', 'ConfigMap', 'map');
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

describe('reconcile/child RecreateIfImmutable', () => {
  test('a change that the server accepts is applied in place, an immutable one creates the object again', async () => {
    const body = mapWith('RecreateIfImmutable, cascade: Orphan');
    const { harness, resource } = await harnessOf(body);
    const before = mapOf(harness).metadata.uid;
    harness.edit(resource, { spec: { text: 'two' } });
    await harness.settle();
    assert.equal(mapOf(harness).metadata.uid, before);
    assert.deepEqual(mapOf(harness).data, { text: 'two' });
    harness.cluster.fault = ({ verb, manifest }) =>
      verb === 'apply' && manifest?.metadata.uid !== undefined ? immutable : undefined;
    harness.cluster.takeWrites();
    harness.edit(resource, { spec: { text: 'three' } });
    await harness.settle();
    assert.notEqual(mapOf(harness).metadata.uid, before);
    assert.deepEqual(mapOf(harness).data, { text: 'three' });
    assert.equal(harness.cluster.propagations.get('map'), 'Orphan');
    harness.cluster.fault = () => undefined;
    await harness.restart(planOfPodSet(body));
    await harness.settle();
    assert.deepEqual(harness.cluster.takeWrites().slice(-1), ['status PodSet/a']);
  });

  test('with Apply, the rejection is reported', async () => {
    const { harness, resource } = await harnessOf(mapWith('Apply'));
    const before = mapOf(harness).metadata.uid;
    harness.cluster.fault = ({ verb, manifest }) =>
      verb === 'apply' && manifest?.metadata.uid !== undefined ? immutable : undefined;
    harness.edit(resource, { spec: { text: 'two' } });
    await harness.settle();
    assert.equal(mapOf(harness).metadata.uid, before);
    assert.match(harness.ready('a'), /field is immutable/);
  });
});

describe('reconcile/child Recreate', () => {
  test('a changed intent creates the object again, in one pass', async () => {
    const { harness, resource } = await harnessOf(mapWith('Recreate'));
    const before = mapOf(harness).metadata.uid;
    harness.edit(resource, { spec: { text: 'two' } });
    await harness.settle();
    assert.notEqual(mapOf(harness).metadata.uid, before);
    assert.deepEqual(mapOf(harness).data, { text: 'two' });
    assert.deepEqual(harness.cluster.takeWrites(), [
      'delete ConfigMap/map',
      'apply ConfigMap/map',
      'status PodSet/a',
    ]);
    await harness.runOne(key);
    await harness.restart(planOfPodSet(mapWith('Recreate')));
    await harness.settle();
    assert.deepEqual(harness.cluster.requests, []);
  });

  test('a field that left the intent creates it again too', async () => {
    const { harness, resource } = await harnessOf(mapWith('Recreate', ', more: "${? spec.more }"'));
    harness.edit(resource, { spec: { text: 'one', more: 'x' } });
    await harness.settle();
    const before = mapOf(harness).metadata.uid;
    harness.edit(resource, { spec: { text: 'one' } });
    await harness.settle();
    assert.notEqual(mapOf(harness).metadata.uid, before);
    assert.deepEqual(mapOf(harness).data, { text: 'one' });
  });

  test('what a user changed of ours is reverted, and fields of others are left alone', async () => {
    const { harness } = await harnessOf(mapWith('Recreate'));
    const before = mapOf(harness);
    harness.edit(before, { data: { text: 'meddled', theirs: 'kept' } });
    await harness.settle();
    assert.equal(mapOf(harness).metadata.uid, before.metadata.uid);
    assert.deepEqual(mapOf(harness).data, { text: 'one', theirs: 'kept' });
    assert.deepEqual(harness.cluster.takeWrites(), ['apply ConfigMap/map']);
  });

  test('drift that was there before a restart is reverted, not created again', async () => {
    const { harness } = await harnessOf(mapWith('Recreate'));
    const before = mapOf(harness);
    harness.operator.stop();
    harness.edit(before, { data: { text: 'meddled' } });
    await harness.restart(planOfPodSet(mapWith('Recreate')));
    await harness.settle();
    assert.equal(mapOf(harness).metadata.uid, before.metadata.uid);
    assert.deepEqual(mapOf(harness).data, { text: 'one' });
  });

  test('an object that does not say what it was made of is changed in place', async () => {
    const { harness, resource } = await harnessOf(mapWith('Apply'));
    const before = mapOf(harness).metadata.uid;
    harness.operator.stop();
    harness.edit(resource, { spec: { text: 'two' } });
    await harness.restart(planOfPodSet(mapWith('Recreate')));
    await harness.settle();
    assert.equal(mapOf(harness).metadata.uid, before);
    assert.ok(mapOf(harness).metadata.annotations?.[intentAnnotation]);
    harness.edit(resource, { spec: { text: 'three' } });
    await harness.settle();
    assert.notEqual(mapOf(harness).metadata.uid, before);
  });

  test('while the old object is being deleted that is reported; then it is made', async () => {
    const body = mapWith('Recreate').replace(
      'name: map }',
      'name: map, finalizers: [example.com/stay] }',
    );
    const { harness, resource } = await harnessOf(body);
    harness.edit(resource, { spec: { text: 'two' } });
    await harness.settle();
    assert.equal(harness.ready('a'), 'False Waiting: map "map": ConfigMap "map" is being deleted');
    const old = mapOf(harness);
    harness.edit(old, { metadata: { ...old.metadata, finalizers: [] } });
    await harness.settle();
    assert.notEqual(mapOf(harness).metadata.uid, old.metadata.uid);
    assert.deepEqual(mapOf(harness).data, { text: 'two' });
    assert.match(harness.ready('a'), /^True/);
  });

  test('drift of a field that cannot be changed creates the object again, once in ten minutes for one intent', async () => {
    const { harness } = await harnessOf(mapWith('Recreate'));
    const reject = () => {
      harness.cluster.fault = ({ verb, manifest }) =>
        verb === 'apply' && manifest?.metadata.uid !== undefined ? immutable : undefined;
    };
    const meddle = () => harness.edit(mapOf(harness), { data: { text: 'meddled' } });
    // It was made of this intent a moment ago.
    reject();
    meddle();
    await harness.settle();
    assert.deepEqual(harness.cluster.takeWrites(), ['apply ConfigMap/map', 'status PodSet/a']);
    assert.match(
      harness.ready('a'),
      /ApplyFailed: map "map": data: field is immutable; revert the change/,
    );
    await harness.clock.advance(600_000);
    await harness.runOne(key);
    await harness.settle();
    assert.deepEqual(mapOf(harness).data, { text: 'one' });
    assert.deepEqual(harness.cluster.takeWrites(), [
      'apply ConfigMap/map',
      'delete ConfigMap/map',
      'apply ConfigMap/map',
      'status PodSet/a',
    ]);
    meddle();
    await harness.settle();
    assert.deepEqual(harness.cluster.takeWrites(), ['apply ConfigMap/map', 'status PodSet/a']);
  });

  test('a Secret says nothing of its values, and is replaced only where it cannot be changed', async () => {
    const body = mapWith('Recreate').replace('kind: ConfigMap', 'kind: Secret');
    const { harness, resource } = await harnessOf(body);
    const secret = () => harness.get('v1', 'Secret', 'map');
    assert.equal(secret()?.metadata.annotations?.[intentAnnotation], undefined);
    const before = secret()?.metadata.uid;
    harness.edit(resource, { spec: { text: 'dHdv' } });
    await harness.settle();
    assert.equal(secret()?.metadata.uid, before);
    harness.cluster.fault = ({ verb, manifest }) =>
      verb === 'apply' && manifest?.metadata.uid !== undefined ? immutable : undefined;
    harness.edit(resource, { spec: { text: 'dGhyZWU=' } });
    await harness.settle();
    assert.notEqual(secret()?.metadata.uid, before);
    assert.deepEqual(secret()?.data, { text: 'dGhyZWU=' });
  });

  test('an object that may not go is kept, and created again when it may', async () => {
    const body = mapWith('Recreate').replace(
      'updateStrategy',
      "deleteWhen: ${ $not($child.data.busy = 'yes') }\n      updateStrategy",
    );
    const { harness, resource } = await harnessOf(body);
    const before = mapOf(harness);
    harness.edit(before, { data: { text: 'one', busy: 'yes' } });
    harness.edit(resource, { spec: { text: 'two' } });
    await harness.settle();
    assert.equal(mapOf(harness).metadata.uid, before.metadata.uid);
    assert.equal(
      harness.ready('a'),
      'False Waiting: map "map": Replacement on hold: kept until "deleteWhen" is true',
    );
    harness.edit(mapOf(harness), { data: { text: 'one', busy: 'no' } });
    await harness.settle();
    assert.notEqual(mapOf(harness).metadata.uid, before.metadata.uid);
    assert.deepEqual(mapOf(harness).data, { text: 'two' });
  });

  test('drift of an object that may not be replaced is reverted meanwhile', async () => {
    const body = mapWith('Recreate', ', note: "${ reads.note.data.a }"').replace(
      '  children:',
      '  reads: [{ id: note, apiVersion: v1, kind: ConfigMap, name: note }]\n  children:',
    );
    const held = body.replace(
      'updateStrategy',
      'deleteWhen: ${ spec.mayGo }\n      updateStrategy',
    );
    const harness = new OperatorHarness(planOfPodSet(held));
    const metadata = { name: 'note', namespace: 'default' };
    harness.cluster.server.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'b' } });
    await harness.start();
    const resource = harness.podSet('a', { text: 'one', mayGo: false });
    await harness.settle();
    harness.edit(resource, { spec: { text: 'two', mayGo: false } });
    await harness.settle();
    harness.edit(mapOf(harness), { data: { text: 'drift', note: 'b' } });
    await harness.settle();
    assert.deepEqual(mapOf(harness).data, { text: 'one', note: 'b' });
    assert.match(harness.ready('a'), /Replacement on hold: kept until "deleteWhen" is true/);
  });

  test('a password is kept by the object that takes the place of the old one', async () => {
    const body = mapWith(
      'Recreate',
      ', password: "${ observed.map.data.password ?? $randomString(9) }"',
    ).replace('name: map }', 'name: map, finalizers: [example.com/stay] }');
    const { harness, resource } = await harnessOf(body);
    const passwordOf = () => (mapOf(harness).data as { password: string }).password;
    const first = passwordOf();
    harness.edit(resource, { spec: { text: 'two' } });
    await harness.settle();
    const old = mapOf(harness);
    harness.edit(old, { metadata: { ...old.metadata, finalizers: [] } });
    await harness.settle();
    assert.notEqual(mapOf(harness).metadata.uid, old.metadata.uid);
    assert.equal(passwordOf(), first);
  });
});

describe('reconcile/child OnDelete', () => {
  test('what is there is left alone, anyone who changes it or its template; what is deleted is created again', async () => {
    const { harness, resource } = await harnessOf(mapWith('OnDelete'));
    harness.edit(mapOf(harness), { data: { text: 'meddled' } });
    harness.edit(resource, { spec: { text: 'two' } });
    await harness.settle();
    assert.deepEqual(mapOf(harness).data, { text: 'meddled' });
    assert.deepEqual(harness.cluster.takeWrites(), ['status PodSet/a']);
    harness.remove(mapOf(harness));
    await harness.settle();
    assert.deepEqual(mapOf(harness).data, { text: 'two' });
    assert.match(harness.ready('a'), /^True/);
  });

  test('a random value is made once', async () => {
    const { harness, resource } = await harnessOf(
      mapWith('OnDelete', ', random: "${ $randomString(9) }"'),
    );
    const { data } = mapOf(harness);
    harness.edit(resource, { spec: { text: 'two' } });
    await harness.settle();
    assert.deepEqual(mapOf(harness).data, data);
  });

  test('an object that has lost our label is left alone too, and followed all the same', async () => {
    const { harness } = await harnessOf(mapWith('OnDelete'));
    const { metadata, ...rest } = mapOf(harness);
    harness.cluster.server.put({ ...rest, metadata: { ...metadata, labels: {} } } as KubeObject);
    await harness.settle();
    harness.cluster.takeWrites();
    await harness.runOne(key);
    assert.deepEqual(harness.cluster.requests, []);
    harness.remove(mapOf(harness));
    await harness.settle();
    assert.ok(mapOf(harness).metadata.labels);
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
    const rejectChanges = (harness: OperatorHarness) => {
      harness.cluster.fault = ({ verb, kind, manifest }) =>
        verb === 'apply' && kind === 'ConfigMap' && manifest?.metadata.uid !== undefined
          ? immutable
          : undefined;
    };

    for (const more of ['', '\n      deletionPolicy: Delete']) {
      test(`is not deleted because it cannot be taken over${more && ', whatever becomes of it later'}`, async () => {
        const harness = new OperatorHarness(planOfPodSet(body(more)));
        harness.cluster.server.put(theirs);
        const before = mapOf(harness);
        rejectChanges(harness);
        await harness.start();
        harness.podSet('a', { text: 'one' });
        await harness.settle();
        assert.deepEqual(mapOf(harness), before);
        assert.match(harness.ready('a'), /data: field is immutable; revert the change/);
      });
    }

    test('is changed in place when the intent changes, and stays when that is rejected', async () => {
      const harness = new OperatorHarness(planOfPodSet(body()));
      harness.cluster.server.put(theirs);
      const { uid } = mapOf(harness).metadata;
      await harness.start();
      const resource = harness.podSet('a', { text: 'one' });
      await harness.settle();
      harness.edit(resource, { spec: { text: 'two' } });
      await harness.settle();
      assert.equal(mapOf(harness).metadata.uid, uid);
      assert.deepEqual(mapOf(harness).data, { ours: 'two', theirs: 'kept' });
      rejectChanges(harness);
      harness.edit(resource, { spec: { text: 'three' } });
      await harness.settle();
      assert.deepEqual(mapOf(harness).data, { ours: 'two', theirs: 'kept' });
      assert.match(harness.ready('a'), /data: field is immutable; revert the change/);
    });

    test('what was made in its place is created again as ever', async () => {
      const harness = new OperatorHarness(planOfPodSet(body()));
      await harness.start();
      const resource = harness.podSet('a', { text: 'one' });
      await harness.settle();
      const { uid } = mapOf(harness).metadata;
      harness.edit(resource, { spec: { text: 'two' } });
      await harness.settle();
      assert.notEqual(mapOf(harness).metadata.uid, uid);
    });
  });
});
