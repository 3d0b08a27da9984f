import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OperatorWorld } from '../../../test/support/fakes/operator-world.ts';
import { planOfPodSet } from '../../../test/support/podset-text.ts';
import { KubeError } from '../../kube/roles.ts';
import type { KubeObject } from '../../util/kube-object.ts';

async function worldOf(body: string): Promise<OperatorWorld> {
  const world = new OperatorWorld(planOfPodSet(body));
  await world.start();
  return world;
}

const specOf = (object: KubeObject | undefined) =>
  object?.spec as Readonly<Record<string, unknown>> | undefined;
const dataOf = (object: KubeObject | undefined) =>
  object?.data as Readonly<Record<string, unknown>> | undefined;
const podSet = (world: OperatorWorld) => world.get('apps.example.com/v1', 'PodSet', 'one');
const config = (world: OperatorWorld, name = 'target') => world.get('v1', 'ConfigMap', name);

function configMap(world: OperatorWorld, data: unknown, name = 'target'): KubeObject {
  const metadata = { name, namespace: 'default' };
  return world.cluster.server.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data }).object;
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
    const world = await worldOf(complete);
    world.podSet('one', { status: 'creating' });
    await world.settle();
    assert.equal(specOf(podSet(world))?.status, 'complete');
    assert.deepEqual(
      world.cluster.takeWrites().filter((write) => write.startsWith('apply')),
      ['apply PodSet/one'],
    );
    assert.match(world.ready('one'), /^True AllReady/);
    await world.runOne('default/one');
    assert.deepEqual(world.cluster.takeWrites(), []);
    const lines = world.log.filter(({ msg, level }) => msg === 'Reconciled' && level === 'info');
    assert.deepEqual(
      lines.map(({ patched }) => patched),
      [1],
    );
  });

  test('is not withdrawn when `when` turns false, and is sent again when it is true again', async () => {
    const world = await worldOf(complete);
    const one = world.podSet('one', { status: 'creating' });
    await world.settle();
    world.edit(one, { spec: { status: 'creating', hold: true } });
    await world.settle();
    assert.equal(specOf(podSet(world))?.status, 'creating');
    world.edit(one, { spec: { status: 'creating' } });
    await world.settle();
    assert.equal(specOf(podSet(world))?.status, 'complete');
  });

  test('what a user changes while the pass runs is not patched over unseen', async () => {
    const world = await worldOf(complete);
    const one = world.podSet('one', { status: 'creating' });
    world.cluster.deliver();
    let edited = false;
    world.cluster.fault = ({ verb, kind }) => {
      if (verb !== 'apply' || kind !== 'PodSet' || edited) return undefined;
      edited = true;
      world.edit(one, { spec: { status: 'creating', hold: true } });
      return undefined;
    };
    await world.settle();
    assert.ok(edited);
    assert.deepEqual(specOf(podSet(world)), { status: 'creating', hold: true });
  });

  test('one that changes the value that it reads backs off and says so with the path', async () => {
    const world = await worldOf(`
  patches:
    - id: count
      patch: { spec: { n: "\${ (spec.n ?? 0) + 1 }" } }
`);
    world.podSet('one', { n: 0 });
    for (let passes = 0; passes < 30; passes++) {
      world.cluster.deliver();
      if (world.queued.size > 0) await world.runOne('default/one');
    }
    await world.clock.advance(10_000);
    await world.runOne('default/one');
    const n = Number(specOf(podSet(world))?.n);
    assert.ok(n >= 5 && n < 12, `n is ${n}`);
    assert.equal(
      world.ready('one'),
      'False Unstable: Every reconcile changes spec.n, which triggers another reconcile',
    );
  });
});

