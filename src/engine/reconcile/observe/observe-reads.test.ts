import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import type { KubeObject } from '#util/kube-object.ts';
import {
  type HandmadeChild,
  type HandmadeRead,
  planOf,
} from '../../../../test/support/fakes/handmade-plan.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';

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

async function harnessOf(read: HandmadeRead, children: readonly HandmadeChild[] = []) {
  const names = (view: { list(id: string): readonly KubeObject[] }) =>
    view.list('pods').map(({ metadata }) => metadata.name);
  const status = read.id === 'pods' ? { nodes: names } : {};
  const harness = new OperatorHarness(planOf({ reads: [read], children, status }));
  await harness.start();
  return harness;
}

function secret(harness: OperatorHarness, text: string, name = 's'): KubeObject {
  return harness.cluster.server.put({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: 'default' },
    data: { text },
  }).object;
}

function pod(harness: OperatorHarness, name: string, labels: Readonly<Record<string, string>>) {
  return harness.cluster.server.put({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', labels },
    spec: {},
  }).object;
}

describe('reconcile/reads by name', () => {
  test('the object is there at the first pass: two requests, no detour', async () => {
    const harness = await harnessOf(byName, [copy]);
    secret(harness, 'one');
    harness.podSet('a', { settings: 's' });
    await harness.settle();
    assert.deepEqual(harness.cluster.takeWrites(), ['apply ConfigMap/copy-a', 'status PodSet/a']);
    assert.deepEqual(harness.get('v1', 'ConfigMap', 'copy-a')?.data, { text: 'one' });
    assert.equal(harness.passes.length, 1);
  });

  test('what uses it waits while it is not there, and continues when it comes', async () => {
    const harness = await harnessOf(byName, [copy]);
    harness.podSet('a', { settings: 's' });
    await harness.settle();
    assert.equal(
      harness.ready('a'),
      'False Waiting: copy: Waiting for reads.settings (Secret "s" does not exist)',
    );
    secret(harness, 'one');
    await harness.settle();
    assert.deepEqual(harness.get('v1', 'ConfigMap', 'copy-a')?.data, { text: 'one' });
  });

  test('an optional one that is not there is a missing value', async () => {
    const harness = await harnessOf({ ...byName, optional: true }, [copy]);
    harness.podSet('a', { settings: 's' });
    await harness.settle();
    assert.deepEqual(harness.get('v1', 'ConfigMap', 'copy-a')?.data, { text: 'none' });
  });

  test('a read whose name is in another read is seen in the same pass', async () => {
    const harness = new OperatorHarness(
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
    await harness.start();
    secret(harness, 'target', 'pointer');
    secret(harness, 'one', 'target');
    harness.podSet('a');
    await harness.settle();
    assert.deepEqual(harness.get('v1', 'ConfigMap', 'copy-a')?.data, { text: 'one' });
    assert.equal(harness.passes.length, 1);
  });

  test('a change of a read path runs the resource, another one does not', async () => {
    const harness = await harnessOf(byName, [copy]);
    const object = secret(harness, 'one');
    harness.podSet('a', { settings: 's' });
    await harness.settle();
    harness.passes.length = 0;
    harness.edit(object, { data: { text: 'one', other: 'changed' } });
    await harness.settle();
    assert.equal(harness.passes.length, 0);
    harness.edit(object, { data: { text: 'two' } });
    await harness.settle();
    assert.equal(harness.passes.length, 1);
    assert.deepEqual(harness.get('v1', 'ConfigMap', 'copy-a')?.data, { text: 'two' });
  });

  test('when it is deleted, what was made of it stays', async () => {
    const harness = await harnessOf(byName, [copy]);
    const object = secret(harness, 'one');
    harness.podSet('a', { settings: 's' });
    await harness.settle();
    harness.remove(object);
    await harness.settle();
    assert.deepEqual(harness.get('v1', 'ConfigMap', 'copy-a')?.data, { text: 'one' });
    assert.match(harness.ready('a'), /Waiting/);
  });

  for (const optional of [true, false]) {
    test(`one that may not be read waits, also when optional is ${optional}`, async () => {
      const harness = await harnessOf({ ...byName, optional }, [copy]);
      harness.cluster.block('Secret', new KubeError('forbidden', 'may not list', { status: 403 }));
      secret(harness, 'one');
      harness.podSet('a', { settings: 's' });
      await harness.settle();
      assert.deepEqual(harness.names('v1', 'ConfigMap'), []);
      assert.equal(harness.ready('a'), 'False Forbidden: reads.settings: may not list');
      assert.deepEqual(
        harness.operator.problems().map(({ what }) => what),
        ['Secret "s"'],
      );
      harness.cluster.unblock('Secret');
      await harness.settle();
      assert.deepEqual(harness.get('v1', 'ConfigMap', 'copy-a')?.data, { text: 'one' });
    });
  }

  test('one whose name may come from a Secret is reported without it', async () => {
    const harness = await harnessOf({ ...byName, secrecy: 'all' }, [copy]);
    harness.cluster.block('Secret', new KubeError('forbidden', 'may not list', { status: 403 }));
    harness.podSet('a', { settings: 's3cret' });
    await harness.settle();
    assert.deepEqual(
      harness.operator.problems().map(({ what }) => what),
      ['a Secret'],
    );
    harness.cluster.unblock('Secret');
    await harness.settle();
    assert.match(harness.ready('a'), /Waiting for reads\.settings \(the Secret does not exist\)$/);
  });

  for (const optional of [true, false]) {
    test(`one whose scope no one knows yet is not taken for absent (optional: ${optional})`, async () => {
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
      const harness = await harnessOf(read, [label]);
      harness.cluster.server.put({
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: 'default', labels: { team: 'a' } },
      });
      const resourceFor = harness.cluster.resourceFor.bind(harness.cluster);
      harness.cluster.resourceFor = (gvk) =>
        gvk.kind === 'Namespace' ? undefined : resourceFor(gvk);
      harness.podSet('a');
      await harness.settle();
      assert.deepEqual(harness.names('v1', 'ConfigMap'), []);
      assert.equal(
        harness.ready('a'),
        'False Waiting: copy: Waiting for reads.settings (not read yet)',
      );
      harness.cluster.resourceFor = resourceFor;
      await harness.runOne(key);
      assert.deepEqual(harness.get('v1', 'ConfigMap', 'copy')?.data, { team: 'a' });
    });
  }

  test('an object that is not used any more is watched for a minute and then released', async () => {
    const harness = await harnessOf(byName, [copy]);
    secret(harness, 'one', 's');
    secret(harness, 'two', 't');
    const podSet = harness.podSet('a', { settings: 's' });
    await harness.settle();
    const watched = () =>
      harness.cluster.watched.flatMap(({ fieldSelector }) => fieldSelector ?? []);
    assert.deepEqual(watched(), ['metadata.name=s']);
    harness.edit(podSet, { spec: { settings: 't' } });
    await harness.settle();
    assert.deepEqual(watched(), ['metadata.name=s', 'metadata.name=t']);
    await harness.clock.advance(60_000);
    assert.deepEqual(watched(), ['metadata.name=t']);
    harness.remove(podSet);
    await harness.settle();
    await harness.clock.advance(60_000);
    assert.deepEqual(watched(), []);
  });

  test('more than 50 names of a kind are watched together, and still wake their resources', async () => {
    const harness = await harnessOf(byName, [copy]);
    for (let number = 0; number < 60; number++) {
      secret(harness, 'one', `s${number}`);
      harness.podSet(`p${number}`, { settings: `s${number}` });
    }
    await harness.settle();
    const queries = harness.cluster.watched.filter(({ gvk }) => gvk.kind === 'Secret');
    assert.deepEqual(
      queries.map(({ fieldSelector }) => fieldSelector),
      [undefined],
    );
    harness.passes.length = 0;
    harness.edit(harness.get('v1', 'Secret', 's7')!, { data: { text: 'two' } });
    harness.edit(harness.get('v1', 'Secret', 's59')!, { data: { text: 'three' } });
    await harness.settle();
    assert.deepEqual(
      harness.passes.map((pass) => pass.key),
      ['default/p7', 'default/p59'],
    );
    assert.deepEqual(harness.get('v1', 'ConfigMap', 'copy-p59')?.data, { text: 'three' });
  });

  test('a written name in more than 50 namespaces is watched by that name alone', async () => {
    const harness = new OperatorHarness(
      planOf({
        reads: [
          { ...byName, name: () => 's', literalNames: ['s'] },
          { ...byName, id: 'other' },
        ],
        children: [copy],
      }),
    );
    await harness.start();
    const place = (number: number, name: string) => ({ name, namespace: `n${number}` });
    const put = (number: number, text: string) =>
      harness.cluster.server.put({
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
      return harness.cluster.server.put(podSet).object;
    });
    await harness.settle();
    const watched = () =>
      harness.cluster.watched.flatMap(({ gvk, namespace, fieldSelector }) =>
        gvk.kind === 'Secret' ? [[namespace, fieldSelector]] : [],
      );
    assert.deepEqual(watched(), [
      ['n0', 'metadata.name=other'],
      [undefined, 'metadata.name=s'],
    ]);
    harness.passes.length = 0;
    put(7, 'two');
    await harness.settle();
    assert.deepEqual(
      harness.passes.map((pass) => pass.key),
      ['n7/a'],
    );
    for (const podSet of podSets) harness.remove(podSet);
    await harness.settle();
    await harness.clock.advance(60_000);
    assert.deepEqual(watched(), []);
  });

  test('a change that the watch of the whole kind knew first runs the resource too', async () => {
    const harness = await harnessOf(byName, [copy]);
    for (let number = 0; number < 50; number++) {
      secret(harness, 'one', `s${number}`);
      harness.podSet(`p${number}`, { settings: `s${number}` });
    }
    await harness.settle();
    secret(harness, 'one', 's50');
    harness.podSet('p50', { settings: 's50' });
    harness.cluster.deliver();
    // The event of this edit is under way when the kind is listed.
    harness.edit(harness.get('v1', 'Secret', 's7')!, { data: { text: 'two' } });
    await harness.runOne('default/p50');
    assert.deepEqual([...harness.queued.keys()], ['default/p7']);
    await harness.settle();
    assert.deepEqual(harness.get('v1', 'ConfigMap', 'copy-p7')?.data, { text: 'two' });
  });
});

