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
import { kubeError, type ScriptedApi } from '../../../test/support/model/scripted-api.ts';
import { gvkOf } from '../../util/gvk.ts';
import { KubeError } from '../kube-error.ts';
import type { CacheEvent, Informer } from '../roles.ts';

function namesIn(informer: Informer): readonly string[] {
  return [...informer.list()].map(({ object }) => object.metadata.name);
}

/** Answers an informer that was cut off and asks which version the collection has now. */
async function tellVersion(api: ScriptedApi, version: number): Promise<void> {
  const asked = await api.nextRequest();
  assert.deepEqual(asked.request.query, { limit: '1' });
  asked.answer(listOf(version, []));
}

/** Another informer, whose watch stays open: not all connections break at once. */
async function startWitness({ api, informers }: ReturnType<typeof informerBench>): Promise<void> {
  informers.acquire({ ...configMaps, labelSelector: 'witness' });
  await start(api, 7);
}

const never = new AbortController().signal;
const bookmark = (version: number) => ({ metadata: { resourceVersion: String(version) } });

describe('kube/cache informer', () => {
  test('lists the present state in pages of 500, then watches with bookmarks from there', async () => {
    const { api, informers } = informerBench();
    const informer = informers.acquire({ ...configMaps, namespace: 'default', labelSelector: 'a' });
    const first = await api.nextRequest();
    assert.equal(first.request.path, '/api/v1/namespaces/default/configmaps');
    assert.deepEqual(first.request.query, { limit: '500', labelSelector: 'a' });
    assert.deepEqual(first.request.flow, { name: 'informer', priority: 'world' });
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
    const synced = informer.whenSynced(never).then(() => heard.map(({ name }) => name));
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

  test('goes on from the last version when the server ends a watch', async () => {
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

  test('asks which version the server has when a watch ends before its time', async () => {
    const { api, clock, informers } = informerBench();
    informers.acquire(configMaps);
    const { stream } = await start(api, 7);
    await clock.advance(150_000);
    stream.end();
    await tellVersion(api, 7);
    assert.equal((await api.nextStream()).request.query?.resourceVersion, '7');
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
    test(`lists anew after ${what}, when it has waited`, async () => {
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

  test('lists anew when the watch is answered with 410', async () => {
    const { api, clock, informers } = informerBench();
    informers.acquire(configMaps);
    (await api.nextRequest()).answer(listOf(7, []));
    (await api.nextStream()).fail(kubeError('gone', 410));
    await clock.advance(800);
    assert.equal((await api.nextRequest()).request.query?.resourceVersion, undefined);
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
      assert.equal(informer.isOutdated, false);
      await informers.close();
    });
  }

  for (const code of ['unavailable', 'timeout', 'connection-lost'] as const) {
    test(`lists anew after an attempt to watch without an answer: ${code}`, async () => {
      const { api, clock, informers } = informerBench();
      const informer = informers.acquire(configMaps);
      (await api.nextRequest()).answer(listOf(7, [configMap('a', 3), configMap('b', 7)]));
      (await api.nextStream()).fail(kubeError(code, 0));
      await settle();
      assert.equal(informer.state.kind, 'synced');
      assert.equal(informer.isOutdated, true);
      await clock.advance(800);
      // Restored from a backup, and past the version that we know by now: only a list tells.
      const list = await api.nextRequest();
      assert.deepEqual(list.request.query, { limit: '500' });
      list.answer(listOf(9, [configMap('a', 2)]));
      assert.equal((await api.nextStream()).request.query?.resourceVersion, '9');
      assert.deepEqual(namesIn(informer), ['a']);
      assert.equal(informer.get('default', 'a')?.object.metadata.resourceVersion, '2');
      assert.equal(informer.isOutdated, false);
      await informers.close();
    });
  }

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

  test('lists anew when the server has gone back while the connection was broken: etcd was restored', async () => {
    const bench = informerBench();
    const { api, clock, informers } = bench;
    await startWitness(bench);
    const informer = informers.acquire(configMaps);
    const { stream } = await start(api, 7, [configMap('a', 3), configMap('b', 7)]);
    stream.break(kubeError('unavailable', 0));
    await clock.advance(800);
    // A server that has just begun knows no roles yet; that it answers tells nothing of what it knows.
    (await api.nextRequest()).fail(kubeError('forbidden', 403));
    await clock.advance(1_600);
    await tellVersion(api, 5);
    // Nobody's watch is worth anything: each was opened in the time that is no more.
    const lists = [await api.nextRequest(), await api.nextRequest()];
    assert.equal(api.openStreams.size, 0);
    assert.equal(informer.isOutdated, true);
    for (const { request, answer } of lists) {
      assert.equal(request.query?.limit, '500');
      answer(listOf(5, [configMap('a', 2)]));
    }
    assert.equal((await api.nextStream()).request.query?.resourceVersion, '5');
    assert.equal((await api.nextStream()).request.query?.resourceVersion, '5');
    assert.equal(informer.isOutdated, false);
    assert.deepEqual(namesIn(informer), ['a']);
    await informers.close();
  });

  test('lists anew when the connections of all watches broke: that was the server', async () => {
    const { api, clock, informers } = informerBench();
    const one = informers.acquire(configMaps);
    const { stream } = await start(api, 7);
    const other = informers.acquire({ ...configMaps, labelSelector: 'a' });
    const { stream: otherStream } = await start(api, 7);
    stream.break(kubeError('unavailable', 0));
    await settle();
    assert.deepEqual([one.isOutdated, other.isOutdated], [false, false]);
    otherStream.break(kubeError('unavailable', 0));
    await settle();
    assert.deepEqual([one.isOutdated, other.isOutdated], [true, true]);
    await clock.advance(800);
    for (const list of [await api.nextRequest(), await api.nextRequest()]) {
      assert.equal(list.request.query?.limit, '500');
      list.answer(listOf(7, []));
    }
    await settle();
    assert.deepEqual([one.isOutdated, other.isOutdated], [false, false]);
    await informers.close();
  });

  test('resumes from the last event when the connection breaks', async () => {
    const bench = informerBench();
    const { api, clock, informers } = bench;
    await startWitness(bench);
    informers.acquire(configMaps);
    const { stream } = await start(api, 7);
    stream.event('ADDED', configMap('a', 8));
    stream.push('{"type":"ADDED","obj');
    stream.break(kubeError('unavailable', 0));
    await clock.advance(800);
    await tellVersion(api, 9);
    assert.equal((await api.nextStream()).request.query?.resourceVersion, '8');
    await informers.close();
  });

  test('lists anew when a server that answers refuses to resume again and again', async () => {
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
    await tellVersion(api, 7);
    await api.nextStream();
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

  test('takes a watch that ends at once without an event for a failure', async () => {
    const { api, clock, informers } = informerBench();
    informers.acquire(configMaps);
    const { stream } = await start(api, 7);
    stream.end();
    await clock.advance(799);
    assert.equal(api.untaken, 0);
    await clock.advance(1);
    await tellVersion(api, 7);
    await api.nextStream();
    await informers.close();
  });

  test('cuts an idle watch and resumes it; idle again, it lists anew', async () => {
    const { api, clock, informers } = informerBench();
    informers.acquire(configMaps);
    const { stream } = await start(api, 7);
    await clock.advance(100_000);
    stream.event('BOOKMARK', bookmark(9));
    await clock.advance(179_999);
    assert.equal(stream.closed, false);
    await clock.advance(1);
    assert.equal(stream.closed, true);
    await tellVersion(api, 9);
    const second = await api.nextStream();
    assert.equal(second.request.query?.resourceVersion, '9');
    second.open();
    await clock.advance(180_000);
    await api.nextRequest();
    assert.equal(api.openStreams.size, 0);
    await informers.close();
  });

  for (const [code, status] of [
    ['kind-missing', 404],
    ['forbidden', 403],
    ['unavailable', 503],
  ] as const) {
    test(`says "${code}" while the first list fails so, and keeps trying`, async () => {
      const { api, clock, informers } = informerBench();
      const informer = informers.acquire(configMaps);
      const told: string[] = [];
      informer.onState((state) =>
        told.push(state.kind === 'failing' ? state.error.code : state.kind),
      );
      (await api.nextRequest()).fail(kubeError(code, status));
      // The watch on the names of CRDs, which is of no help here.
      if (code === 'kind-missing') (await api.nextStream()).open();
      await clock.advance(800);
      await start(api, 7);
      assert.deepEqual(told, [code, 'synced']);
      await informers.close();
    });
  }

  test('is lost when the right or the kind goes, and synced again when it is back', async () => {
    const bench = informerBench();
    const { api, clock, informers } = bench;
    await startWitness(bench);
    const informer = informers.acquire(configMaps);
    const { stream } = await start(api, 7, [configMap('a', 3)]);
    stream.break(kubeError('unavailable', 0));
    await clock.advance(800);
    await tellVersion(api, 7);
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

  test('asks discovery for a kind that it does not know, at once when told to', async () => {
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

  test('lists anew when the schema of the kind changed, also in the middle of a list', async () => {
    const { api, informers } = informerBench();
    const informer = informers.acquire(configMaps);
    const { stream } = await start(api, 7, [configMap('a', 3)]);
    informers.relist(configMaps.gvk, 'schema-changed');
    const cut = await api.nextRequest();
    assert.equal(stream.closed, true);
    informers.relist(configMaps.gvk, 'schema-changed');
    const list = await api.nextRequest();
    assert.equal(cut.signal.aborted, true);
    const pruned = { ...configMap('a', 3), data: {} };
    list.answer(listOf(7, [pruned]));
    await api.nextStream();
    assert.deepEqual(informer.get('default', 'a')?.object.data, {});
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
