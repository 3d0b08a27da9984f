import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { StreamQueue } from '#util/stream-queue.ts';
import { FakeClock, settle } from '../../../../test/support/fake-clock.ts';
import { BackendError } from '../backend-error.ts';
import type { KubeRequest, KubeResponse, WatchEvent, WatchRequest } from '../contract.ts';
import { ObjectList } from './object-list.ts';

const pod = (name: string, resourceVersion: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, uid: name, resourceVersion },
});

function listOf(names: readonly string[], resourceVersion: string, more = {}): KubeResponse {
  const items = names.map((name) => ({ metadata: { name, uid: name } }));
  return {
    status: 200,
    body: { apiVersion: 'v1', kind: 'PodList', metadata: { resourceVersion, ...more }, items },
  };
}

/** A list whose responses and watches the test provides. */
function followed(responses: KubeResponse[]) {
  const clock = new FakeClock();
  const asked: KubeRequest[] = [];
  const watches: { readonly request: WatchRequest; readonly events: StreamQueue<WatchEvent> }[] =
    [];
  const stopper = new AbortController();
  const list = new ObjectList({
    clock,
    path: '/api/v1/pods',
    onChange: () => undefined,
    backend: {
      request: async (request) => {
        asked.push(request);
        return responses.shift() ?? { status: 500, body: { message: 'No response is left' } };
      },
      watch(request) {
        const events = new StreamQueue<WatchEvent>();
        watches.push({ request, events });
        return events;
      },
    },
  });
  void list.run(stopper.signal);
  const names = () => list.state.objects.map(({ metadata }) => metadata.name).sort();
  const lastWatch = () => {
    const watch = watches.at(-1);
    assert.ok(watch);
    return watch;
  };
  return { list, clock, asked, watches, names, lastWatch, stop: () => stopper.abort() };
}

describe('web/store/object-list', () => {
  test('lists page by page, then follows the watch from the version of the list', async () => {
    const { list, names, asked, lastWatch, stop } = followed([
      listOf(['a'], '5', { continue: 'next' }),
      listOf(['b'], '5'),
    ]);
    assert.equal(list.state.status, 'loading');
    await settle();
    assert.deepEqual(names(), ['a', 'b']);
    assert.deepEqual(
      asked.map(({ query }) => query?.continue),
      [undefined, 'next'],
    );
    const { request, events } = lastWatch();
    assert.equal(request.query?.resourceVersion, '5');
    events.push({ type: 'ADDED', object: pod('c', '6') });
    events.push({ type: 'DELETED', object: pod('a', '7') });
    await settle();
    assert.deepEqual(names(), ['b', 'c']);
    assert.equal(list.isChanged('c'), true);
    assert.equal(list.isChanged('b'), false);
    stop();
  });

  test('items have the kind of their list', async () => {
    const { list, stop } = followed([listOf(['a'], '5')]);
    await settle();
    assert.equal(list.state.objects[0]?.kind, 'Pod');
    stop();
  });

  test('a broken watch makes it stale, and resumes where it broke without a list', async () => {
    const { list, clock, asked, watches, lastWatch, names, stop } = followed([listOf(['a'], '5')]);
    await settle();
    lastWatch().events.push({ type: 'BOOKMARK', object: pod('', '9') });
    await settle();
    lastWatch().events.fail(new BackendError('unreachable', 'The stream has ended'));
    await settle();
    assert.deepEqual([list.state.status, list.state.message], ['stale', 'The stream has ended']);
    assert.deepEqual(names(), ['a']);
    await clock.advance(1_000);
    assert.deepEqual([asked.length, watches.length], [1, 2]);
    assert.equal(lastWatch().request.query?.resourceVersion, '9');
    assert.equal(list.state.status, 'live');
    stop();
  });

  test('it lists again when the server no longer has the version', async () => {
    const { list, clock, lastWatch, names, stop } = followed([
      listOf(['a'], '5'),
      listOf(['b'], '99'),
    ]);
    await settle();
    lastWatch().events.push({
      type: 'ERROR',
      object: { ...pod('', ''), code: 410, message: 'too old' },
    });
    await settle();
    assert.equal(list.state.status, 'stale');
    await clock.advance(1_000);
    assert.deepEqual([names(), list.state.status], [['b'], 'live']);
    stop();
  });

  for (const [status, expected] of [
    [403, 'forbidden'],
    [404, 'missing'],
    [500, 'failed'],
  ] as const)
    test(`a list that is answered with ${status} is ${expected}, and is tried again`, async () => {
      const { list, clock, names, stop } = followed([
        { status, body: { message: 'because' } },
        listOf(['a'], '5'),
      ]);
      await settle();
      assert.deepEqual([list.state.status, list.state.message], [expected, 'because']);
      await clock.advance(1_000);
      assert.deepEqual([names(), list.state.status], [['a'], 'live']);
      stop();
    });

  test('watches that end at once are opened less and less often', async () => {
    const { clock, watches, stop } = followed([listOf([], '5')]);
    for (let round = 0; round < 400; round++) {
      watches.at(-1)?.events.end();
      await clock.advance(100);
    }
    assert.ok(watches.length < 10, `${watches.length} watches`);
    stop();
  });

  test('watches that fail late, as they waited in the browser, are opened less and less often, until an event comes', async () => {
    const { clock, watches, lastWatch, stop } = followed([listOf([], '5')]);
    await settle();
    const fail = async () => {
      await clock.advance(2_000);
      lastWatch().events.fail(new BackendError('failed', 'Too many streams are open'));
      await settle();
      return watches.length;
    };
    for (let failures = 0; failures < 8; failures++) {
      await fail();
      await clock.advance(15_000);
    }
    const opened = await fail();
    await clock.advance(14_000);
    assert.equal(watches.length, opened);
    await clock.advance(1_000);
    assert.equal(watches.length, opened + 1);
    lastWatch().events.push({ type: 'ADDED', object: pod('a', '6') });
    await fail();
    await clock.advance(500);
    assert.equal(watches.length, opened + 2);
    stop();
  });
});
