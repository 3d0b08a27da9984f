import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock, settle } from '../../../test/support/fake-clock.ts';
import { freshMetrics } from '../../../test/support/silent-telemetry.ts';
import { WorkQueue, type WorkQueueOptions } from './work-queue.ts';

function setUp(options: Partial<WorkQueueOptions> = {}) {
  const clock = new FakeClock();
  const metrics = freshMetrics();
  const onReady = () => undefined;
  return {
    clock,
    metrics,
    queue: new WorkQueue({ name: 'q', clock, metrics, onReady, ...options }),
  };
}

/** Takes all that is ready now. */
function drain(queue: WorkQueue): string[] {
  const keys: string[] = [];
  while (queue.length > 0) keys.push(queue.take() as string);
  return keys;
}

describe('controller/work-queue', () => {
  test('hands a key out once however often it was added', async () => {
    const { queue } = setUp();
    for (const key of ['a', 'b', 'a', 'a']) queue.add(key);
    assert.deepEqual(drain(queue), ['a', 'b']);
  });

  test('never gives one key to two workers, and runs it exactly once more', async () => {
    const { queue } = setUp();
    queue.add('a');
    assert.equal(queue.take(), 'a');
    queue.add('a');
    queue.add('a');
    assert.equal(queue.length, 0);
    queue.done('a');
    assert.deepEqual(drain(queue), ['a']);
    queue.done('a');
    assert.equal(queue.length, 0);
  });

  test('says that a key is ready, and hands out none while it is paused', () => {
    const taken: (string | undefined)[] = [];
    const { queue }: { readonly queue: WorkQueue } = setUp({
      onReady: () => void taken.push(queue.take()),
    });
    queue.add('a');
    queue.pause();
    queue.add('b');
    queue.resume();
    assert.deepEqual(taken, ['a', undefined, 'b']);
  });

  for (const [first, second, readyAtMs] of [
    [100, 50, 50],
    [50, 100, 50],
  ] as const) {
    test(`of delays ${first} and ${second} ms the earlier counts`, async () => {
      const { queue, clock } = setUp();
      queue.addAfter('a', first);
      queue.addAfter('a', second);
      await clock.advance(readyAtMs - 1);
      assert.equal(queue.length, 0);
      await clock.advance(1);
      assert.deepEqual(drain(queue), ['a']);
      queue.done('a');
      await clock.advance(200);
      assert.equal(queue.length, 0, 'the other delay is dropped');
    });
  }

  test('an immediate add makes a waiting key ready at once, and only once', async () => {
    const { queue, clock } = setUp();
    queue.addAfter('a', 100);
    queue.add('a');
    assert.deepEqual(drain(queue), ['a']);
    queue.done('a');
    await clock.advance(200);
    assert.equal(queue.length, 0);
    assert.equal(clock.pending, 0);
  });

  test('delays double from 5 ms to 1000 s and are reset by forget', () => {
    const { queue } = setUp();
    const delays = Array.from({ length: 20 }, () => queue.addRateLimited('a'));
    assert.deepEqual(delays.slice(0, 4), [5, 10, 20, 40]);
    assert.equal(delays[17], 655_360);
    assert.equal(delays[18], 1_000_000);
    assert.equal(delays[19], 1_000_000);
    queue.forget('a');
    assert.equal(queue.addRateLimited('a'), 5);
  });

  test('what waits because no server answered can be made to run now, what failed otherwise or waits for its time cannot', async () => {
    const { queue, clock } = setUp();
    for (let failures = 0; failures < 12; failures++) {
      queue.addRateLimited('unanswered', { isUnreachable: true });
      queue.addRateLimited('rejected');
    }
    queue.addAfter('later', 10_000);
    queue.retryNow();
    assert.deepEqual(drain(queue), ['unanswered']);
    assert.equal(queue.failuresOf('unanswered'), 0);
    assert.equal(queue.failuresOf('rejected'), 12);
    queue.retryNow();
    assert.equal(queue.length, 0);
    await clock.advance(10_000);
    assert.deepEqual(drain(queue), ['rejected', 'later']);
  });

  test('how long no server answered does not count for how long a rejection is waited out', () => {
    const { queue } = setUp();
    for (let failures = 0; failures < 12; failures++) {
      queue.addRateLimited('a', { isUnreachable: true });
    }
    assert.equal(queue.addRateLimited('a'), 5);
    assert.equal(queue.addRateLimited('a'), 10);
  });

  test('work that is under way when the server answers again, and still meets silence, waits as after a first failure', async () => {
    const { queue } = setUp();
    for (let failures = 0; failures < 12; failures++) {
      queue.addRateLimited('a', { isUnreachable: true });
    }
    queue.add('a');
    assert.equal(queue.take(), 'a');
    queue.retryNow();
    assert.equal(queue.addRateLimited('a', { isUnreachable: true }), 5);
  });

  test('live keys go before low ones, and every tenth pick is from below', async () => {
    const { queue } = setUp();
    for (let i = 0; i < 3; i++) queue.add(`low-${i}`, 'low');
    for (let i = 0; i < 20; i++) queue.add(`live-${i}`);
    const keys = drain(queue);
    assert.deepEqual(
      keys.slice(0, 9),
      Array.from({ length: 9 }, (_, i) => `live-${i}`),
    );
    assert.equal(keys[9], 'low-0');
    assert.equal(keys[19], 'low-1');
  });

  test('work that was begun and requeued comes after what has not begun, and before what is less urgent', async () => {
    const { queue } = setUp();
    queue.add('begun');
    assert.equal(queue.take(), 'begun');
    queue.add('low', 'low');
    queue.add('live');
    assert.equal(queue.park('begun'), true);
    assert.deepEqual(drain(queue), ['live', 'begun', 'low']);
  });

  test('among many new keys every tenth pick in turn is parked work', async () => {
    const { queue } = setUp();
    queue.add('begun');
    queue.take();
    queue.park('begun');
    for (let i = 0; i < 40; i++) queue.add(`live-${i}`);
    assert.ok(drain(queue).indexOf('begun') < 30);
  });

  test('with a thousand parked passes they go before new keys', async () => {
    const { queue } = setUp();
    const keys = Array.from({ length: 1_000 }, (_, i) => `begun-${i}`);
    for (const key of keys) queue.add(key);
    for (const key of keys) assert.equal(queue.take(), key);
    for (const key of keys) queue.park(key);
    queue.add('new');
    assert.equal(queue.take(), 'begun-0');
    assert.equal(queue.take(), 'new');
  });

  test('a low key that is added as a live one moves up and is handed out once', async () => {
    const { queue } = setUp();
    queue.add('a', 'low');
    queue.add('b', 'low');
    queue.add('b');
    assert.deepEqual(drain(queue), ['b', 'a']);
  });

  test('shut down: workers get nothing, delays are dropped, running work may end', async () => {
    const { queue, clock } = setUp();
    queue.add('running');
    assert.equal(queue.take(), 'running');
    queue.addAfter('later', 10);
    queue.add('running');
    queue.shutDown();
    assert.equal(queue.take(), undefined);
    queue.done('running');
    await clock.advance(100);
    assert.equal(queue.length, 0);
    assert.equal(clock.pending, 0);
  });

  test('keeps its invariants under random operations', async () => {
    let seed = 42;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed % below;
    };
    const { queue, clock } = setUp();
    const working = new Set<string>();
    const owed = new Set<string>();
    for (let step = 0; step < 5_000; step++) {
      const key = `k${random(8)}`;
      const action = random(5);
      if (action === 0) queue.add(key, random(2) === 0 ? 'low' : 'normal');
      if (action === 1) queue.addAfter(key, 1 + random(20));
      if (action <= 1) owed.add(key);
      if (action === 2 && queue.length > 0) {
        const taken = queue.take() as string;
        assert.ok(!working.has(taken), 'one key with two workers');
        owed.delete(taken);
        working.add(taken);
      }
      if (action === 3 && working.delete(key)) queue.done(key);
      if (action === 4) await clock.advance(random(10));
    }
    for (const key of working) queue.done(key);
    await clock.advance(100);
    const rest = drain(queue);
    assert.deepEqual(
      [...owed].filter((key) => !rest.includes(key)),
      [],
      'an add was lost',
    );
    assert.equal(new Set(rest).size, rest.length, 'a key is queued twice');
  });

  test('its gauges and counters show depth, adds and retries', async () => {
    const { queue, metrics, clock } = setUp();
    queue.add('a');
    queue.add('b', 'low');
    queue.take();
    queue.addRateLimited('c');
    await clock.advance(2_000);
    queue.observe();
    const text = await metrics.expose();
    assert.match(text, /^workqueue_depth\{name="q",controller="q",priority="normal"\} 1$/m);
    assert.match(text, /^workqueue_depth\{name="q",controller="q",priority="low"\} 1$/m);
    assert.match(text, /^workqueue_adds_total\{name="q",controller="q"\} 3$/m);
    assert.match(text, /^workqueue_retries_total\{name="q",controller="q"\} 1$/m);
    assert.match(text, /^workqueue_longest_running_processor_seconds\{[^}]*\} 2$/m);
    await settle();
  });

  describe('retries', () => {
    const many = Array.from({ length: 150 }, (_, index) => `k${index}`);

    /** Works once on everything that is ready. */
    function workAll(queue: WorkQueue, end: (key: string) => void): string[] {
      const keys = drain(queue);
      for (const key of keys) {
        end(key);
        queue.done(key);
      }
      return keys;
    }

    test('of many failing keys a burst is retried at once, the others ten a second', async () => {
      const { queue, clock } = setUp({ retrySpacingMs: 0 });
      for (const key of many) queue.addRateLimited(key);
      await clock.advance(5);
      assert.equal(workAll(queue, () => {}).length, 100);
      await clock.advance(1_000);
      assert.equal(workAll(queue, () => {}).length, 10);
    });

    test('a burst is spread: ten at once, then one each 20 ms', async () => {
      const { queue, clock } = setUp();
      for (const key of many) queue.addRateLimited(key);
      await clock.advance(5);
      assert.equal(workAll(queue, () => {}).length, 10);
      await clock.advance(100);
      assert.equal(workAll(queue, () => {}).length, 5);
    });

    test('after the failure the others follow at once', async () => {
      const { queue, clock } = setUp({ retrySpacingMs: 0 });
      for (const key of many) queue.addRateLimited(key);
      await clock.advance(5);
      const keys = workAll(queue, (key) => queue.markSucceeded(key));
      assert.equal(new Set([...keys, ...drain(queue)]).size, 150);
    });

    test('an event enqueues a held key at once, and its retry is dropped', async () => {
      const { queue, clock } = setUp({ retrySpacingMs: 0 });
      for (const key of many) queue.addRateLimited(key);
      await clock.advance(5);
      workAll(queue, () => {});
      queue.add('k149');
      assert.deepEqual(
        workAll(queue, () => {}),
        ['k149'],
      );
      await clock.advance(60_000);
      const later = drain(queue);
      assert.equal(later.length, 49);
      assert.ok(!later.includes('k149'));
      assert.equal(clock.pending, 0);
    });

    test('a delay does not replace the budget that releases a held key before', async () => {
      const { queue, clock } = setUp({ retrySpacingMs: 0 });
      for (const key of many) queue.addRateLimited(key);
      await clock.advance(5);
      workAll(queue, () => {});
      queue.addAfter('k149', 3_600_000);
      await clock.advance(60_000);
      assert.ok(drain(queue).includes('k149'));
      assert.equal(clock.pending, 0);
    });

    test('a delay that ends before the budget releases a held key is kept', async () => {
      const { queue, clock } = setUp({ retrySpacingMs: 0 });
      for (const key of many) queue.addRateLimited(key);
      await clock.advance(5);
      workAll(queue, () => {});
      queue.addAfter('k149', 200);
      await clock.advance(199);
      assert.ok(!workAll(queue, () => {}).includes('k149'));
      await clock.advance(1);
      assert.ok(workAll(queue, () => {}).includes('k149'));
      await clock.advance(60_000);
      assert.ok(!drain(queue).includes('k149'));
      assert.equal(clock.pending, 0);
    });

    test('events go before retries that were held', async () => {
      const { queue, clock } = setUp({ retrySpacingMs: 0 });
      for (const key of many) queue.retryAfter(key, 5);
      await clock.advance(5);
      workAll(queue, () => {});
      await clock.advance(100);
      queue.add('new');
      assert.deepEqual(drain(queue), ['new', 'k100']);
    });

    test('a key that is held for another reason than a failure outlives the end of an outage', async () => {
      const { queue, clock } = setUp({ retrySpacingMs: 0 });
      for (const key of many) queue.retryAfter(key, 5);
      await clock.advance(5);
      const atOnce = workAll(queue, () => {});
      queue.retryNow();
      assert.equal(queue.length, 0);
      await clock.advance(5_000);
      const later = workAll(queue, () => {});
      assert.equal(new Set([...atOnce, ...later]).size, 150);
      assert.equal(clock.pending, 0);
    });

    test('the end of an outage lets no one through who was rejected', async () => {
      const { queue, clock } = setUp({ retrySpacingMs: 0 });
      for (const key of many) queue.addRateLimited(key);
      await clock.advance(5);
      workAll(queue, () => {});
      queue.addRateLimited('unanswered', { isUnreachable: true });
      queue.retryNow();
      assert.deepEqual(
        workAll(queue, () => {}),
        ['unanswered'],
      );
      await clock.advance(1_000);
      assert.equal(workAll(queue, () => {}).length, 10);
    });

    test('the end of an outage is the end of all waiting for it', async () => {
      const { queue, clock } = setUp({ retrySpacingMs: 0 });
      for (const key of many) queue.addRateLimited(key, { isUnreachable: true });
      await clock.advance(5);
      workAll(queue, () => {});
      queue.retryNow();
      assert.equal(drain(queue).length, 50);
      assert.equal(clock.pending, 0);
    });

    test('nothing is held after the shutdown', async () => {
      const { queue, clock } = setUp({ retrySpacingMs: 0 });
      for (const key of many) queue.addRateLimited(key);
      await clock.advance(5);
      queue.shutDown();
      assert.equal(clock.pending, 0);
    });
  });
});
