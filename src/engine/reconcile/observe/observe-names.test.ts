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

const byNames: HandmadeRead = {
  id: 'settings',
  apiVersion: 'v1',
  kind: 'Secret',
  names: ({ resource }) => resource.spec.names as readonly string[],
  pathsRead: [['data', 'text']],
};

/** A ConfigMap with what the read has. */
const copy: HandmadeChild = {
  id: 'copy',
  apiVersion: 'v1',
  kind: 'ConfigMap',
  template: (view) => ({
    metadata: { name: `copy-${view.resource.metadata.name}` },
    data: {
      texts: view
        .list('settings')
        .map(({ metadata, data }) => `${metadata.name}=${(data as { text: string }).text}`)
        .join(' '),
    },
  }),
};

async function harnessOf(read: Partial<HandmadeRead> = {}) {
  const harness = new OperatorHarness(
    planOf({ reads: [{ ...byNames, ...read }], children: [copy] }),
  );
  await harness.start();
  return harness;
}

function secret(harness: OperatorHarness, name: string, text = 'one'): KubeObject {
  const metadata = { name, namespace: 'default' };
  return harness.cluster.server.put({ apiVersion: 'v1', kind: 'Secret', metadata, data: { text } })
    .object;
}

const texts = (harness: OperatorHarness, name = 'a') =>
  (harness.get('v1', 'ConfigMap', `copy-${name}`)?.data as { texts: string } | undefined)?.texts;

const watched = ({ cluster }: OperatorHarness) =>
  cluster.watched.flatMap(({ gvk, fieldSelector }) =>
    gvk.kind === 'Secret' ? [fieldSelector ?? 'all'] : [],
  );

const many = (count: number) => Array.from({ length: count }, (_, index) => `s${index}`);
const forbidden = new KubeError('forbidden', 'may not list', { status: 403 });

