import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gvkOf } from '#util/gvk.ts';
import { settle } from '../../../../test/support/fake-clock.ts';
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
import { KubeError } from '../kube-error.ts';

describe('kube/cache informer: rejections and kinds that come and go', () => {
  for (const [code, status] of [
    ['kind-missing', 404],
    ['forbidden', 403],
    ['unavailable', 503],
  ] as const) {
    test(`says "${code}" while the first list fails so, and keeps trying`, async () => {
      const { api, clock, informers } = informerBench();
      const informer = informers.acquire(configMaps);
      const reported: string[] = [];
      informer.onState((state) =>
        reported.push(state.kind === 'failing' ? state.error.code : state.kind),
      );
      (await api.nextRequest()).fail(kubeError(code, status));
      // The watch on the names of CRDs, which is of no help here.
      if (code === 'kind-missing') (await api.nextStream()).open();
      await clock.advance(800);
      await start(api, 7);
      assert.deepEqual(reported, [code, 'synced']);
      await informers.close();
    });
  }

  test('is lost when the right or the kind is removed, and synced again when it is back', async () => {
    const bench = informerBench();
    const { api, clock, informers } = bench;
    await startWitness(bench);
    const informer = informers.acquire(configMaps);
    const { stream } = await start(api, 7, [configMap('a', 3)]);
    stream.break(kubeError('unavailable', 0));
    await clock.advance(800);
    await answerAfterBreak(api, 7, [configMap('a', 3)]);
    (await api.nextStream()).fail(kubeError('forbidden', 403));
    await settle();
    assert.equal(informer.state.kind, 'failing');
    assert.deepEqual(namesIn(informer), ['a']);
    await clock.advance(1_600);
    (await api.nextStream()).open();
    await settle();
    assert.equal(informer.state.kind, 'synced');
    await informers.close();
  });

  test('without the right it waits for the right, and lists when it comes', async () => {
    const { api, clock, rights, informers } = informerBench();
    const informer = informers.acquire({ ...configMaps, fieldSelector: 'metadata.name=a' });
    const right = { verb: 'list', group: '', resource: 'configmaps' };
    const denied = new KubeError('forbidden', 'no', { status: 403, right });
    // A server that has just started may not know its roles yet.
    for (const delayMs of [800, 1_600]) {
      (await api.nextRequest()).fail(denied);
      await clock.advance(delayMs);
    }
    (await api.nextRequest()).fail(denied);
    await settle();
    // A role may allow this one object.
    const ofOne = { ...right, name: 'a' };
    assert.deepEqual(informer.state.kind === 'failing' && informer.state.error.right, ofOne);
    assert.deepEqual(rights.wanted, [ofOne]);
    await clock.advance(599_999);
    assert.equal(api.untaken, 0);
    rights.grant();
    await start(api, 7);
    await settle();
    assert.equal(informer.state.kind, 'synced');
    assert.deepEqual(rights.wanted, []);
    await informers.close();
  });

  test('asks discovery for a kind that it does not know, at once when asked to', async () => {
    const { api, discovery, informers } = informerBench();
    const gvk = gvkOf('demo/v1', 'PodSet');
    const informer = informers.acquire({ gvk });
    await settle();
    assert.equal(informer.state.kind === 'failing' && informer.state.error.code, 'kind-missing');
    assert.equal(discovery.lookUps, 1);
    discovery.serve('demo/v1', 'PodSet', 'podsets');
    informers.retryNow(gvk);
    const list = await api.nextRequest();
    assert.equal(list.request.path, '/apis/demo/v1/podsets');
    await informers.close();
  });

  test('a kind that is gone and returns under another plural is found there', async () => {
    const { api, clock, discovery, informers } = informerBench();
    const gvk = gvkOf('demo/v1', 'PodSet');
    discovery.serve('demo/v1', 'PodSet', 'podsets');
    const informer = informers.acquire({ gvk });
    (await api.nextRequest()).answer(listOf(7, []));
    (await api.nextStream()).fail(kubeError('kind-missing', 404));
    await settle();
    assert.equal(informer.state.kind === 'failing' && informer.state.error.code, 'kind-missing');
    discovery.serve('demo/v1', 'PodSet', 'sets');
    await clock.advance(60_000);
    assert.equal((await api.nextRequest()).request.path, '/apis/demo/v1/sets');
    await informers.close();
  });

  test('lists again when the schema of the kind changed, also in the middle of a list', async () => {
    const { api, informers } = informerBench();
    const informer = informers.acquire(configMaps);
    const { stream } = await start(api, 7, [configMap('a', 3)]);
    informers.relist(configMaps.gvk);
    const cut = await api.nextRequest();
    assert.equal(stream.closed, true);
    informers.relist(configMaps.gvk);
    const list = await api.nextRequest();
    assert.equal(cut.signal.aborted, true);
    const pruned = { ...configMap('a', 3), data: {} };
    list.answer(listOf(7, [pruned]));
    await api.nextStream();
    assert.deepEqual(informer.get('default', 'a')?.object.data, {});
    await informers.close();
  });

  test('lists again some seconds after the schema of the kind changed: not every API server may have served the new one', async () => {
    const { api, clock, informers } = informerBench();
    informers.relist(configMaps.gvk);
    const informer = informers.acquire(configMaps);
    await start(api, 7, [configMap('a', 3)]);
    await clock.advance(5_000);
    const completed = { ...configMap('a', 3), data: { added: 'default' } };
    await start(api, 7, [completed]);
    assert.deepEqual(informer.get('default', 'a')?.object.data, { added: 'default' });
    await clock.advance(10_000);
    assert.equal(api.untaken, 0);
    await informers.close();
  });

  test('lists once more after several changes of a schema, and never after it is closed', async () => {
    const { api, clock, informers } = informerBench();
    informers.acquire(configMaps);
    await start(api, 7);
    informers.relist(configMaps.gvk);
    await start(api, 8);
    await clock.advance(4_000);
    informers.relist(configMaps.gvk);
    await start(api, 9);
    await clock.advance(4_999);
    assert.equal(api.untaken, 0);
    await clock.advance(1);
    await start(api, 9);
    informers.relist(configMaps.gvk);
    await start(api, 9);
    await informers.close();
    assert.equal(clock.pending, 0);
  });
});
