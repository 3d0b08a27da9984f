import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gvkOf } from '#util/gvk.ts';
import {
  answerAfterBreak,
  configMap,
  configMaps,
  informerBench,
  listOf,
  namesIn,
  start,
  startWitness,
} from '../../../../test/support/model/informer-bench.ts';
import { kubeError } from '../../../../test/support/model/scripted-api.ts';

const bookmark = (version: number) => ({ metadata: { resourceVersion: String(version) } });

describe('kube/cache informer: watches that end or break', () => {
  test('continues from the last version when the server ends a watch', async () => {
    const { api, clock, informers } = informerBench();
    informers.acquire(configMaps);
    const { stream } = await start(api, 7);
    stream.event('ADDED', configMap('a', 8));
    stream.event('BOOKMARK', bookmark(12));
    await clock.advance(170_000);
    stream.event('BOOKMARK', bookmark(12));
    await clock.advance(130_000);
    stream.end();
    const next = await api.nextStream();
    assert.equal(next.request.query?.resourceVersion, '12');
    assert.equal(api.untaken, 0);
    await informers.close();
  });

  test('lists again when a watch ends before its time', async () => {
    const { api, clock, informers } = informerBench();
    const informer = informers.acquire(configMaps);
    const { stream } = await start(api, 7, [configMap('a', 3), configMap('b', 7)]);
    await clock.advance(150_000);
    stream.end();
    await answerAfterBreak(api, 9, [configMap('a', 3)]);
    assert.equal((await api.nextStream()).request.query?.resourceVersion, '9');
    assert.deepEqual(namesIn(informer), ['a']);
    await informers.close();
  });

  test('with more than one page, reads one object and resumes from the last version if the server has reached it', async () => {
    const { api, clock, informers } = informerBench({ pageSize: 2 });
    informers.acquire(configMaps);
    const { stream } = await start(api, 7, [configMap('a', 3), configMap('b', 7)]);
    await clock.advance(150_000);
    stream.end();
    await answerAfterBreak(api, 9, [configMap('a', 3)], '1');
    assert.equal((await api.nextStream()).request.query?.resourceVersion, '7');
    await informers.close();
  });

  test('lists every page of a custom kind when the server ends its watch before its time: its schema may have changed', async () => {
    const { api, clock, discovery, informers } = informerBench({ pageSize: 2 });
    discovery.serve('example.com/v1', 'Thing', 'things');
    const informer = informers.acquire({ gvk: gvkOf('example.com/v1', 'Thing') });
    const { stream } = await start(api, 7, [configMap('a', 3), configMap('b', 7)]);
    await clock.advance(170_000);
    stream.event('BOOKMARK', bookmark(7));
    await clock.advance(120_000);
    stream.end();
    const completed = { ...configMap('a', 3), data: { added: 'default' } };
    await answerAfterBreak(api, 9, [completed, configMap('b', 7)], '2');
    assert.equal((await api.nextStream()).request.query?.resourceVersion, '9');
    assert.deepEqual(informer.get('default', 'a')?.object.data, { added: 'default' });
    await informers.close();
  });

  for (const [what, breakWatch] of [
    ['an ERROR event 410', (stream) => stream.event('ERROR', { kind: 'Status', code: 410 })],
    ['a line that is no JSON', (stream) => stream.push('{"type":\n')],
    ['an object without a name', (stream) => stream.event('ADDED', { metadata: {} })],
  ] as const satisfies readonly (readonly [
    string,
    (stream: Awaited<ReturnType<typeof start>>['stream']) => void,
  ])[]) {
    test(`lists again after ${what}, when it has waited`, async () => {
      const { api, clock, informers } = informerBench();
      const informer = informers.acquire(configMaps);
      const { stream } = await start(api, 7, [configMap('a', 3)]);
      breakWatch(stream);
      await clock.advance(799);
      assert.equal(api.untaken, 0);
      await clock.advance(1);
      assert.equal(informer.state.kind, 'synced');
      await start(api, 20, [configMap('b', 15)]);
      assert.deepEqual(namesIn(informer), ['b']);
      await informers.close();
    });
  }

  test('lists again when the watch is answered with 410', async () => {
    const { api, clock, informers } = informerBench();
    informers.acquire(configMaps);
    (await api.nextRequest()).answer(listOf(7, []));
    (await api.nextStream()).fail(kubeError('gone', 410));
    await clock.advance(800);
    assert.equal((await api.nextRequest()).request.query?.resourceVersion, undefined);
    await informers.close();
  });

  for (const [code, status] of [
    ['too-many-requests', 429],
    ['unavailable', 503],
    ['server-error', 500],
    ['unauthorized', 401],
  ] as const) {
    test(`resumes the watch after ${code} ${status}, without a list`, async () => {
      const { api, clock, informers } = informerBench();
      const informer = informers.acquire(configMaps);
      (await api.nextRequest()).answer(listOf(7, []));
      (await api.nextStream()).fail(kubeError(code, status));
      await clock.advance(799);
      assert.equal(api.untaken, 0);
      await clock.advance(1);
      assert.equal((await api.nextStream()).request.query?.resourceVersion, '7');
      assert.equal(informer.state.kind, 'synced');
      await informers.close();
    });
  }

  test('lists again when the server has gone back while the connection was broken: etcd was restored', async () => {
    const bench = informerBench({ pageSize: 2 });
    const { api, clock, informers } = bench;
    await startWitness(bench);
    const informer = informers.acquire(configMaps);
    const { stream } = await start(api, 7, [configMap('a', 3), configMap('b', 7)]);
    stream.break(kubeError('unavailable', 0));
    await clock.advance(800);
    // A server that has just begun knows no roles yet; that it answers tells nothing of what it knows.
    (await api.nextRequest()).fail(kubeError('forbidden', 403));
    await clock.advance(1_600);
    await answerAfterBreak(api, 5, [], '1');
    await answerAfterBreak(api, 5, [configMap('a', 2)], '2');
    assert.equal((await api.nextStream()).request.query?.resourceVersion, '5');
    assert.deepEqual(bench.reported, ['suspected', 'restored']);
    assert.deepEqual(namesIn(informer), ['a']);
    await informers.close();
  });

  test('a server that has gone back and passed the last version again shows it by an older object', async () => {
    const bench = informerBench();
    const { api, clock, informers } = bench;
    const informer = informers.acquire(configMaps);
    const { stream } = await start(api, 7, [configMap('a', 3), configMap('b', 7)]);
    await clock.advance(150_000);
    stream.end();
    await answerAfterBreak(api, 9, [configMap('a', 2), configMap('c', 8)]);
    assert.equal((await api.nextStream()).request.query?.resourceVersion, '9');
    assert.deepEqual(bench.reported, ['restored']);
    assert.deepEqual(namesIn(informer), ['a', 'c']);
    await informers.close();
  });

  test('a list after an expired watch that is older than what was seen means that etcd was restored, too', async () => {
    const bench = informerBench();
    const { api, clock, informers } = bench;
    const informer = informers.acquire(configMaps);
    const { stream } = await start(api, 7, [configMap('a', 3), configMap('b', 7)]);
    stream.event('ERROR', { kind: 'Status', code: 410 });
    await clock.advance(800);
    await start(api, 5, [configMap('a', 2)]);
    assert.deepEqual(namesIn(informer), ['a']);
    assert.deepEqual(bench.reported, ['restored']);
    await informers.close();
  });

  test('with more than one page, resumes from the last event when the connection breaks', async () => {
    const bench = informerBench({ pageSize: 1 });
    const { api, clock, informers } = bench;
    await startWitness(bench);
    informers.acquire(configMaps);
    const { stream } = await start(api, 7);
    stream.event('ADDED', configMap('a', 8));
    stream.push('{"type":"ADDED","obj');
    stream.break(kubeError('unavailable', 0));
    await clock.advance(800);
    await answerAfterBreak(api, 9, [], '1');
    assert.equal((await api.nextStream()).request.query?.resourceVersion, '8');
    await informers.close();
  });

  test('lists again when a server that answers does not resume again and again', async () => {
    const { api, clock, informers } = informerBench();
    informers.acquire(configMaps);
    (await api.nextRequest()).answer(listOf(7, []));
    for (let failures = 0; failures < 5; failures += 1) {
      (await api.nextStream()).fail(kubeError('unavailable', 504));
      await clock.advance(30_000);
    }
    assert.equal((await api.nextRequest()).request.query?.limit, '500');
    await informers.close();
  });

  test('waits twice as long after every failure, and from the start after two quiet minutes', async () => {
    const bench = informerBench({ idleTimeoutMs: 1_000_000 });
    const { api, clock, informers } = bench;
    await startWitness(bench);
    informers.acquire(configMaps);
    for (const delayMs of [800, 1_600, 3_200]) {
      (await api.nextRequest()).fail(kubeError('unavailable', 0));
      await clock.advance(delayMs - 1);
      assert.equal(api.untaken, 0);
      await clock.advance(1);
    }
    const { stream } = await start(api, 7);
    await clock.advance(120_000);
    stream.break(kubeError('unavailable', 0));
    await clock.advance(800);
    await answerAfterBreak(api, 7);
    await api.nextStream();
    await informers.close();
  });

  test('takes a watch that ends at once without an event for a failure', async () => {
    const { api, clock, informers } = informerBench();
    informers.acquire(configMaps);
    const { stream } = await start(api, 7);
    stream.end();
    await clock.advance(799);
    assert.equal(api.untaken, 0);
    await clock.advance(1);
    await answerAfterBreak(api, 7);
    await api.nextStream();
    await informers.close();
  });

  test('cuts an idle watch each time, and lists again', async () => {
    const { api, clock, informers } = informerBench();
    informers.acquire(configMaps);
    const { stream } = await start(api, 7);
    await clock.advance(100_000);
    stream.event('BOOKMARK', bookmark(9));
    await clock.advance(179_999);
    assert.equal(stream.closed, false);
    await clock.advance(1);
    assert.equal(stream.closed, true);
    await answerAfterBreak(api, 9);
    const second = await api.nextStream();
    assert.equal(second.request.query?.resourceVersion, '9');
    second.open();
    await clock.advance(180_000);
    await api.nextRequest();
    assert.equal(api.openStreams.size, 0);
    await informers.close();
  });
});