describe('reconcile/reads by a list of names', () => {
  test('are in the order of the names, at the first pass; only these objects are watched', async () => {
    const harness = await harnessOf();
    for (const name of ['a', 'b', 'c']) secret(harness, name);
    harness.podSet('a', { names: ['c', 'a'] });
    await harness.settle();
    assert.equal(texts(harness), 'c=one a=one');
    assert.deepEqual(watched(harness), ['metadata.name=c', 'metadata.name=a']);
    assert.equal(harness.passes.length, 1);
  });

  test('no names are an empty list, and nothing is watched', async () => {
    const harness = await harnessOf();
    harness.podSet('a', { names: [] });
    await harness.settle();
    assert.equal(texts(harness), '');
    assert.deepEqual(watched(harness), []);
  });

  test('what uses them waits until all exist, and says how many do not', async () => {
    const harness = await harnessOf();
    harness.podSet('a', { names: ['a', 'b', 'c'] });
    await harness.settle();
    const waiting = (why: string) =>
      `False Waiting: copy: Waiting for reads.settings (Secret ${why})`;
    assert.equal(harness.ready('a'), waiting('"a" and 2 more do not exist'));
    secret(harness, 'a');
    secret(harness, 'c');
    await harness.settle();
    assert.equal(harness.ready('a'), waiting('"b" does not exist'));
    assert.equal(texts(harness), undefined);
    secret(harness, 'b');
    await harness.settle();
    assert.equal(texts(harness), 'a=one b=one c=one');
  });

  test('with optional, those that do not exist are left out, and come later', async () => {
    const harness = await harnessOf({ optional: true });
    const first = secret(harness, 'b');
    harness.podSet('a', { names: ['c', 'a', 'b'] });
    await harness.settle();
    assert.equal(texts(harness), 'b=one');
    secret(harness, 'c');
    await harness.settle();
    assert.equal(texts(harness), 'c=one b=one');
    harness.remove(first);
    await harness.settle();
    assert.equal(texts(harness), 'c=one');
  });

  test('a change of any of them runs the resources that name it, and no others', async () => {
    const harness = await harnessOf();
    const [first, , third] = ['a', 'b', 'c'].map((name) => secret(harness, name));
    harness.podSet('a', { names: ['a', 'b'] });
    harness.podSet('b', { names: ['b', 'c'] });
    await harness.settle();
    harness.passes.length = 0;
    harness.edit(first!, { data: { text: 'one', other: 'changed' } });
    await harness.settle();
    assert.deepEqual(harness.passes, []);
    harness.edit(third!, { data: { text: 'two' } });
    await harness.settle();
    assert.deepEqual(
      harness.passes.map(({ key }) => key),
      ['default/b'],
    );
    assert.equal(texts(harness, 'b'), 'b=one c=two');
  });

  test('a name that is no longer in the list is watched for a minute and then released', async () => {
    const harness = await harnessOf();
    for (const name of ['a', 'b', 'c']) secret(harness, name);
    const podSet = harness.podSet('a', { names: ['a', 'b'] });
    await harness.settle();
    harness.edit(podSet, { spec: { names: ['b', 'c'] } });
    await harness.settle();
    assert.equal(texts(harness), 'b=one c=one');
    await harness.clock.advance(60_000);
    assert.deepEqual(watched(harness), ['metadata.name=b', 'metadata.name=c']);
  });

  test('names that differ at every pass cause no further pass, and do not pile up', async () => {
    let count = 0;
    const harness = await harnessOf({ names: () => [`x${count++}`, 'a'], optional: true });
    secret(harness, 'a');
    harness.podSet('a');
    await harness.settle();
    assert.equal(harness.passes.length, 1);
    for (let turn = 0; turn < 5; turn++) {
      await harness.runOne('default/a');
      await harness.settle();
      await harness.clock.advance(60_000);
    }
    assert.equal(harness.passes.length, 6);
    assert.equal(watched(harness).length, 2);
  });

  for (const optional of [false, true])
    test(`one that may not be read is not taken for absent (optional: ${optional})`, async () => {
      const harness = await harnessOf({ optional });
      secret(harness, 'a');
      harness.cluster.block('Secret', forbidden);
      harness.podSet('a', { names: ['a', 'b'] });
      await harness.settle();
      assert.equal(texts(harness), undefined);
      assert.equal(harness.ready('a'), 'False Forbidden: reads.settings: may not list');
      harness.cluster.unblock('Secret');
      secret(harness, 'b');
      await harness.settle();
      assert.equal(texts(harness), 'a=one b=one');
    });

  test('a thousand names start one watch on the kind, not a thousand on single objects', async () => {
    const harness = await harnessOf();
    const names = many(1_000);
    for (const name of names) secret(harness, name);
    const acquired: unknown[] = [];
    const acquire = harness.cluster.acquire.bind(harness.cluster);
    harness.cluster.acquire = (query) => {
      if (query.gvk.kind === 'Secret') acquired.push(query.fieldSelector);
      return acquire(query);
    };
    harness.podSet('a', { names });
    await harness.settle();
    assert.equal(texts(harness)?.split(' ').length, 1_000);
    assert.equal(acquired.length, 51);
    assert.deepEqual(watched(harness), ['all']);
    assert.equal(harness.passes.length, 1);
    harness.edit(harness.get('v1', 'Secret', 's999')!, { data: { text: 'two' } });
    await harness.settle();
    assert.match(texts(harness) ?? '', / s999=two$/);
  });

  test('without the right to the kind, each is watched by its name, up to a limit', async () => {
    const harness = await harnessOf();
    harness.cluster.failure = ({ gvk, fieldSelector }) =>
      gvk.kind === 'Secret' && fieldSelector === undefined ? forbidden : undefined;
    const names = many(1_100);
    for (const name of names) secret(harness, name);
    harness.podSet('a', { names: names.slice(0, 600) });
    await harness.settle();
    assert.equal(texts(harness)?.split(' ').length, 600);
    assert.match(harness.ready('a'), /^True/);
    harness.podSet('b', { names: names.slice(500) });
    await harness.settle();
    assert.equal(harness.ready('b'), 'False Forbidden: reads.settings: may not list');
    assert.match(harness.ready('a'), /^True/);
    assert.equal(watched(harness).length, 1_001);
    harness.edit(harness.get('v1', 'Secret', 's7')!, { data: { text: 'two' } });
    await harness.settle();
    assert.match(texts(harness) ?? '', / s7=two /);
    harness.cluster.unblock('Secret');
    await harness.settle();
    assert.equal(texts(harness, 'b')?.split(' ').length, 600);
    assert.deepEqual(watched(harness), ['all']);
  });

  test('of literal names, each has its own watch, in any number of namespaces', async () => {
    const literalNames = ['s', 't'];
    const harness = await harnessOf({ names: () => literalNames, literalNames });
    for (let number = 0; number < 60; number++) {
      const namespace = `n${number}`;
      for (const name of literalNames)
        harness.cluster.server.put({
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name, namespace },
          data: { text: 'one' },
        });
      harness.cluster.server.put({
        apiVersion: 'apps.example.com/v1',
        kind: 'PodSet',
        metadata: { name: 'a', namespace },
        spec: {},
      });
    }
    await harness.settle();
    assert.deepEqual(watched(harness), ['metadata.name=s', 'metadata.name=t']);
  });

  test('in a namespace that the read is limited to, many are watched there', async () => {
    const harness = await harnessOf({ namespaces: ['default'] });
    const names = many(60);
    for (const name of names) secret(harness, name);
    harness.podSet('a', { names });
    await harness.settle();
    assert.equal(texts(harness)?.split(' ').length, 60);
    assert.deepEqual(
      harness.cluster.watched.flatMap(({ gvk, namespace, fieldSelector }) =>
        gvk.kind === 'Secret' ? [[namespace, fieldSelector]] : [],
      ),
      [['default', undefined]],
    );
  });
});
