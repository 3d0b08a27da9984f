import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type HandmadeChild,
  type HandmadeRead,
  planOf,
} from '../../../test/support/fakes/handmade-plan.ts';
import { OperatorWorld } from '../../../test/support/fakes/operator-world.ts';
import { KubeError } from '../../kube/roles.ts';
import type { KubeObject } from '../../util/kube-object.ts';

const key = 'default/a';

const byName: HandmadeRead = {
  id: 'settings',
  apiVersion: 'v1',
  kind: 'Secret',
  name: ({ resource }) => resource.spec.settings as string,
  pathsRead: [['data', 'text']],
};

const bySelector: HandmadeRead = {
  id: 'pods',
  apiVersion: 'v1',
  kind: 'Pod',
  labels: ({ resource }) => ({ app: 'podSet', podSet_cr: resource.metadata.name }),
  watchSelector: 'app=podSet,podSet_cr',
  indexKey: 'podSet_cr',
  pathsRead: [['metadata', 'name']],
};

/** A ConfigMap with what the read has. */
const copy: HandmadeChild = {
  id: 'copy',
  apiVersion: 'v1',
  kind: 'ConfigMap',
  template: (view) => ({
    metadata: { name: `copy-${view.resource.metadata.name}` },
    data: { text: ((view.read('settings')?.data ?? {}) as { text?: string }).text ?? 'none' },
  }),
};

async function worldOf(read: HandmadeRead, children: readonly HandmadeChild[] = []) {
  const names = (view: { list(id: string): readonly KubeObject[] }) =>
    view.list('pods').map(({ metadata }) => metadata.name);
  const status = read.id === 'pods' ? { nodes: names } : {};
  const world = new OperatorWorld(planOf({ reads: [read], children, status }));
  await world.start();
  return world;
}

function secret(world: OperatorWorld, text: string, name = 's'): KubeObject {
  return world.cluster.server.put({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: 'default' },
    data: { text },
  }).object;
}

function pod(world: OperatorWorld, name: string, labels: Readonly<Record<string, string>>) {
  return world.cluster.server.put({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', labels },
    spec: {},
  }).object;
}

