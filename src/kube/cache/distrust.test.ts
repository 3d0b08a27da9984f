import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { settle } from '../../../test/support/fake-clock.ts';
import {
  configMap,
  configMaps,
  informerBench,
  listOf,
  start,
} from '../../../test/support/model/informer-bench.ts';

describe('kube/cache distrust', () => {
  test('what is held is outdated in the same step, and good again with a list that was asked for after it', async () => {
    const { api, informers } = informerBench();
    const informer = informers.acquire(configMaps);
    const { stream } = await start(api, 7, [configMap('a', 3)]);
    const told: boolean[] = [];
    informers.onOutdated(() => told.push(informer.isOutdated));
    informers.distrust();
    assert.deepEqual(told, [true]);
    await settle();
    assert.equal(stream.closed, true);
    const list = await api.nextRequest();
    assert.deepEqual(list.request.query, { limit: '500' });
    assert.equal(informer.isOutdated, true);
    list.answer(listOf(9, [configMap('a', 8)]));
    assert.equal((await api.nextStream()).request.query?.resourceVersion, '9');
    assert.equal(informer.isOutdated, false);
    assert.equal(informer.get('default', 'a')?.object.metadata.resourceVersion, '8');
    await informers.close();
  });

  test('a first list that is under way is asked for again: its answer may be of before', async () => {
    const { api, informers } = informerBench();
    const informer = informers.acquire(configMaps);
    const before = await api.nextRequest();
    informers.distrust();
    const after = await api.nextRequest();
    before.answer(listOf(7, [configMap('a', 3)]));
    await settle();
    assert.equal(informer.state.kind, 'waiting');
    after.answer(listOf(9, []));
    await api.nextStream();
    assert.equal(informer.state.kind, 'synced');
    assert.equal(informer.isOutdated, false);
    assert.deepEqual([...informer.list()], []);
    await informers.close();
  });

  test('what begins to list afterwards lists once', async () => {
    const { api, informers } = informerBench();
    informers.distrust();
    const informer = informers.acquire(configMaps);
    (await api.nextRequest()).answer(listOf(7, []));
    (await api.nextStream()).open();
    await settle();
    assert.equal(informer.isOutdated, false);
    assert.equal(api.untaken, 0);
    await informers.close();
  });
});
