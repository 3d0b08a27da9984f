import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { settle } from '../../../test/support/fake-clock.ts';
import {
  configMaps,
  informerBench,
  listOf,
  start,
} from '../../../test/support/model/informer-bench.ts';
import { kubeError } from '../../../test/support/model/scripted-api.ts';

const bookmark = (version: number) => ({ metadata: { resourceVersion: String(version) } });

describe('kube/cache informer: outages', () => {
  test('an outage that one informer finds makes those outdated that have no watch open, and no others', async () => {
    const { api, clock, informers } = informerBench();
    const told: string[] = [];
    const open = informers.acquire(configMaps);
    const { stream } = await start(api, 7);
    const cut = informers.acquire({ ...configMaps, labelSelector: 'a' });
    const { stream: doomed } = await start(api, 7);
    const asking = informers.acquire({ ...configMaps, labelSelector: 'b' });
    (await api.nextRequest()).answer(listOf(7, []));
    const watch = await api.nextStream();
    informers.onOutdated(() =>
      told.push([open, cut, asking].map(({ isOutdated }) => (isOutdated ? 'x' : '-')).join('')),
    );
    doomed.break(kubeError('unavailable', 0));
    await settle();
    assert.deepEqual(told, []);
    watch.fail(kubeError('unavailable', 0));
    await settle();
    assert.equal(told.at(-1), '-xx');
    await clock.advance(800);
    (await api.nextRequest()).answer(listOf(7, []));
    (await api.nextRequest()).answer(listOf(7, []));
    await settle();
    assert.equal(told.at(-1), '---');
    (await api.nextStream()).open();
    (await api.nextStream()).open();
    // It has delivered nothing since: when it ends, nobody knows for how long it was dead.
    await clock.advance(300_000 - 800);
    stream.end();
    assert.deepEqual((await api.nextRequest()).request.query, { limit: '500' });
    await informers.close();
  });

  test('who begins or ends to use what is outdated is told', async () => {
    const { api, clock, informers } = informerBench();
    informers.acquire(configMaps);
    (await api.nextRequest()).answer(listOf(7, []));
    (await api.nextStream()).fail(kubeError('unavailable', 0));
    await settle();
    const told: boolean[] = [];
    informers.onOutdated(() => told.push(late.isOutdated));
    const late = informers.acquire(configMaps);
    await settle();
    late.release();
    assert.deepEqual(told, [true, false]);
    await clock.advance(800);
    await informers.close();
  });

  test('a watch that goes on delivering through an outage of others is believed', async () => {
    const { api, clock, informers } = informerBench();
    informers.acquire(configMaps);
    const { stream } = await start(api, 7);
    informers.acquire({ ...configMaps, labelSelector: 'a' });
    (await api.nextRequest()).answer(listOf(7, []));
    (await api.nextStream()).fail(kubeError('unavailable', 0));
    await clock.advance(800);
    (await api.nextRequest()).answer(listOf(7, []));
    (await api.nextStream()).open();
    await clock.advance(170_000);
    stream.event('BOOKMARK', bookmark(12));
    await clock.advance(130_000 - 800);
    stream.end();
    assert.equal((await api.nextStream()).request.query?.resourceVersion, '12');
    await informers.close();
  });

  test('a watch that was asked for before an outage of others is not gone on with', async () => {
    const { api, informers } = informerBench();
    const informer = informers.acquire(configMaps);
    (await api.nextRequest()).answer(listOf(7, []));
    const opening = await api.nextStream();
    informers.acquire({ ...configMaps, labelSelector: 'a' });
    (await api.nextRequest()).fail(kubeError('unavailable', 0));
    await settle();
    assert.equal(informer.isOutdated, true);
    const stream = opening.open();
    const list = await api.nextRequest();
    assert.equal(stream.closed, true);
    list.answer(listOf(7, []));
    await settle();
    assert.equal(informer.isOutdated, false);
    await informers.close();
  });

  test('a list that was asked for before an outage proves nothing', async () => {
    const { api, clock, informers } = informerBench();
    const informer = informers.acquire(configMaps);
    await start(api, 7);
    informers.relist(configMaps.gvk, 'schema-changed');
    const list = await api.nextRequest();
    informers.acquire({ ...configMaps, labelSelector: 'a' });
    (await api.nextRequest()).fail(kubeError('unavailable', 0));
    await settle();
    list.answer(listOf(7, []));
    await settle();
    assert.equal(informer.isOutdated, true);
    assert.deepEqual((await api.nextRequest()).request.query, { limit: '500' });
    await clock.advance(800);
    await informers.close();
  });

  test('after an outage it bears a few refusals, and then says so', async () => {
    const { api, clock, informers } = informerBench();
    const informer = informers.acquire(configMaps);
    (await api.nextRequest()).answer(listOf(7, []));
    (await api.nextStream()).fail(kubeError('unavailable', 0));
    for (let failures = 1; failures <= 5; failures += 1) {
      await clock.advance(30_000);
      assert.equal(informer.isOutdated, true);
      assert.equal(informer.state.kind, 'synced');
      (await api.nextRequest()).fail(kubeError('unavailable', 503));
      await settle();
    }
    assert.equal(informer.state.kind, 'failing');
    await clock.advance(30_000);
    await start(api, 9);
    assert.equal(informer.state.kind, 'synced');
    await informers.close();
  });

  test('tries a server that does not answer at all every five seconds, however long it was away', async () => {
    const { api, clock, informers } = informerBench({}, 0.9);
    informers.acquire(configMaps);
    for (let tries = 0; tries < 8; tries++) {
      (await api.nextRequest()).fail(kubeError('unavailable', 0));
      await clock.advance(5_000);
    }
    assert.equal(api.untaken, 1);
    await start(api, 7);
    await informers.close();
  });

  test('a server that answers one informer again is tried by all at once', async () => {
    const { api, clock, informers } = informerBench();
    informers.acquire(configMaps);
    const other = informers.acquire({ ...configMaps, labelSelector: 'a' });
    const [first, second] = [await api.nextRequest(), await api.nextRequest()];
    first.fail(kubeError('unavailable', 0));
    await clock.advance(400);
    second.fail(kubeError('unavailable', 0));
    await clock.advance(400);
    assert.equal(api.untaken, 1);
    (await api.nextRequest()).answer(listOf(7, []));
    await settle();
    // The watch of the one, and the list of the other, whose delay had 400 ms to go.
    await api.nextStream();
    (await api.nextRequest()).answer(listOf(7, []));
    await other.whenSynced(new AbortController().signal);
    await informers.close();
  });
});