describe('reconcile/reads by name', () => {
  test('the object is there at the first pass: two requests, no detour', async () => {
    const world = await worldOf(byName, [copy]);
    secret(world, 'one');
    world.podSet('a', { settings: 's' });
    await world.settle();
    assert.deepEqual(world.cluster.takeWrites(), ['apply ConfigMap/copy-a', 'status PodSet/a']);
    assert.deepEqual(world.get('v1', 'ConfigMap', 'copy-a')?.data, { text: 'one' });
    assert.equal(world.passes.length, 1);
  });

  test('what uses it waits while it is not there, and continues when it comes', async () => {
    const world = await worldOf(byName, [copy]);
    world.podSet('a', { settings: 's' });
    await world.settle();
    assert.equal(
      world.ready('a'),
      'False Waiting: copy: Waiting for reads.settings (Secret "s" does not exist)',
    );
    secret(world, 'one');
    await world.settle();
    assert.deepEqual(world.get('v1', 'ConfigMap', 'copy-a')?.data, { text: 'one' });
  });

  test('an optional one that is not there is a missing value', async () => {
    const world = await worldOf({ ...byName, optional: true }, [copy]);
    world.podSet('a', { settings: 's' });
    await world.settle();
    assert.deepEqual(world.get('v1', 'ConfigMap', 'copy-a')?.data, { text: 'none' });
  });

  test('a read whose name is in another read is seen in the same pass', async () => {
    const world = new OperatorWorld(
      planOf({
        reads: [
          {
            ...byName,
            name: (view) => (view.read('pointer')!.data as { text: string }).text,
          },
          { ...byName, id: 'pointer', name: () => 'pointer' },
        ],
        children: [copy],
      }),
    );
    await world.start();
    secret(world, 'target', 'pointer');
    secret(world, 'one', 'target');
    world.podSet('a');
    await world.settle();
    assert.deepEqual(world.get('v1', 'ConfigMap', 'copy-a')?.data, { text: 'one' });
    assert.equal(world.passes.length, 1);
  });

  test('a change of a read path runs the resource, another one does not', async () => {
    const world = await worldOf(byName, [copy]);
    const object = secret(world, 'one');
    world.podSet('a', { settings: 's' });
    await world.settle();
    world.passes.length = 0;
    world.edit(object, { data: { text: 'one', other: 'changed' } });
    await world.settle();
    assert.equal(world.passes.length, 0);
    world.edit(object, { data: { text: 'two' } });
    await world.settle();
    assert.equal(world.passes.length, 1);
    assert.deepEqual(world.get('v1', 'ConfigMap', 'copy-a')?.data, { text: 'two' });
  });

  test('when it is deleted, what was made of it stays', async () => {
    const world = await worldOf(byName, [copy]);
    const object = secret(world, 'one');
    world.podSet('a', { settings: 's' });
    await world.settle();
    world.remove(object);
    await world.settle();
    assert.deepEqual(world.get('v1', 'ConfigMap', 'copy-a')?.data, { text: 'one' });
    assert.match(world.ready('a'), /Waiting/);
  });

  for (const optional of [true, false]) {
    test(`one that may not be read waits, also when optional is ${optional}`, async () => {
      const world = await worldOf({ ...byName, optional }, [copy]);
      world.cluster.block('Secret', new KubeError('forbidden', 'may not list', { status: 403 }));
      secret(world, 'one');
      world.podSet('a', { settings: 's' });
      await world.settle();
      assert.deepEqual(world.names('v1', 'ConfigMap'), []);
      assert.equal(world.ready('a'), 'False Forbidden: reads.settings: may not list');
      assert.deepEqual(
        world.operator.problems().map(({ what }) => what),
        ['Secret "s"'],
      );
      world.cluster.unblock('Secret');
      await world.settle();
      assert.deepEqual(world.get('v1', 'ConfigMap', 'copy-a')?.data, { text: 'one' });
    });
  }

  test('one whose name may come from a Secret is reported without it', async () => {
    const world = await worldOf({ ...byName, secrecy: 'all' }, [copy]);
    world.cluster.block('Secret', new KubeError('forbidden', 'may not list', { status: 403 }));
    world.podSet('a', { settings: 's3cret' });
    await world.settle();
    assert.deepEqual(
      world.operator.problems().map(({ what }) => what),
      ['a Secret'],
    );
    world.cluster.unblock('Secret');
    await world.settle();
    assert.match(world.ready('a'), /Waiting for reads\.settings \(the Secret does not exist\)$/);
  });

  for (const optional of [true, false]) {
    test(`one whose scope nobody knows yet is not taken for absent (optional: ${optional})`, async () => {
      const read: HandmadeRead = {
        ...byName,
        kind: 'Namespace',
        optional,
        name: () => 'default',
        pathsRead: [['metadata', 'labels']],
      };
      const label: HandmadeChild = {
        ...copy,
        template: (view) => ({
          metadata: { name: 'copy' },
          data: { team: view.read('settings')?.metadata.labels?.team ?? 'none' },
        }),
      };
      const world = await worldOf(read, [label]);
      world.cluster.server.put({
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: 'default', labels: { team: 'a' } },
      });
      const resourceFor = world.cluster.resourceFor.bind(world.cluster);
      world.cluster.resourceFor = (gvk) =>
        gvk.kind === 'Namespace' ? undefined : resourceFor(gvk);
      world.podSet('a');
      await world.settle();
      assert.deepEqual(world.names('v1', 'ConfigMap'), []);
      assert.equal(
        world.ready('a'),
        'False Waiting: copy: Waiting for reads.settings (not read yet)',
      );
      world.cluster.resourceFor = resourceFor;
      await world.runOne(key);
      assert.deepEqual(world.get('v1', 'ConfigMap', 'copy')?.data, { team: 'a' });
    });
  }

  test('an object that is not used any more is watched for a minute and then released', async () => {
    const world = await worldOf(byName, [copy]);
    secret(world, 'one', 's');
    secret(world, 'two', 't');
    const podSet = world.podSet('a', { settings: 's' });
    await world.settle();
    const watched = () => world.cluster.watched.flatMap(({ fieldSelector }) => fieldSelector ?? []);
    assert.deepEqual(watched(), ['metadata.name=s']);
    world.edit(podSet, { spec: { settings: 't' } });
    await world.settle();
    assert.deepEqual(watched(), ['metadata.name=s', 'metadata.name=t']);
    await world.clock.advance(60_000);
    assert.deepEqual(watched(), ['metadata.name=t']);
    world.remove(podSet);
    await world.settle();
    await world.clock.advance(60_000);
    assert.deepEqual(watched(), []);
  });

  test('more than 50 names of a kind are watched together, and still wake their resources', async () => {
    const world = await worldOf(byName, [copy]);
    for (let number = 0; number < 60; number++) {
      secret(world, 'one', `s${number}`);
      world.podSet(`p${number}`, { settings: `s${number}` });
    }
    await world.settle();
    const queries = world.cluster.watched.filter(({ gvk }) => gvk.kind === 'Secret');
    assert.deepEqual(
      queries.map(({ fieldSelector }) => fieldSelector),
      [undefined],
    );
    world.passes.length = 0;
    world.edit(world.get('v1', 'Secret', 's7')!, { data: { text: 'two' } });
    world.edit(world.get('v1', 'Secret', 's59')!, { data: { text: 'three' } });
    await world.settle();
    assert.deepEqual(
      world.passes.map((pass) => pass.key),
      ['default/p7', 'default/p59'],
    );
    assert.deepEqual(world.get('v1', 'ConfigMap', 'copy-p59')?.data, { text: 'three' });
  });

  test('a written name in more than 50 namespaces is watched by that name alone', async () => {
    const world = new OperatorWorld(
      planOf({
        reads: [
          { ...byName, name: () => 's', literalName: 's' },
          { ...byName, id: 'other' },
        ],
        children: [copy],
      }),
    );
    await world.start();
    const place = (number: number, name: string) => ({ name, namespace: `n${number}` });
    const put = (number: number, text: string) =>
      world.cluster.server.put({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: place(number, 's'),
        data: { text },
      });
    const podSets = Array.from({ length: 60 }, (_, number) => {
      put(number, 'one');
      const spec = { settings: number === 0 ? 'other' : 's' };
      const metadata = place(number, 'a');
      const podSet = { apiVersion: 'apps.example.com/v1', kind: 'PodSet', metadata, spec };
      return world.cluster.server.put(podSet).object;
    });
    await world.settle();
    const watched = () =>
      world.cluster.watched.flatMap(({ gvk, namespace, fieldSelector }) =>
        gvk.kind === 'Secret' ? [[namespace, fieldSelector]] : [],
      );
    assert.deepEqual(watched(), [
      ['n0', 'metadata.name=other'],
      [undefined, 'metadata.name=s'],
    ]);
    world.passes.length = 0;
    put(7, 'two');
    await world.settle();
    assert.deepEqual(
      world.passes.map((pass) => pass.key),
      ['n7/a'],
    );
    for (const podSet of podSets) world.remove(podSet);
    await world.settle();
    await world.clock.advance(60_000);
    assert.deepEqual(watched(), []);
  });

  test('a change that the watch of the whole kind knew first runs the resource too', async () => {
    const world = await worldOf(byName, [copy]);
    for (let number = 0; number < 50; number++) {
      secret(world, 'one', `s${number}`);
      world.podSet(`p${number}`, { settings: `s${number}` });
    }
    await world.settle();
    secret(world, 'one', 's50');
    world.podSet('p50', { settings: 's50' });
    world.cluster.deliver();
    // The event of this edit is under way when the kind is listed.
    world.edit(world.get('v1', 'Secret', 's7')!, { data: { text: 'two' } });
    await world.runOne('default/p50');
    assert.deepEqual([...world.queued.keys()], ['default/p7']);
    await world.settle();
    assert.deepEqual(world.get('v1', 'ConfigMap', 'copy-p7')?.data, { text: 'two' });
  });
});

