import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';
import { planOfPodSet } from '../../../../test/support/podset-text.ts';

async function harnessOf(body: string): Promise<OperatorHarness> {
  const harness = new OperatorHarness(planOfPodSet(body));
  await harness.start();
  return harness;
}

const specOf = (object: KubeObject | undefined) =>
  object?.spec as Readonly<Record<string, unknown>> | undefined;
const dataOf = (object: KubeObject | undefined) =>
  object?.data as Readonly<Record<string, unknown>> | undefined;
const podSet = (harness: OperatorHarness) => harness.get('apps.example.com/v1', 'PodSet', 'one');
const config = (harness: OperatorHarness, name = 'target') => harness.get('v1', 'ConfigMap', name);

function configMap(harness: OperatorHarness, data: unknown, name = 'target'): KubeObject {
  const metadata = { name, namespace: 'default' };
  return harness.cluster.server.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data }).object;
}

const complete = `
  patches:
    - id: complete
      when: \${ spec.status = "creating" and $not(spec.hold = true) }
      patch: { spec: { status: complete } }
`;

const other = (more = '') => `
  patches:
    - id: note
      target: { apiVersion: v1, kind: ConfigMap, name: target }
      patch: { data: { size: "\${ $string(spec.size) }" } }
${more}`;

describe('reconcile/patch of the resource itself', () => {
  test('sets the field once, by its own manager, and settles', async () => {
    const harness = await harnessOf(complete);
    harness.podSet('one', { status: 'creating' });
    await harness.settle();
    assert.equal(specOf(podSet(harness))?.status, 'complete');
    assert.deepEqual(
      harness.cluster.takeWrites().filter((write) => write.startsWith('apply')),
      ['apply PodSet/one'],
    );
    assert.match(harness.ready('one'), /^True AllReady/);
    await harness.runOne('default/one');
    assert.deepEqual(harness.cluster.takeWrites(), []);
    const lines = harness.log.filter(({ msg, level }) => msg === 'Reconciled' && level === 'info');
    assert.deepEqual(
      lines.map(({ patched }) => patched),
      [1],
    );
  });

  test('is not withdrawn when `when` turns false, and is sent again when it is true again', async () => {
    const harness = await harnessOf(complete);
    const one = harness.podSet('one', { status: 'creating' });
    await harness.settle();
    harness.edit(one, { spec: { status: 'creating', hold: true } });
    await harness.settle();
    assert.equal(specOf(podSet(harness))?.status, 'creating');
    harness.edit(one, { spec: { status: 'creating' } });
    await harness.settle();
    assert.equal(specOf(podSet(harness))?.status, 'complete');
  });

  test('what a user changes while the pass runs is not patched over unseen', async () => {
    const harness = await harnessOf(complete);
    const one = harness.podSet('one', { status: 'creating' });
    harness.cluster.deliver();
    let edited = false;
    harness.cluster.fault = ({ verb, kind }) => {
      if (verb !== 'apply' || kind !== 'PodSet' || edited) return undefined;
      edited = true;
      harness.edit(one, { spec: { status: 'creating', hold: true } });
      return undefined;
    };
    await harness.settle();
    assert.ok(edited);
    assert.deepEqual(specOf(podSet(harness)), { status: 'creating', hold: true });
  });

  test('one that changes the value that it reads backs off and says so with the path', async () => {
    const harness = await harnessOf(`
  patches:
    - id: count
      patch: { spec: { n: "\${ (spec.n ?? 0) + 1 }" } }
`);
    harness.podSet('one', { n: 0 });
    for (let passes = 0; passes < 30; passes++) {
      harness.cluster.deliver();
      if (harness.queued.size > 0) await harness.runOne('default/one');
    }
    await harness.clock.advance(10_000);
    await harness.runOne('default/one');
    const n = Number(specOf(podSet(harness))?.n);
    assert.ok(n >= 5 && n < 12, `n is ${n}`);
    assert.equal(
      harness.ready('one'),
      'False Unstable: Every reconcile changes spec.n, which triggers another reconcile',
    );
  });
});