describe('reconcile/reads by selector', () => {
  test('each resource sees its own, sorted by name', async () => {
    const harness = await harnessOf(bySelector);
    pod(harness, 'b', { app: 'podSet', podSet_cr: 'a' });
    pod(harness, 'a', { app: 'podSet', podSet_cr: 'a' });
    pod(harness, 'c', { app: 'podSet', podSet_cr: 'other' });
    pod(harness, 'd', { app: 'else', podSet_cr: 'a' });
    harness.podSet('a');
    await harness.settle();
    assert.deepEqual(harness.status('a').nodes, ['a', 'b']);
  });

  test('one that comes, leaves the selection, or is deleted runs those that select it', async () => {
    const harness = await harnessOf(bySelector);
    harness.podSet('a');
    harness.podSet('b');
    await harness.settle();
    harness.passes.length = 0;
    const labels = { app: 'podSet', podSet_cr: 'a' };
    const first = pod(harness, 'x', labels);
    await harness.settle();
    assert.deepEqual(harness.status('a').nodes, ['x']);
    harness.edit(first, { metadata: { ...first.metadata, labels: { ...labels, podSet_cr: 'b' } } });
    await harness.settle();
    assert.deepEqual([harness.status('a').nodes, harness.status('b').nodes], [[], ['x']]);
    harness.remove(first);
    await harness.settle();
    assert.deepEqual(harness.status('b').nodes, []);
    assert.deepEqual(
      harness.passes.map((pass) => pass.key),
      [key, key, 'default/b', 'default/b'],
    );
  });

  test('a change that no expression reads reconciles nothing', async () => {
    const harness = await harnessOf(bySelector);
    const first = pod(harness, 'x', { app: 'podSet', podSet_cr: 'a' });
    harness.podSet('a');
    await harness.settle();
    harness.passes.length = 0;
    harness.edit(first, { status: { phase: 'Running' } });
    await harness.settle();
    assert.equal(harness.passes.length, 0);
  });

  test('a list that is not known is never taken for an empty one', async () => {
    const harness = await harnessOf(bySelector);
    pod(harness, 'x', { app: 'podSet', podSet_cr: 'a' });
    harness.podSet('a');
    await harness.settle();
    assert.deepEqual(harness.status('a').nodes, ['x']);
    const names = (view: { list(id: string): readonly KubeObject[] }) =>
      view.list('pods').map(({ metadata }) => metadata.name);
    harness.cluster.block('Pod', new KubeError('forbidden', 'may not list', { status: 403 }));
    await harness.restart(planOf({ reads: [bySelector], status: { nodes: names } }));
    await harness.settle();
    assert.deepEqual(harness.status('a').nodes, ['x']);
    assert.equal(harness.ready('a'), 'False Forbidden: reads.pods: may not list');
    harness.cluster.unblock('Pod');
    await harness.settle();
    assert.equal(harness.ready('a'), 'True AllReady: All children are ready');
  });

  test('what very many resources share runs them with low priority', async () => {
    const shared: HandmadeRead = {
      ...bySelector,
      labels: () => ({ app: 'podSet', podSet_cr: 'all' }),
    };
    const harness = await harnessOf(shared);
    for (let number = 0; number < 101; number++) harness.podSet(`p${number}`);
    for (let rounds = 0; rounds < 3; rounds++) {
      await harness.settle().catch(() => undefined);
    }
    assert.equal(harness.queued.size, 0);
    pod(harness, 'x', { app: 'podSet', podSet_cr: 'all' });
    harness.cluster.deliver();
    assert.equal(harness.queued.size, 101);
    assert.deepEqual([...new Set(harness.queued.values())], ['low']);
  });
});
