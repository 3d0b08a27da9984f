import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { settle } from '../../../../test/support/fake-clock.ts';
import {
  configMap,
  configMaps,
  informerBench,
  listOf,
  start,
} from '../../../../test/support/model/informer-bench.ts';
import { whenSynced } from '../../../../test/support/when-synced.ts';
import { KubeError } from '../kube-error.ts';
import type { CacheEvent, Informer, PassToken } from '../roles.ts';

const never = new AbortController().signal;
const pass: PassToken = { key: 'default/a', definition: 'web' };

function versionIn(informer: Informer, name: string): string | undefined {
  return informer.get('default', name)?.object.metadata.resourceVersion;
}

describe('kube/cache informer set', () => {
  test('shares one informer between equal queries, however these are written', async () => {
    const { api, informers } = informerBench();
    const one = informers.acquire({ ...configMaps, labelSelector: 'b in (c),a' });
    const other = informers.acquire({ ...configMaps, labelSelector: 'a, b==c' });
    await start(api, 7, [configMap('a', 3, { a: '', b: 'c' })]);
    await whenSynced(other, never);
    assert.equal(api.untaken, 0);
    assert.equal(one.get('default', 'a'), other.get('default', 'a'));
    await informers.close();
  });

  test('sends a late subscriber the whole store', async () => {
    const { api, informers } = informerBench();
    await Promise.all([
      whenSynced(informers.acquire(configMaps), never),
      start(api, 7, [configMap('a', 3)]),
    ]);
    const heard: CacheEvent[] = [];
    informers.acquire(configMaps).subscribe((event) => heard.push(event));
    assert.deepEqual(
      heard.map(({ name, initial }) => [name, initial]),
      [['a', true]],
    );
    await informers.close();
  });

  test('stops an informer with its last use, and starts again after it', async () => {
    const { api, clock, informers } = informerBench();
    const first = informers.acquire(configMaps);
    const second = informers.acquire(configMaps);
    const { stream } = await start(api, 7);
    first.release();
    first.release();
    await settle();
    assert.equal(stream.closed, false);
    second.release();
    await settle();
    assert.equal(stream.closed, true);
    assert.equal(clock.pending, 0);
    informers.acquire(configMaps);
    await api.nextRequest();
    await informers.close();
  });

  test('a released use hears nothing more, the others do', async () => {
    const { api, informers } = informerBench();
    const [gone, left] = [informers.acquire(configMaps), informers.acquire(configMaps)];
    const heard: string[] = [];
    gone.subscribe(() => heard.push('gone'));
    left.subscribe(() => heard.push('left'));
    gone.release();
    await start(api, 7, [configMap('a', 3)]);
    assert.deepEqual(heard, ['left']);
    await informers.close();
  });

  test('keeps an informer of a single object for a minute after its last use', async () => {
    const { api, clock, informers } = informerBench();
    const single = { ...configMaps, namespace: 'default', fieldSelector: 'metadata.name=a' };
    informers.acquire(single).release();
    const { stream } = await start(api, 7);
    await clock.advance(59_000);
    const again = informers.acquire(single);
    await clock.advance(60_000);
    assert.equal(stream.closed, false);
    assert.equal(again.state.kind, 'synced');
    again.release();
    await clock.advance(60_000);
    assert.equal(stream.closed, true);
    await informers.close();
    assert.equal(clock.pending, 0);
  });

  test('keeps none that may not be seen: who comes next asks again', async () => {
    const { api, clock, informers } = informerBench();
    const single = { ...configMaps, fieldSelector: 'metadata.name=a' };
    const denied = informers.acquire(single);
    const right = { verb: 'list', group: '', resource: 'configmaps' };
    (await api.nextRequest()).fail(new KubeError('forbidden', 'no', { status: 403, right }));
    await settle();
    denied.release();
    await settle();
    assert.equal(clock.pending, 0);
    const again = informers.acquire(single);
    assert.equal(again.state.kind, 'waiting');
    await start(api, 7);
    await whenSynced(again, never);
    await informers.close();
  });

  test('closed while an informer lingers, it leaves no timer', async () => {
    const { api, clock, informers } = informerBench();
    const informer = informers.acquire({ ...configMaps, fieldSelector: 'metadata.name=a' });
    await start(api, 7);
    informer.release();
    await informers.close();
    assert.equal(clock.pending, 0);
    assert.throws(() => informers.acquire(configMaps), /The cache is closed/);
  });

  for (const query of [{ labelSelector: 'a in b' }, { fieldSelector: 'spec.x=1' }]) {
    test(`rejects the query ${JSON.stringify(query)}`, async () => {
      const { informers } = informerBench();
      assert.throws(() => informers.acquire({ ...configMaps, ...query }), RangeError);
      await informers.close();
    });
  }

  test('delivers an answer to every informer that selects the object, and to no other', async () => {
    const { api, informers } = informerBench();
    const queries = [
      configMaps,
      { ...configMaps, namespace: 'default' },
      { ...configMaps, namespace: 'other' },
      { ...configMaps, labelSelector: 'app=web' },
      { ...configMaps, labelSelector: 'app=db' },
      { ...configMaps, fieldSelector: 'metadata.name=a' },
      { ...configMaps, fieldSelector: 'metadata.name=b' },
    ];
    const uses = queries.map((query) => informers.acquire(query));
    for (const _ of uses) (await api.nextRequest()).answer(listOf(7, []));
    await Promise.all(uses.map((use) => whenSynced(use, never)));
    const ticket = informers.begin(configMaps.gvk, 'default', 'a');
    ticket.store(configMap('a', 8, { app: 'web' }), pass);
    ticket.end();
    assert.deepEqual(
      uses.map((use) => versionIn(use, 'a')),
      ['8', '8', undefined, '8', undefined, '8', undefined],
    );
    await informers.close();
  });

  test('an answer that lost the label leaves the informer, and old events do not bring it back', async () => {
    const { api, informers } = informerBench();
    const informer = informers.acquire({ ...configMaps, labelSelector: 'app=web' });
    const { stream } = await start(api, 7, [configMap('a', 3, { app: 'web' })]);
    const heard: CacheEvent[] = [];
    informer.subscribe((event) => heard.push(event));
    const ticket = informers.begin(configMaps.gvk, 'default', 'a');
    ticket.store(configMap('a', 9), pass);
    ticket.end();
    stream.event('MODIFIED', configMap('a', 8, { app: 'web' }));
    stream.event('DELETED', configMap('a', 9));
    await settle();
    assert.equal(versionIn(informer, 'a'), undefined);
    assert.deepEqual(
      heard.map(({ current, pass: by }) => [current?.object.metadata.resourceVersion, by]),
      [
        ['3', undefined],
        [undefined, pass],
      ],
    );
    await informers.close();
  });

  test('reports an answer once, with its pass: the watch event of the same version is no news', async () => {
    const { api, informers } = informerBench();
    const informer = informers.acquire(configMaps);
    const { stream } = await start(api, 7);
    const heard: CacheEvent[] = [];
    informer.subscribe((event) => heard.push(event));
    const ticket = informers.begin(configMaps.gvk, 'default', 'a');
    const stored = ticket.store(configMap('a', 8), pass);
    ticket.end();
    assert.equal(informer.get('default', 'a'), stored);
    stream.event('ADDED', configMap('a', 8));
    stream.event('MODIFIED', configMap('a', 9));
    await settle();
    assert.deepEqual(
      heard.map(({ current, pass: by }) => [current?.object.metadata.resourceVersion, by]),
      [
        ['8', pass],
        ['9', undefined],
      ],
    );
    await informers.close();
  });

  test('a watch that is faster than the answer is stored at once, and reported with the pass that wrote', async () => {
    const { api, informers } = informerBench();
    const informer = informers.acquire(configMaps);
    const { stream } = await start(api, 7);
    const heard: CacheEvent[] = [];
    informer.subscribe((event) => heard.push(event));
    const ticket = informers.begin(configMaps.gvk, 'default', 'a');
    stream.event('ADDED', configMap('b', 8));
    stream.event('ADDED', configMap('a', 9));
    stream.event('MODIFIED', configMap('a', 10));
    await settle();
    assert.equal(versionIn(informer, 'a'), '10');
    assert.deepEqual(
      heard.splice(0).map(({ name }) => name),
      ['b'],
    );
    ticket.store(configMap('a', 9), pass);
    ticket.end();
    assert.deepEqual(
      heard.map(({ current, pass: by }) => [current?.object.metadata.resourceVersion, by]),
      [
        ['9', pass],
        ['10', undefined],
      ],
    );
    await informers.close();
  });

  test('events wait for the answers of requests that had begun, no longer than a second, and in order', async () => {
    const { api, clock, informers } = informerBench();
    const informer = informers.acquire(configMaps);
    const { stream } = await start(api, 7);
    const heard: string[] = [];
    informer.subscribe(({ current }) => heard.push(current?.object.metadata.resourceVersion ?? ''));
    const [slow, quick] = [1, 2].map(() => informers.begin(configMaps.gvk, 'default', 'a'));
    stream.event('ADDED', configMap('a', 8));
    await settle();
    quick?.store(configMap('a', 9), pass);
    quick?.end();
    const later = informers.begin(configMaps.gvk, 'default', 'a');
    assert.deepEqual(heard, []);
    await clock.advance(999);
    assert.deepEqual(heard, []);
    await clock.advance(1);
    assert.deepEqual(heard, ['8', '9']);
    slow?.end();
    later.end();
    await informers.close();
    assert.equal(clock.pending, 0);
  });

  test('events wait for a request from when it is sent, however long it has waited in the queue', async () => {
    const { api, clock, informers } = informerBench();
    const informer = informers.acquire(configMaps);
    const { stream } = await start(api, 7, [configMap('a', 3)]);
    const heard: (readonly [string | undefined, unknown])[] = [];
    informer.subscribe(({ current, pass: by }) =>
      heard.push([current?.object.metadata.resourceVersion, by]),
    );
    heard.length = 0;
    const ticket = informers.begin(configMaps.gvk, 'default', 'a');
    await clock.advance(5_000);
    stream.event('MODIFIED', configMap('a', 8));
    await settle();
    assert.deepEqual(heard.splice(0), [['8', undefined]]);
    ticket.sending();
    await clock.advance(999);
    stream.event('MODIFIED', configMap('a', 9));
    await settle();
    assert.deepEqual(heard, []);
    ticket.store(configMap('a', 9), pass);
    ticket.end();
    assert.deepEqual(heard, [['9', pass]]);
    await informers.close();
    assert.equal(clock.pending, 0);
  });

  test('notes our managers of an answer', async () => {
    const { informers } = informerBench();
    const answer = configMap('a', 8);
    const managedFields = [{ manager: 'homeostat/web', operation: 'Apply' }];
    const ticket = informers.begin(configMaps.gvk, 'default', 'a');
    const metadata = { ...answer.metadata, managedFields };
    const stored = ticket.store({ ...answer, metadata }, pass);
    ticket.end();
    assert.deepEqual(stored.appliedBy, ['homeostat/web']);
    await informers.close();
  });

  test('a late answer does not bring back what was deleted meanwhile', async () => {
    const { api, informers } = informerBench();
    const informer = informers.acquire(configMaps);
    const { stream } = await start(api, 7);
    const ticket = informers.begin(configMaps.gvk, 'default', 'a');
    stream.event('ADDED', configMap('a', 8));
    stream.event('DELETED', configMap('a', 9));
    await settle();
    ticket.store(configMap('a', 8), pass);
    ticket.end();
    assert.equal(versionIn(informer, 'a'), undefined);
    await informers.close();
  });

  test('marks an object whose DELETE was answered until it leaves', async () => {
    const { api, informers } = informerBench();
    const informer = informers.acquire(configMaps);
    const { stream } = await start(api, 7, [configMap('a', 3), configMap('b', 4)]);
    const ticket = informers.begin(configMaps.gvk, 'default', 'a');
    ticket.deleting('uid-other', pass);
    const deletedAt = () => informer.get('default', 'a')?.object.metadata.deletionTimestamp;
    assert.equal(deletedAt(), undefined);
    ticket.deleting('uid-a', pass);
    ticket.end();
    assert.equal(deletedAt(), '2026-01-01T00:00:00Z');
    stream.event('MODIFIED', configMap('a', 8));
    await settle();
    assert.equal(deletedAt(), '2026-01-01T00:00:00Z');
    stream.event('DELETED', configMap('a', 9));
    await settle();
    assert.equal(versionIn(informer, 'a'), undefined);
    await informers.close();
  });

  test('a 404 takes out what was known before the request, not what came since', async () => {
    const { api, informers } = informerBench();
    const informer = informers.acquire(configMaps);
    const { stream } = await start(api, 7, [configMap('a', 3)]);
    const aboutA = informers.begin(configMaps.gvk, 'default', 'a');
    const aboutB = informers.begin(configMaps.gvk, 'default', 'b');
    stream.event('ADDED', configMap('b', 8));
    await settle();
    for (const ticket of [aboutA, aboutB]) {
      ticket.gone(undefined, pass);
      ticket.end();
    }
    assert.deepEqual([versionIn(informer, 'a'), versionIn(informer, 'b')], [undefined, '8']);
    await informers.close();
  });

  test('a listener that throws keeps no other from hearing', async () => {
    const { api, informers } = informerBench();
    const informer = informers.acquire(configMaps);
    informer.subscribe(() => {
      throw new Error('broken listener');
    });
    informer.onState(() => {
      throw new Error('broken listener');
    });
    const heard: string[] = [];
    informer.subscribe(({ name }) => heard.push(name));
    await Promise.all([whenSynced(informer, never), start(api, 7, [configMap('a', 3)])]);
    assert.deepEqual(heard, ['a']);
    await informers.close();
  });

  test('reports to the metrics how many objects it holds, why it began again, and how old the last event is', async () => {
    const { api, clock, metrics, informers } = informerBench();
    const informer = informers.acquire(configMaps);
    const { stream } = await start(api, 7, [configMap('a', 3), configMap('b', 4)]);
    stream.event('DELETED', configMap('a', 8));
    await clock.advance(20_000);
    informers.observe();
    const text = await metrics.expose();
    assert.match(text, /^homeostat_informer_objects\{kind="v1\/ConfigMap"\} 1$/m);
    assert.match(text, /^homeostat_informer_last_activity_seconds\{kind="v1\/ConfigMap"\} 20$/m);
    stream.event('ERROR', { kind: 'Status', code: 410 });
    await settle();
    const restarts = /^homeostat_informer_restarts_total\{kind="v1\/ConfigMap",reason="gone"\} 1$/m;
    assert.match(await metrics.expose(), restarts);
    informer.release();
    await settle();
    const after = await metrics.expose();
    assert.doesNotMatch(after, /^homeostat_informer_(objects|last_activity_seconds)\{/m);
    const again = informers.acquire(configMaps);
    await start(api, 9, [configMap('b', 4)]);
    assert.match(await metrics.expose(), /^homeostat_informer_objects\{kind="v1\/ConfigMap"\} 1$/m);
    again.release();
    await informers.close();
  });
});