describe('reconcile/patch of other objects', () => {
  test('sets only its fields, sends nothing when they are so, and puts them back', async () => {
    const harness = await harnessOf(other());
    const target = configMap(harness, { size: '1', mine: 'yes' });
    harness.podSet('one', { size: 3 });
    await harness.settle();
    assert.deepEqual(dataOf(config(harness)), { size: '3', mine: 'yes' });
    harness.cluster.takeWrites();
    await harness.runOne('default/one');
    assert.deepEqual(harness.cluster.takeWrites(), []);
    harness.edit(target, { data: { size: '9', mine: 'no' } });
    await harness.settle();
    assert.deepEqual(dataOf(config(harness)), { size: '3', mine: 'no' });
  });

  test('is not sent after a restart when it is so', async () => {
    const harness = await harnessOf(other());
    configMap(harness, {});
    harness.podSet('one', { size: 3 });
    await harness.settle();
    harness.cluster.takeWrites();
    await harness.restart(planOfPodSet(other()));
    await harness.settle();
    assert.deepEqual(harness.cluster.takeWrites(), []);
  });

  test('a change of what it does not set enqueues nothing', async () => {
    const harness = await harnessOf(other());
    const target = configMap(harness, { size: '3' });
    harness.podSet('one', { size: 3 });
    await harness.settle();
    const before = harness.passes.length;
    harness.edit(target, { data: { size: '3', other: 'x' } });
    await harness.settle();
    assert.equal(harness.passes.length, before);
  });

  test('waits for a target that does not exist, and continues when it comes', async () => {
    const harness = await harnessOf(other());
    harness.podSet('one', { size: 3 });
    await harness.settle();
    assert.equal(config(harness), undefined);
    assert.equal(
      harness.ready('one'),
      'False Waiting: patches.note: Waiting for ConfigMap "target", which does not exist',
    );
    configMap(harness, {});
    await harness.settle();
    assert.deepEqual(dataOf(config(harness)), { size: '3' });
    assert.match(harness.ready('one'), /^True AllReady/);
  });

  test('`create` makes it, and leaves it when the resource is deleted', async () => {
    const harness = await harnessOf(other('      create: true\n'));
    const one = harness.podSet('one', { size: 3 });
    await harness.settle();
    assert.deepEqual(dataOf(config(harness)), { size: '3' });
    assert.deepEqual(config(harness)?.metadata.labels, undefined);
    harness.remove(one);
    await harness.settle();
    assert.ok(config(harness));
  });

  test('one that was made at the same moment is patched, not rejected', async () => {
    const harness = await harnessOf(other('      create: true\n'));
    harness.podSet('one', { size: 3 });
    harness.cluster.deliver();
    let made = false;
    harness.cluster.fault = ({ verb, kind }) => {
      if (verb === 'apply' && kind === 'ConfigMap' && !made) {
        made = true;
        configMap(harness, { mine: 'yes' });
      }
      return undefined;
    };
    await harness.settle();
    assert.deepEqual(dataOf(config(harness)), { size: '3', mine: 'yes' });
  });

  test('several resources patch one object, each with fields of its own', async () => {
    const harness = await harnessOf(`
  patches:
    - id: note
      target: { apiVersion: v1, kind: ConfigMap, name: target }
      patch: { data: { "\${ metadata.name }": "\${ $string(spec.size) }" } }
`);
    configMap(harness, {});
    harness.podSet('one', { size: 1 });
    const two = harness.podSet('two', { size: 2 });
    await harness.settle();
    assert.deepEqual(dataOf(config(harness)), { one: '1', two: '2' });
    harness.edit(two, { spec: { size: 3 } });
    await harness.settle();
    assert.deepEqual(dataOf(config(harness)), { one: '1', two: '3' });
  });

  test('another namespace needs crossNamespace', async () => {
    const harness = await harnessOf(`
  patches:
    - id: note
      target: { apiVersion: v1, kind: ConfigMap, name: target, namespace: "\${ spec.where }" }
      crossNamespace: { namespaces: [team-*] }
      create: true
      patch: { data: { a: b } }
`);
    harness.podSet('one', { where: 'kube-system' });
    await harness.settle();
    assert.match(harness.ready('one'), /^False RenderFailed: patches.note: .*kube-system/);
    assert.equal(harness.names('v1', 'ConfigMap').length, 0);
  });

  test('a missing right is reported exactly', async () => {
    const harness = await harnessOf(other());
    configMap(harness, {});
    const right = { verb: 'patch', group: '', resource: 'configmaps', namespace: 'default' };
    harness.cluster.fault = ({ verb, kind }) =>
      verb === 'apply' && kind === 'ConfigMap'
        ? new KubeError('forbidden', 'no', { status: 403, right })
        : undefined;
    harness.podSet('one', { size: 1 });
    await harness.settle();
    assert.match(
      harness.ready('one'),
      /^False Forbidden: patches.note: The runtime is not allowed to patch configmaps in namespace "default"/,
    );
    const rejected = harness.cluster.requests.filter(({ kind }) => kind === 'ConfigMap').length;
    await harness.runOne('default/one');
    assert.equal(
      harness.cluster.requests.filter(({ kind }) => kind === 'ConfigMap').length,
      rejected,
    );
  });

  test('a field that another manager takes back and forth is left to them for a while', async () => {
    const harness = await harnessOf(other());
    const target = configMap(harness, {});
    harness.podSet('one', { size: 3 });
    await harness.settle();
    for (let round = 0; round < 8; round++) {
      harness.edit(target, { data: { size: '9' } });
      await harness.settle();
      await harness.clock.advance(1_000);
    }
    assert.match(
      harness.ready('one'),
      /^False Contested: patches.note: "homeostat\/podset\/note\/[0-9a-f]{10}" and/,
    );
    assert.deepEqual(dataOf(config(harness)), { size: '9' });
  });
});
