import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { deletionPolicyAnnotation, managedByLabel, ownerUidLabel } from '#util/stored-names.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';
import { planOfPodSet } from '../../../../test/support/podset-text.ts';

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

async function harnessWith(object: KubeObject, text = body()): Promise<OperatorHarness> {
  const harness = new OperatorHarness(planOfPodSet(text));
  harness.cluster.server.put(object);
  await harness.start();
  return harness;
}

function mapOf(harness: OperatorHarness): KubeObject {
  const map = harness.get('v1', 'ConfigMap', 'map');
  assert.ok(map);
  return map;
}

describe('reconcile/child adopt: IfUnowned', () => {
  test('an object without an owner is taken over, with what others have in it', async () => {
    const harness = await harnessWith(theirs);
    const before = mapOf(harness).metadata.uid;
    harness.podSet('a', { text: 'one' });
    await harness.settle();
    const { metadata, data } = mapOf(harness);
    assert.equal(metadata.uid, before);
    assert.deepEqual(data, { ours: 'one', theirs: 'kept' });
    assert.equal(metadata.labels?.team, 'x');
    assert.equal(metadata.labels?.[managedByLabel], 'homeostat');
    assert.equal(metadata.annotations?.[deletionPolicyAnnotation], 'Orphan');
    assert.match(harness.ready('a'), /^True/);
    harness.cluster.takeWrites();
    await harness.runOne(key);
    await harness.restart(planOfPodSet(body()));
    await harness.settle();
    assert.deepEqual(harness.cluster.requests, []);
  });

  test('a missing right to take it over is Forbidden, with the rule, until it is granted', async () => {
    const harness = await harnessWith(theirs);
    const right = { verb: 'patch', group: '', resource: 'configmaps', namespace: 'default' };
    harness.cluster.fault = ({ verb, kind, manifest }) =>
      verb === 'apply' && kind === 'ConfigMap' && manifest?.metadata.uid !== undefined
        ? new KubeError('forbidden', 'no', { status: 403, right })
        : undefined;
    harness.podSet('a', { text: 'one' });
    await harness.settle();
    assert.match(
      harness.ready('a'),
      /^False Forbidden: map "map": .*grant the rule .*"configmaps"/,
    );
    assert.deepEqual(mapOf(harness), { ...theirs, metadata: mapOf(harness).metadata });
    harness.cluster.fault = () => undefined;
    harness.cluster.rights.grant();
    await harness.settle();
    assert.match(harness.ready('a'), /^True/);
    assert.deepEqual(mapOf(harness).data, { ours: 'one', theirs: 'kept' });
  });

  test('it follows the intent, and what a user changes of ours is reverted', async () => {
    const harness = await harnessWith(theirs);
    const resource = harness.podSet('a', { text: 'one' });
    await harness.settle();
    harness.edit(resource, { spec: { text: 'two' } });
    await harness.settle();
    assert.deepEqual(mapOf(harness).data, { ours: 'two', theirs: 'kept' });
    harness.edit(mapOf(harness), { data: { ours: 'meddled', theirs: 'kept' } });
    await harness.settle();
    assert.deepEqual(mapOf(harness).data, { ours: 'two', theirs: 'kept' });
    assert.equal(mapOf(harness).metadata.annotations?.[deletionPolicyAnnotation], 'Orphan');
  });

  test('when it is not wanted any more it stays, and nothing says that it was ours', async () => {
    const harness = await harnessWith(theirs);
    const resource = harness.podSet('a', { text: 'one' });
    await harness.settle();
    harness.edit(resource, { spec: { text: 'one', wanted: false } });
    await harness.settle();
    assert.doesNotMatch(JSON.stringify(mapOf(harness).metadata), /homeostat/);
    // Wanted again, it is taken over again.
    harness.edit(resource, { spec: { text: 'two' } });
    await harness.settle();
    assert.deepEqual(mapOf(harness).data, { ours: 'two', theirs: 'kept' });
  });

  test('what we have made ourselves is deleted with the child', async () => {
    const harness = new OperatorHarness(planOfPodSet(body()));
    await harness.start();
    const resource = harness.podSet('a', { text: 'one' });
    await harness.settle();
    assert.equal(mapOf(harness).metadata.annotations?.[deletionPolicyAnnotation], undefined);
    harness.edit(resource, { spec: { text: 'one', wanted: false } });
    await harness.settle();
    assert.deepEqual(harness.names('v1', 'ConfigMap'), []);
  });

  test('with `deletionPolicy: Delete` written it is deleted like any other', async () => {
    const text = body('deletionPolicy: Delete');
    const harness = await harnessWith(theirs, text);
    const resource = harness.podSet('a', { text: 'one' });
    await harness.settle();
    assert.equal(mapOf(harness).metadata.ownerReferences?.[0]?.uid, resource.metadata.uid);
    harness.edit(resource, { spec: { text: 'one', wanted: false } });
    await harness.settle();
    assert.deepEqual(harness.names('v1', 'ConfigMap'), []);
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
      const harness = await harnessWith(object);
      if (metadata.finalizers !== undefined) harness.remove(object);
      const before = mapOf(harness);
      harness.podSet('a', { text: 'one' });
      await harness.settle();
      assert.deepEqual(mapOf(harness), before);
      assert.match(harness.ready('a'), /^False (?:Conflict|Waiting)/);
    });
  }

  test("another resource's child is left alone, and taken over when that resource is gone", async () => {
    const harness = new OperatorHarness(planOfPodSet(body()));
    await harness.start();
    const first = harness.podSet('a', { text: 'first' });
    await harness.settle();
    harness.podSet('b', { text: 'second' });
    await harness.settle();
    assert.deepEqual(mapOf(harness).data, { ours: 'first' });
    assert.match(harness.ready('b'), /^False Conflict/);
    // Left behind by somebody who took our finalizer off.
    harness.cluster.server.put({ ...first, metadata: { ...first.metadata, finalizers: [] } });
    harness.remove(first);
    await harness.settle();
    await harness.clock.advance(600_000);
    await harness.runOne('default/b');
    assert.equal(
      mapOf(harness).metadata.labels?.[ownerUidLabel],
      harness.get('apps.example.com/v1', 'PodSet', 'b')?.metadata.uid,
    );
    assert.deepEqual(mapOf(harness).data, { ours: 'second' });
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
    const harness = await harnessWith(
      theirs,
      body('after: [first]').replace('\n  children:', first),
    );
    const before = mapOf(harness);
    const resource = harness.podSet('a', { text: 'one', go: 'no' });
    await harness.settle();
    assert.deepEqual(mapOf(harness), before);
    harness.edit(resource, { spec: { text: 'one', go: 'yes' } });
    await harness.settle();
    assert.deepEqual(mapOf(harness).data, { ours: 'one', theirs: 'kept' });
  });

  test('a password that is there already is not created again', async () => {
    const data = ', password: "${ observed.map.data.password ?? $randomString(9) }"';
    const harness = await harnessWith({ ...theirs, data: { password: 'theirs' } }, body('', data));
    harness.podSet('a', { text: 'one' });
    await harness.settle();
    assert.deepEqual(mapOf(harness).data, { ours: 'one', password: 'theirs' });
  });

  test('with OnDelete it is taken over once, and left alone from then on', async () => {
    const harness = await harnessWith(theirs, body('updateStrategy: { type: OnDelete }'));
    const resource = harness.podSet('a', { text: 'one' });
    await harness.settle();
    harness.edit(resource, { spec: { text: 'two' } });
    await harness.settle();
    assert.deepEqual(mapOf(harness).data, { ours: 'one', theirs: 'kept' });
  });

  test('with Recreate it is changed in place, also when the intent changes: it was not ours to begin with', async () => {
    const harness = await harnessWith(theirs, body('updateStrategy: { type: Recreate }'));
    const resource = harness.podSet('a', { text: 'one' });
    await harness.settle();
    assert.deepEqual(mapOf(harness).data, { ours: 'one', theirs: 'kept' });
    harness.edit(resource, { spec: { text: 'two' } });
    await harness.settle();
    assert.deepEqual(mapOf(harness).data, { ours: 'two', theirs: 'kept' });
  });

  test('with Recreate and "deletionPolicy: Delete" it is like what we made ourselves', async () => {
    const fields = 'updateStrategy: { type: Recreate }\n      deletionPolicy: Delete';
    const harness = await harnessWith(theirs, body(fields));
    const resource = harness.podSet('a', { text: 'one' });
    await harness.settle();
    assert.deepEqual(mapOf(harness).data, { ours: 'one', theirs: 'kept' });
    harness.edit(resource, { spec: { text: 'two' } });
    await harness.settle();
    assert.deepEqual(mapOf(harness).data, { ours: 'two' });
  });
});
