import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gvkOf } from '#util/gvk.ts';
import { settle } from '../../../../test/support/fake-clock.ts';
import { configMaps, informerBench, start } from '../../../../test/support/model/informer-bench.ts';
import { kubeError } from '../../../../test/support/model/scripted-api.ts';

const gvk = gvkOf('demo.example.com/v1', 'PodSet');

function crd(name: string) {
  return { kind: 'PartialObjectMetadata', metadata: { name, resourceVersion: '7' } };
}

describe('kube/cache kind-notifier', () => {
  test('while a kind is missing the names of CRDs are watched, and news of its group have it asked for at once', async () => {
    const { api, clock, discovery, informers } = informerBench();
    const informer = informers.acquire({ gvk });
    const pending = await api.nextStream();
    assert.equal(pending.request.path, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions');
    assert.match(pending.request.accept ?? '', /PartialObjectMetadata/);
    const stream = pending.open();
    await settle();
    assert.equal(discovery.lookUps, 1);
    stream.event('ADDED', crd('others.other.example.com'));
    await settle();
    assert.equal(discovery.lookUps, 1);
    discovery.serve('demo.example.com/v1', 'PodSet', 'podsets');
    stream.event('ADDED', crd('podsets.demo.example.com'));
    await start(api, 7);
    await settle();
    assert.equal(informer.state.kind, 'synced');
    assert.equal(stream.closed, true);
    await clock.advance(60_000);
    assert.equal(api.openStreams.size, 1);
    await informers.close();
  });

  test('news make the delays start from the first: a kind is served a little after its CRD comes', async () => {
    const { api, clock, discovery, informers } = informerBench();
    informers.acquire({ gvk });
    const stream = (await api.nextStream()).open();
    await clock.advance(60_000);
    const before = discovery.lookUps;
    stream.event('MODIFIED', crd('podsets.demo.example.com'));
    await settle();
    assert.equal(discovery.lookUps, before + 1);
    discovery.serve('demo.example.com/v1', 'PodSet', 'podsets');
    await clock.advance(1_600);
    await start(api, 7);
    await informers.close();
  });

  test('a watch that falls silent is opened again: a dead connection reports nothing', async () => {
    const { api, clock, informers } = informerBench();
    informers.acquire({ gvk });
    const silent = (await api.nextStream()).open();
    silent.event('BOOKMARK', crd(''));
    await clock.advance(179_999);
    assert.equal(silent.closed, false);
    await clock.advance(1);
    assert.equal(silent.closed, true);
    await clock.advance(30_000);
    const again = await api.nextStream();
    assert.equal(again.request.query?.allowWatchBookmarks, 'true');
    again.open();
    await settle();
    await informers.close();
    assert.equal(clock.pending, 0);
  });

  test('a watch that breaks is opened again; with no kind missing there is none', async () => {
    const { api, clock, informers } = informerBench();
    informers.acquire(configMaps);
    await start(api, 7);
    await settle();
    assert.equal(api.untaken, 0);
    const missing = informers.acquire({ gvk });
    (await api.nextStream()).fail(kubeError('forbidden', 403));
    await clock.advance(800);
    const again = await api.nextStream();
    again.open();
    missing.release();
    await settle();
    assert.equal(api.openStreams.size, 1);
    await informers.close();
  });
});