describe('reconcile/reads by selector', () => {
  test('each resource sees its own, sorted by name', async () => {
    const world = await worldOf(bySelector);
    pod(world, 'b', { app: 'podSet', podSet_cr: 'a' });
    pod(world, 'a', { app: 'podSet', podSet_cr: 'a' });
    pod(world, 'c', { app: 'podSet', podSet_cr: 'other' });
    pod(world, 'd', { app: 'else', podSet_cr: 'a' });
    world.podSet('a');
    await world.settle();
    assert.deepEqual(world.status('a').nodes, ['a', 'b']);
  });

  test('one that comes, leaves the selection, or goes runs those that select it', async () => {
    const world = await worldOf(bySelector);
    world.podSet('a');
    world.podSet('b');
    await world.settle();
    world.passes.length = 0;
    const labels = { app: 'podSet', podSet_cr: 'a' };
    const first = pod(world, 'x', labels);
    await world.settle();
    assert.deepEqual(world.status('a').nodes, ['x']);
    world.edit(first, { metadata: { ...first.metadata, labels: { ...labels, podSet_cr: 'b' } } });
    await world.settle();
    assert.deepEqual([world.status('a').nodes, world.status('b').nodes], [[], ['x']]);
    world.remove(first);
    await world.settle();
    assert.deepEqual(world.status('b').nodes, []);
    assert.deepEqual(
      world.passes.map((pass) => pass.key),
      [key, key, 'default/b', 'default/b'],
    );
  });

  test('a change that no expression reads reconciles nothing', async () => {
    const world = await worldOf(bySelector);
    const first = pod(world, 'x', { app: 'podSet', podSet_cr: 'a' });
    world.podSet('a');
    await world.settle();
    world.passes.length = 0;
    world.edit(first, { status: { phase: 'Running' } });
    await world.settle();
    assert.equal(world.passes.length, 0);
  });

  test('a list that is not known is never taken for an empty one', async () => {
    const world = await worldOf(bySelector);
    pod(world, 'x', { app: 'podSet', podSet_cr: 'a' });
    world.podSet('a');
    await world.settle();
    assert.deepEqual(world.status('a').nodes, ['x']);
    const names = (view: { list(id: string): readonly KubeObject[] }) =>
      view.list('pods').map(({ metadata }) => metadata.name);
    world.cluster.block('Pod', new KubeError('forbidden', 'may not list', { status: 403 }));
    await world.restart(planOf({ reads: [bySelector], status: { nodes: names } }));
    await world.settle();
    assert.deepEqual(world.status('a').nodes, ['x']);
    assert.equal(world.ready('a'), 'False Forbidden: reads.pods: may not list');
    world.cluster.unblock('Pod');
    await world.settle();
    assert.equal(world.ready('a'), 'True AllReady: All children are ready');
  });

  test('what very many resources share runs them with low priority', async () => {
    const shared: HandmadeRead = {
      ...bySelector,
      labels: () => ({ app: 'podSet', podSet_cr: 'all' }),
    };
    const world = await worldOf(shared);
    for (let number = 0; number < 101; number++) world.podSet(`p${number}`);
    for (let rounds = 0; rounds < 3; rounds++) {
      await world.settle().catch(() => undefined);
    }
    assert.equal(world.queued.size, 0);
    pod(world, 'x', { app: 'podSet', podSet_cr: 'all' });
    world.cluster.deliver();
    assert.equal(world.queued.size, 101);
    assert.deepEqual([...new Set(world.queued.values())], ['low']);
  });
});
