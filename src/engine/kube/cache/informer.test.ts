import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { settle } from '../../../../test/support/fake-clock.ts';
import {
  configMap,
  configMaps,
  informerBench,
  listOf,
  namesIn,
  start,
} from '../../../../test/support/model/informer-bench.ts';
import { kubeError } from '../../../../test/support/model/scripted-api.ts';
import { whenSynced } from '../../../../test/support/when-synced.ts';
import { KubeError } from '../kube-error.ts';
import type { CacheEvent } from '../roles.ts';

const never = new AbortController().signal;

describe('kube/cache informer', () => {
  test('lists the present state in pages of 500, then watches with bookmarks from there', async () => {
    const { api, informers } = informerBench();
    const informer = informers.acquire({ ...configMaps, namespace: 'default', labelSelector: 'a' });
    const first = await api.nextRequest();
    assert.equal(first.request.path, '/api/v1/namespaces/default/configmaps');
    assert.deepEqual(first.request.query, { limit: '500', labelSelector: 'a' });
    assert.deepEqual(first.request.flow, { name: 'informer', priority: 'object' });
    first.answer(listOf(7, [configMap('a', 3)], 'next'));
    const second = await api.nextRequest();
    assert.deepEqual(second.request.query, { limit: '500', labelSelector: 'a', continue: 'next' });
    assert.equal(informer.state.kind, 'waiting');
    second.answer(listOf(7, [configMap('b', 4)]));
    const watch = await api.nextStream();
    assert.equal(watch.request.path, '/api/v1/namespaces/default/configmaps');
    assert.deepEqual(watch.request.query, {
      watch: '1',
      allowWatchBookmarks: 'true',
      resourceVersion: '7',
      timeoutSeconds: '300',
      labelSelector: 'a',
    });
    assert.equal(informer.state.kind, 'synced');
    assert.deepEqual(namesIn(informer), ['a', 'b']);
    await informers.close();
  });

  test('lets the event loop turn between pages', async () => {
    const { api, informers } = informerBench();
    informers.acquire(configMaps);
    const first = await api.nextRequest();
    let turned = false;
    setImmediate(() => {
      turned = true;
    });
    first.answer(listOf(7, [configMap('a', 3)], 'next'));
    await api.nextRequest();
    assert.ok(turned);
    await informers.close();
  });

  test('asks the server to end the watch at a random time between 5 and 10 minutes', async () => {
    const { api, informers } = informerBench({}, 0.9999);
    informers.acquire(configMaps);
    const { pending } = await start(api, 7);
    assert.equal(pending.request.query?.timeoutSeconds, '599');
    await informers.close();
  });

  test('waits as long as the server says, when that is longer', async () => {
    const { api, clock, informers } = informerBench();
    informers.acquire(configMaps);
    (await api.nextRequest()).answer(listOf(7, []));
    const busy = new KubeError('too-many-requests', 'Busy', { status: 429, retryAfterSeconds: 5 });
    (await api.nextStream()).fail(busy);
    await clock.advance(4_999);
    assert.equal(api.untaken, 0);
    await clock.advance(1);
    assert.equal((await api.nextStream()).request.query?.resourceVersion, '7');
    await informers.close();
  });

  test('is synced when subscribers have heard of the first list', async () => {
    const { api, informers } = informerBench();
    const informer = informers.acquire(configMaps);
    const heard: CacheEvent[] = [];
    informer.subscribe((event) => heard.push(event));
    const synced = whenSynced(informer, never).then(() => heard.map(({ name }) => name));
    await start(api, 7, [configMap('a', 3), configMap('b', 4)]);
    assert.deepEqual(await synced, ['a', 'b']);
    assert.ok(heard.every(({ initial }) => initial));
    await informers.close();
  });

  test('stores the events of the watch, however its text is cut', async () => {
    const { api, informers } = informerBench();
    const informer = informers.acquire(configMaps);
    const { stream } = await start(api, 7, [configMap('a', 3), configMap('b', 4)]);
    const lines = [
      { type: 'ADDED', object: configMap('c', 8) },
      { type: 'MODIFIED', object: configMap('a', 9) },
      { type: 'DELETED', object: configMap('b', 10) },
    ];
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    for (let at = 0; at < text.length; at += 11) stream.push(text.slice(at, at + 11));
    await settle();
    assert.deepEqual(namesIn(informer), ['a', 'c']);
    assert.equal(informer.get('default', 'a')?.object.metadata.resourceVersion, '9');
    await informers.close();
  });

  test('lists in one piece when a page came too late', async () => {
    const { api, informers } = informerBench();
    const informer = informers.acquire(configMaps);
    (await api.nextRequest()).answer(listOf(7, [configMap('a', 3)], 'next'));
    (await api.nextRequest()).fail(kubeError('gone', 410));
    const whole = await api.nextRequest();
    assert.deepEqual(whole.request.query, {});
    whole.answer(listOf(9, [configMap('b', 8)]));
    await api.nextStream();
    assert.deepEqual(namesIn(informer), ['b']);
    await informers.close();
  });

  test('lists smaller pages when one was too large', async () => {
    const { api, clock, informers } = informerBench();
    const informer = informers.acquire(configMaps);
    (await api.nextRequest()).fail(kubeError('too-large', 0));
    await clock.advance(1_000);
    const again = await api.nextRequest();
    assert.deepEqual(again.request.query, { limit: '125' });
    again.answer(listOf(9, [configMap('b', 8)]));
    await api.nextStream();
    assert.deepEqual(namesIn(informer), ['b']);
    await informers.close();
  });

  test('skips events of unknown types', async () => {
    const { api, informers } = informerBench();
    const informer = informers.acquire(configMaps);
    const { stream } = await start(api, 7);
    stream.event('FUTURE', {});
    stream.event('ADDED', configMap('a', 8));
    await settle();
    assert.deepEqual(namesIn(informer), ['a']);
    await informers.close();
  });

  test('does not store what arrives after it was stopped', async () => {
    const { api, informers } = informerBench();
    const informer = informers.acquire(configMaps);
    const { stream } = await start(api, 7);
    stream.event('ADDED', configMap('a', 8));
    informer.release();
    await settle();
    assert.deepEqual(namesIn(informer), []);
    await informers.close();
  });

  for (const [when, reach] of [
    ['in a list', async ({ api }) => void (await api.nextRequest())],
    ['in a watch', async ({ api }) => void (await start(api, 7))],
    [
      'in a pause',
      async ({ api }) => {
        (await api.nextRequest()).fail(kubeError('unavailable', 0));
        await settle();
      },
    ],
  ] as const satisfies readonly (readonly [
    string,
    (bench: ReturnType<typeof informerBench>) => Promise<void>,
  ])[]) {
    test(`closed ${when}, it leaves neither a timer nor a stream`, async () => {
      const bench = informerBench();
      bench.informers.acquire(configMaps);
      await reach(bench);
      await bench.informers.close();
      assert.equal(bench.clock.pending, 0);
      assert.equal(bench.api.openStreams.size, 0);
    });
  }
});