describe('reconcile/patch of other objects', () => {
  test('sets only its fields, sends nothing when they are so, and puts them back', async () => {
    const world = await worldOf(other());
    const target = configMap(world, { size: '1', mine: 'yes' });
    world.podSet('one', { size: 3 });
    await world.settle();
    assert.deepEqual(dataOf(config(world)), { size: '3', mine: 'yes' });
    world.cluster.takeWrites();
    await world.runOne('default/one');
    assert.deepEqual(world.cluster.takeWrites(), []);
    world.edit(target, { data: { size: '9', mine: 'no' } });
    await world.settle();
    assert.deepEqual(dataOf(config(world)), { size: '3', mine: 'no' });
  });

  test('is not sent after a restart when it is so', async () => {
    const world = await worldOf(other());
    configMap(world, {});
    world.podSet('one', { size: 3 });
    await world.settle();
    world.cluster.takeWrites();
    await world.restart(planOfPodSet(other()));
    await world.settle();
    assert.deepEqual(world.cluster.takeWrites(), []);
  });

  test('a change of what it does not set enqueues nothing', async () => {
    const world = await worldOf(other());
    const target = configMap(world, { size: '3' });
    world.podSet('one', { size: 3 });
    await world.settle();
    const before = world.passes.length;
    world.edit(target, { data: { size: '3', other: 'x' } });
    await world.settle();
    assert.equal(world.passes.length, before);
  });

  test('waits for a target that does not exist, and continues when it comes', async () => {
    const world = await worldOf(other());
    world.podSet('one', { size: 3 });
    await world.settle();
    assert.equal(config(world), undefined);
    assert.equal(
      world.ready('one'),
      'False Waiting: patches.note: Waiting for ConfigMap "target", which does not exist',
    );
    configMap(world, {});
    await world.settle();
    assert.deepEqual(dataOf(config(world)), { size: '3' });
    assert.match(world.ready('one'), /^True AllReady/);
  });

  test('`create` makes it, and leaves it when the resource goes', async () => {
    const world = await worldOf(other('      create: true\n'));
    const one = world.podSet('one', { size: 3 });
    await world.settle();
    assert.deepEqual(dataOf(config(world)), { size: '3' });
    assert.deepEqual(config(world)?.metadata.labels, undefined);
    world.remove(one);
    await world.settle();
    assert.ok(config(world));
  });

  test('one that was made at the same moment is patched, not rejected', async () => {
    const world = await worldOf(other('      create: true\n'));
    world.podSet('one', { size: 3 });
    world.cluster.deliver();
    let made = false;
    world.cluster.fault = ({ verb, kind }) => {
      if (verb === 'apply' && kind === 'ConfigMap' && !made) {
        made = true;
        configMap(world, { mine: 'yes' });
      }
      return undefined;
    };
    await world.settle();
    assert.deepEqual(dataOf(config(world)), { size: '3', mine: 'yes' });
  });

  test('several resources patch one object, each with fields of its own', async () => {
    const world = await worldOf(`
  patches:
    - id: note
      target: { apiVersion: v1, kind: ConfigMap, name: target }
      patch: { data: { "\${ metadata.name }": "\${ $string(spec.size) }" } }
`);
    configMap(world, {});
    world.podSet('one', { size: 1 });
    const two = world.podSet('two', { size: 2 });
    await world.settle();
    assert.deepEqual(dataOf(config(world)), { one: '1', two: '2' });
    world.edit(two, { spec: { size: 3 } });
    await world.settle();
    assert.deepEqual(dataOf(config(world)), { one: '1', two: '3' });
  });

  test('another namespace needs crossNamespace', async () => {
    const world = await worldOf(`
  patches:
    - id: note
      target: { apiVersion: v1, kind: ConfigMap, name: target, namespace: "\${ spec.where }" }
      crossNamespace: { namespaces: [team-*] }
      create: true
      patch: { data: { a: b } }
`);
    world.podSet('one', { where: 'kube-system' });
    await world.settle();
    assert.match(world.ready('one'), /^False RenderFailed: patches.note: .*kube-system/);
    assert.equal(world.names('v1', 'ConfigMap').length, 0);
  });

  test('a missing right is reported exactly', async () => {
    const world = await worldOf(other());
    configMap(world, {});
    const right = { verb: 'patch', group: '', resource: 'configmaps', namespace: 'default' };
    world.cluster.fault = ({ verb, kind }) =>
      verb === 'apply' && kind === 'ConfigMap'
        ? new KubeError('forbidden', 'no', { status: 403, right })
        : undefined;
    world.podSet('one', { size: 1 });
    await world.settle();
    assert.match(
      world.ready('one'),
      /^False Forbidden: patches.note: The runtime is not allowed to patch configmaps in namespace "default"/,
    );
    const refused = world.cluster.requests.filter(({ kind }) => kind === 'ConfigMap').length;
    await world.runOne('default/one');
    assert.equal(world.cluster.requests.filter(({ kind }) => kind === 'ConfigMap').length, refused);
  });

  test('a field that another manager takes back and forth is left to them for a while', async () => {
    const world = await worldOf(other());
    const target = configMap(world, {});
    world.podSet('one', { size: 3 });
    await world.settle();
    for (let round = 0; round < 8; round++) {
      world.edit(target, { data: { size: '9' } });
      await world.settle();
      await world.clock.advance(1_000);
    }
    assert.match(
      world.ready('one'),
      /^False Contested: patches.note: "homeostat\/podset\/note\/[0-9a-f]{10}" and/,
    );
    assert.deepEqual(dataOf(config(world)), { size: '9' });
  });
});
