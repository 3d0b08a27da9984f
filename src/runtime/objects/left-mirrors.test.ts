import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  DefinitionWorld,
  locatedThing,
  runningView,
} from '../../../test/support/fakes/definition-world.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import type { DefinitionOrigin, WantedSet } from '../wanted-definition.ts';

const here: DefinitionOrigin = { source: 'configmap', ref: 'homeostat-system/ops/thing.yaml' };
const thing = locatedThing('thing');
const other = locatedThing('thing', '  status: { size: "${ 1 }" }\n');
const applied = { ...thing.document, metadata: { name: 'thing' } } as unknown as KubeObject;

function wanted(origin: DefinitionOrigin = here): WantedSet {
  return { definitions: [{ located: thing, origin }] };
}

async function running(origin = here): Promise<DefinitionWorld> {
  const world = new DefinitionWorld();
  world.configMap('ops');
  await world.start();
  await world.show(wanted(origin), [runningView(thing)]);
  world.cluster.takeWrites();
  world.takeEvents();
  return world;
}

describe('runtime/objects: mirrors whose text is not here', () => {
  describe('of two runtimes that read directories of one path', () => {
    const covers = ({ source, ref }: DefinitionOrigin) =>
      source === 'directory' && ref.startsWith('/definitions/');
    const fileOf = (name: string): WantedSet => ({
      definitions: [
        {
          located: locatedThing(name),
          origin: { source: 'directory', ref: `/definitions/${name}.yaml` },
        },
      ],
    });

    /** Both work for an hour; the second one begins last. */
    async function both(
      runtimes: readonly [string, string],
      names: readonly [string, string] = ['x', 'y'],
    ): Promise<{ world: DefinitionWorld; next: DefinitionWorld; writes: readonly string[] }> {
      const [one, two] = runtimes.map((runtime) => ({ runtime }));
      const world = new DefinitionWorld({ covers, ...one });
      const { cluster } = world;
      await world.start();
      await world.show(fileOf(names[0]), [runningView(locatedThing(names[0]))]);
      const next = new DefinitionWorld({ covers, cluster, ...two });
      await next.start();
      cluster.takeWrites();
      await next.show(fileOf(names[1]), [runningView(locatedThing(names[1]))]);
      for (let minutes = 0; minutes < 60; minutes++) {
        await world.clock.advance(60_000);
        await next.clock.advance(60_000);
        await next.settle();
      }
      return { world, next, writes: cluster.takeWrites() };
    }

    test('each leaves the mirrors of the other alone, and removes its own', async () => {
      const { world, next, writes } = await both(['team-a', 'team-b']);
      assert.deepEqual(writes, ['apply OperatorDefinition/y', 'status OperatorDefinition/y']);
      await next.show({ definitions: [] });
      await world.show({ definitions: [] });
      assert.equal(world.object('x') ?? world.object('y'), undefined);
      await world.stop();
      await next.stop();
    });

    test('a text that both have belongs to who began last, and nobody writes it back and forth', async () => {
      const { world, next, writes } = await both(['team-a', 'team-b'], ['x', 'x']);
      assert.deepEqual(writes, ['apply OperatorDefinition/x']);
      await world.show({ definitions: [] });
      assert.ok(world.object('x'));
      await next.show({ definitions: [] });
      assert.equal(world.object('x'), undefined);
      await world.stop();
      await next.stop();
    });
  });

  describe('one that a user has paused', () => {
    async function paused(): Promise<DefinitionWorld> {
      const world = await running();
      const object = world.object('thing');
      assert.ok(object);
      const annotations = { ...object.metadata.annotations, 'homeostat.dev/paused': 'true' };
      world.cluster.server.put({ ...object, metadata: { ...object.metadata, annotations } });
      await world.settle();
      world.cluster.takeWrites();
      world.takeEvents();
      return world;
    }

    test('stays for ten minutes without a text, and says so: the mark is there when the text comes back', async () => {
      const world = await paused();
      const uid = world.object('thing')?.metadata.uid;
      await world.show({ definitions: [] });
      assert.match(world.condition('thing', 'Ready'), /^False Removed: .*homeostat.dev\/paused/s);
      assert.match(world.condition('thing', 'Reconciling'), /^True Removed/);
      assert.deepEqual(world.takeEvents(), [
        'ConfigMap/ops Removed',
        'OperatorDefinition/thing Removed',
      ]);
      await world.clock.advance(500_000);
      await world.settle();
      assert.deepEqual(world.cluster.takeWrites(), ['status OperatorDefinition/thing']);
      await world.show({ definitions: [] });
      assert.equal(world.objects.known().get('thing')?.isPaused, true);
      await world.show(wanted(), [runningView(thing)]);
      await world.show({ definitions: [] });
      await world.clock.advance(500_000);
      await world.settle();
      assert.equal(world.object('thing')?.metadata.uid, uid, 'the ten minutes begin anew');
      await world.clock.advance(200_000);
      await world.settle();
      assert.equal(world.object('thing'), undefined);
      assert.deepEqual(world.takeEvents(), [
        'ConfigMap/ops Accepted',
        'OperatorDefinition/thing Accepted',
        'ConfigMap/ops Removed',
        'OperatorDefinition/thing Removed',
      ]);
      await world.stop();
      assert.equal(world.clock.pending, 0);
    });

    test('goes at once when the mark is taken off', async () => {
      const world = await paused();
      await world.show({ definitions: [] });
      const object = world.object('thing');
      assert.ok(object);
      const { 'homeostat.dev/paused': _, ...annotations } = object.metadata.annotations ?? {};
      world.cluster.server.put({ ...object, metadata: { ...object.metadata, annotations } });
      await world.settle();
      assert.equal(world.object('thing'), undefined);
      await world.stop();
      assert.equal(world.clock.pending, 0);
    });
  });

  test('one that somebody keeps making again is removed now and then only', async () => {
    const world = await running();
    const mirror = world.object('thing');
    assert.ok(mirror);
    const { name, labels, annotations } = mirror.metadata;
    const manifest = { ...mirror, metadata: { name, labels, annotations } } as KubeObject;
    const manager = 'homeostat/operatordefinitions.mirror';
    await world.show({ definitions: [] });
    for (let times = 0; times < 30; times++) {
      world.cluster.server.apply({ manifest, manager, force: true, status: false });
      await world.settle();
    }
    const deletions = world.cluster.takeWrites().filter((write) => write.startsWith('delete'));
    assert.ok(deletions.length <= 10, `${deletions.length} deletions`);
    await world.clock.advance(60_000);
    await world.settle();
    assert.equal(world.object('thing'), undefined);
    await world.stop();
  });

  test('what a user has applied over a mirror is left to him when the text goes', async () => {
    const world = await running();
    const uid = world.object('thing')?.metadata.uid;
    world.cluster.server.apply({
      manifest: applied,
      manager: 'kubectl',
      force: false,
      status: false,
    });
    await world.settle();
    await world.show({ definitions: [] });
    const object = world.object('thing');
    assert.equal(object?.metadata.uid, uid);
    assert.deepEqual(object?.metadata.labels, {});
    assert.deepEqual(object?.metadata.annotations, {});
    assert.deepEqual(object?.spec, thing.document.spec);
    assert.deepEqual(world.cluster.takeWrites(), ['edit OperatorDefinition/thing']);
    assert.deepEqual(world.takeEvents(), [
      'OperatorDefinition/thing HandedOver',
      'ConfigMap/ops Removed',
    ]);
    await world.stop();
  });

  describe('of another runtime', () => {
    const theirs: DefinitionOrigin = { source: 'directory', ref: '/tmp/tried/thing.yaml' };

    /** The other one is gone, and left its mirror behind; this one reads objects only. */
    async function left(): Promise<DefinitionWorld> {
      const first = await running(theirs);
      await first.stop();
      const world = new DefinitionWorld({
        cluster: first.cluster,
        covers: ({ source }) => source === 'object',
      });
      await world.start();
      await world.show({ definitions: [] });
      return world;
    }

    function edit(world: DefinitionWorld): void {
      const object = world.object('thing');
      assert.ok(object);
      world.cluster.server.put({ ...object, spec: other.document.spec } as KubeObject, 'kubectl');
    }

    test('whoever changes one that nobody keeps is told what to do, once', async () => {
      const world = await left();
      edit(world);
      await world.settle();
      assert.match(world.condition('thing', 'Ready'), /^True/, 'its runtime may be at it');
      await world.clock.advance(20_000);
      await world.settle();
      assert.match(
        world.condition('thing', 'Ready'),
        /^False NotRead: .*directory \/tmp\/tried\/thing.yaml.*homeostat.dev\/source-/s,
      );
      assert.deepEqual(world.cluster.takeWrites(), ['status OperatorDefinition/thing']);
      assert.deepEqual(world.takeEvents(), ['OperatorDefinition/thing NotRead']);
      await world.clock.advance(3_600_000);
      await world.settle();
      assert.deepEqual(world.cluster.takeWrites(), []);
      await world.stop();
      assert.equal(world.clock.pending, 0);
    });

    test('one that its runtime puts back is left alone', async () => {
      const world = await left();
      edit(world);
      await world.settle();
      const next = new DefinitionWorld({ cluster: world.cluster });
      await next.start();
      await next.show(wanted(theirs), [runningView(thing)]);
      world.cluster.takeWrites();
      await world.clock.advance(20_000);
      await world.settle();
      assert.match(world.condition('thing', 'Ready'), /^True/);
      assert.deepEqual(world.cluster.takeWrites(), []);
      await next.stop();
      await world.stop();
    });

    test('one whose text they change is left alone, also where they are slow to say so', async () => {
      const world = await left();
      const object = world.object('thing');
      assert.ok(object);
      const { name, labels, annotations } = object.metadata;
      world.cluster.server.apply({
        manifest: {
          ...other.document,
          metadata: { name, labels, annotations },
        } as unknown as KubeObject,
        manager: 'homeostat/operatordefinitions.mirror',
        force: true,
        status: false,
      });
      await world.settle();
      await world.clock.advance(20_000);
      await world.settle();
      assert.match(world.condition('thing', 'Ready'), /^True/);
      assert.deepEqual(world.cluster.takeWrites(), []);
      await world.stop();
    });
  });
});
