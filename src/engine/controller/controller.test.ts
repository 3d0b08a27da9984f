import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import { createLogger, type Logger } from '#telemetry';
import { TerminalError } from '#util/homeostat-error.ts';
import { FakeClock, settle } from '../../../test/support/fake-clock.ts';
import { freshMetrics, silentLogger } from '../../../test/support/silent-telemetry.ts';
import { Controller } from './controller.ts';
import type { ReconcileContext, ReconcileResult, Reconciler } from './reconciler.ts';

interface Run {
  readonly key: string;
  readonly signal: AbortSignal;
  readonly yieldWorker: ReconcileContext['yieldWorker'];
  finish(outcome?: ReconcileResult): void;
  fail(error: Error): void;
}

interface SetUpOptions {
  readonly concurrency?: number;
  readonly graceMs?: number;
  readonly logger?: Logger;
  /** In place of passes that end when the test says so. */
  readonly reconcile?: Reconciler['reconcile'];
}

/** A controller whose passes end when the test says so. */
function setUp({ reconcile, ...options }: SetUpOptions = {}) {
  const clock = new FakeClock();
  const metrics = freshMetrics();
  const runs: Run[] = [];
  const stopper = new AbortController();
  const controller = new Controller({
    name: 'c',
    clock,
    metrics,
    logger: silentLogger(),
    ...options,
    reconciler: {
      reconcile:
        reconcile ??
        ((key, { signal, yieldWorker }) =>
          new Promise((resolve, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason), { once: true });
            runs.push({
              key,
              signal,
              yieldWorker,
              finish: (outcome = { kind: 'done' }) => resolve(outcome),
              fail: reject,
            });
          })),
    },
  });
  const ended = controller.run(stopper.signal);
  const take = async (): Promise<Run> => {
    await settle();
    const run = runs.shift();
    assert.ok(run, 'no pass is running');
    return run;
  };
  return { clock, metrics, controller, runs, take, ended, stop: () => stopper.abort() };
}

describe('controller/controller', () => {
  test('works on as many keys at once as its concurrency says', async () => {
    const { controller, runs, take, stop, ended } = setUp({ concurrency: 2 });
    for (const key of ['a', 'b', 'c']) controller.enqueue(key);
    await settle();
    assert.deepEqual(
      runs.map(({ key }) => key),
      ['a', 'b'],
    );
    (await take()).finish();
    await settle();
    assert.deepEqual(
      runs.map(({ key }) => key),
      ['b', 'c'],
    );
    for (const run of runs) run.finish();
    stop();
    await ended;
  });

  test('held, it begins nothing and aborts what runs; released, all of it runs', async () => {
    const { controller, runs, take, stop, ended } = setUp({ concurrency: 3 });
    controller.enqueue('running');
    const running = await take();
    controller.enqueue('parked');
    const parked = await take();
    const way = parked.yieldWorker();
    await settle();
    controller.pause();
    controller.enqueue('new');
    await settle();
    assert.ok(running.signal.aborted && parked.signal.aborted);
    assert.equal(runs.length, 0);
    controller.resume();
    await way;
    const begun = [await take(), await take(), await take()];
    assert.deepEqual(begun.map(({ key }) => key).sort(), ['new', 'parked', 'running']);
    for (const run of begun) {
      assert.equal(run.signal.aborted, false);
      run.finish();
    }
    stop();
    await ended;
  });

  test('its concurrency can be changed while it runs, up and down and back before anybody notices', async () => {
    const { controller, runs, stop, ended } = setUp({ concurrency: 3 });
    const adjust = (concurrency: number) =>
      controller.updateSettings({ concurrency, baseDelayMs: 5, maxDelayMs: 1_000 });
    const finishAll = async () => {
      for (const run of runs.splice(0)) run.finish();
      await settle();
    };
    for (let index = 0; index < 40; index++) controller.enqueue(`k${index}`);
    await settle();
    const counts = [runs.length];
    for (const step of [[1], [2], [5, 1, 4], [1, 3], [2, 2, 2]]) {
      for (const concurrency of step) adjust(concurrency);
      await settle();
      await finishAll();
      counts.push(runs.length);
    }
    assert.deepEqual(counts, [3, 1, 2, 4, 3, 2]);
    // Idle workers go at once, and come back.
    while (runs.length > 0) await finishAll();
    adjust(1);
    adjust(3);
    for (const key of ['x', 'y', 'z', 'w']) controller.enqueue(key);
    await settle();
    assert.equal(runs.length, 3);
    stop();
    await finishAll();
    await ended;
  });

  test('reports when the passes that run now have ended', async () => {
    const { controller, take, stop, ended } = setUp();
    controller.enqueue('a');
    const first = await take();
    let isOver = false;
    const over = controller.passesEnded().then(() => {
      isOver = true;
    });
    controller.enqueue('b');
    const second = await take();
    assert.equal(isOver, false);
    first.finish();
    await over;
    second.finish();
    stop();
    await ended;
  });

  test('held for two reasons, it continues when both are gone', async () => {
    const { controller, runs, take, stop, ended } = setUp();
    controller.pause();
    controller.pause();
    controller.enqueue('a');
    controller.resume();
    await settle();
    assert.equal(runs.length, 0);
    controller.resume();
    (await take()).finish();
    stop();
    await ended;
  });

  test('stops at once while it is held', async () => {
    const { controller, runs, stop, ended } = setUp();
    controller.pause();
    controller.enqueue('a');
    stop();
    await ended;
    assert.deepEqual(runs, []);
  });

  test('a reconcile that yields learns whether another one of its key follows at once', async () => {
    const { controller, take, stop, ended } = setUp();
    const answerAfter = async (act: () => void) => {
      controller.enqueue('a');
      const pass = await take();
      act();
      const answer = await pass.yieldWorker();
      pass.finish();
      return answer;
    };
    assert.equal(await answerAfter(() => {}), 'current');
    // What may take long to come is no reason to leave anything to it.
    assert.equal(await answerAfter(() => controller.enqueue('a', 'low')), 'current');
    (await take()).finish();
    assert.equal(await answerAfter(() => controller.enqueue('a')), 'superseded');
    (await take()).finish();
    assert.equal(
      await answerAfter(() => {
        controller.enqueue('a');
        stop();
      }),
      'current',
    );
    await ended;
  });

  test('a reconcile that yields is continued when no other key waits for its first turn', async () => {
    const { controller, runs, take, stop, ended } = setUp({ concurrency: 1 });
    for (const key of ['a', 'b']) controller.enqueue(key);
    const a = await take();
    let wentOn = false;
    const way = a.yieldWorker().then(() => {
      wentOn = true;
    });
    const b = await take();
    assert.equal(b.key, 'b');
    assert.equal(wentOn, false);
    controller.enqueue('a');
    await settle();
    assert.deepEqual(runs, [], 'a second pass of a key whose pass has given way');
    b.finish();
    await way;
    a.finish();
    const again = await take();
    assert.equal(again.key, 'a');
    again.finish();
    stop();
    await ended;
  });

  test('a reconcile that has yielded ends with the controller, and none yields any more', async () => {
    const { controller, take, stop, ended } = setUp({ concurrency: 1 });
    for (const key of ['a', 'b']) controller.enqueue(key);
    const a = await take();
    const way = a.yieldWorker();
    const b = await take();
    stop();
    await b.yieldWorker();
    b.finish();
    await way;
    await a.yieldWorker();
    a.finish();
    await ended;
  });

  test('a failure is retried with growing delays, a success resets them', async () => {
    const { controller, clock, take, runs, stop, ended } = setUp();
    controller.enqueue('a');
    for (const delayMs of [5, 10]) {
      (await take()).fail(new Error('no'));
      await clock.advance(delayMs - 1);
      assert.equal(runs.length, 0);
      await clock.advance(1);
    }
    (await take()).finish();
    controller.enqueue('a');
    (await take()).fail(new Error('no'));
    await clock.advance(5);
    assert.equal(runs.length, 1);
    (await take()).finish();
    stop();
    await ended;
  });

  test('when the server answers again what met its silence runs at once, and what it rejected does not', async () => {
    const { controller, take, runs, clock, stop, ended } = setUp();
    for (let failures = 0; failures < 8; failures++) {
      controller.enqueue('silence');
      (await take()).fail(new KubeError('unavailable', 'no answer', { status: 0 }));
      controller.enqueue('rejection');
      (await take()).fail(new KubeError('unavailable', 'overloaded', { status: 503 }));
    }
    await settle();
    controller.retryNow();
    const unanswered = await take();
    assert.equal(unanswered.key, 'silence');
    unanswered.finish();
    assert.equal(runs.length, 0);
    await clock.advance(640);
    const rejected = await take();
    assert.equal(rejected.key, 'rejection');
    rejected.finish();
    stop();
    await ended;
  });

  test('a terminal error is counted and not retried', async () => {
    const { controller, clock, take, runs, metrics, stop, ended } = setUp();
    controller.enqueue('a');
    (await take()).fail(new TerminalError('never'));
    await clock.advance(10_000_000);
    assert.equal(runs.length, 0);
    assert.match(
      await metrics.expose(),
      /^controller_runtime_terminal_reconcile_errors_total\{controller="c"\} 1$/m,
    );
    stop();
    await ended;
  });

  test('a pass that failed for good is counted as a terminal error, and looked at again after its delay', async () => {
    const { controller, clock, take, runs, metrics, stop, ended } = setUp();
    controller.enqueue('a');
    (await take()).finish({ kind: 'failed', afterMs: 600_000, reason: 'RenderFailed' });
    await clock.advance(599_999);
    assert.equal(runs.length, 0);
    await clock.advance(1);
    (await take()).finish();
    await settle();
    const text = await metrics.expose();
    for (const line of [
      'reconcile_total{controller="c",result="error"} 1',
      'reconcile_total{controller="c",result="requeue_after"} 0',
      'reconcile_errors_total{controller="c"} 1',
      'terminal_reconcile_errors_total{controller="c"} 1',
    ]) {
      assert.ok(text.includes(`controller_runtime_${line}\n`), line);
    }
    stop();
    await ended;
  });

  test('a retry outcome has growing delays of its own, and is no error', async () => {
    const { controller, clock, take, runs, metrics, stop, ended } = setUp();
    controller.enqueue('a');
    for (const delayMs of [5_000, 10_000, 12_000, 12_000]) {
      (await take()).finish({
        kind: 'retry',
        baseDelayMs: 5_000,
        maxDelayMs: 12_000,
        reason: 'Quota',
      });
      await clock.advance(delayMs - 1);
      assert.equal(runs.length, 0);
      await clock.advance(1);
    }
    (await take()).finish();
    await settle();
    const text = await metrics.expose();
    assert.ok(text.includes('result="requeue"} 4'), text);
    assert.ok(text.includes('controller_runtime_reconcile_errors_total{controller="c"} 0'), text);
    stop();
    await ended;
  });

  test('a requeue outcome runs the key again after its delay', async () => {
    const { controller, clock, take, runs, stop, ended } = setUp();
    controller.enqueue('a');
    (await take()).finish({ kind: 'requeue', afterMs: 600_000, reason: 'permanent failure' });
    await clock.advance(599_999);
    assert.equal(runs.length, 0);
    await clock.advance(1);
    (await take()).finish();
    stop();
    await ended;
  });

  test('a key that is done may ask to run again by time; an event before then comes first', async () => {
    const { controller, clock, take, runs, stop, ended } = setUp();
    controller.enqueue('a');
    (await take()).finish({ kind: 'done', due: { afterMs: 1_000 } });
    await clock.advance(400);
    controller.enqueue('a');
    (await take()).finish({ kind: 'done', due: { afterMs: 1_000 } });
    await clock.advance(999);
    assert.equal(runs.length, 0);
    await clock.advance(1);
    (await take()).finish();
    await clock.advance(10_000);
    assert.equal(runs.length, 0);
    stop();
    await ended;
    assert.equal(clock.pending, 0);
  });

  test('what is due is left to the next run of a key that was added meanwhile', async () => {
    const { controller, clock, take, runs, stop, ended } = setUp();
    controller.enqueue('a');
    const first = await take();
    controller.enqueue('a');
    first.finish({ kind: 'done', due: { afterMs: 1_000 } });
    (await take()).finish();
    await clock.advance(10_000);
    assert.equal(runs.length, 0);
    stop();
    await ended;
  });

  test('a key that failed also runs when it is due, after keys of a higher priority', async () => {
    const { controller, clock, take, stop, ended } = setUp({ concurrency: 1 });
    controller.enqueue('a');
    const due = { afterMs: 1_000, priority: 'low' } as const;
    (await take()).finish({ kind: 'failed', afterMs: 600_000, reason: 'RenderFailed', due });
    controller.enqueue('busy');
    const busy = await take();
    await clock.advance(1_000);
    controller.enqueue('urgent');
    busy.finish();
    const urgent = await take();
    urgent.finish();
    const late = await take();
    late.finish();
    assert.deepEqual([urgent.key, late.key], ['urgent', 'a']);
    stop();
    await ended;
  });

  test('failing keys run when they are due, though the retry budget holds them', async () => {
    const startMs = new FakeClock().monotonicMs();
    const lastRunMs = new Map<string, number>();
    const error = new KubeError('conflict', 'Changed meanwhile', { status: 409 });
    const { controller, clock, stop, ended } = setUp({
      reconcile: async (key) => {
        const passedMs = clock.monotonicMs() - startMs;
        lastRunMs.set(key, passedMs);
        if (passedMs >= 3_000) return { kind: 'done' };
        return { kind: 'error', error, due: { afterMs: 3_000 - passedMs } };
      },
    });
    const keys = Array.from({ length: 400 }, (_, index) => `k${index}`);
    for (const key of keys) controller.enqueue(key);
    await clock.advance(3_000);
    await settle();
    assert.deepEqual(
      keys.filter((key) => lastRunMs.get(key) !== 3_000),
      [],
    );
    await clock.advance(60_000);
    assert.equal(Math.max(...lastRunMs.values()), 3_000, 'their retries are dropped');
    assert.equal(clock.pending, 0);
    stop();
    await ended;
  });

  test('stopping drops what is due', async () => {
    const { controller, clock, take, stop, ended } = setUp({ graceMs: 0 });
    controller.enqueue('a');
    (await take()).finish({ kind: 'done', due: { afterMs: 1_000 } });
    await settle();
    assert.equal(clock.pending, 1);
    stop();
    await ended;
    assert.equal(clock.pending, 0);
  });

  test('an error may be returned instead of thrown', async () => {
    const { controller, clock, take, metrics, stop, ended } = setUp();
    controller.enqueue('a');
    const error = new KubeError('conflict', 'Changed meanwhile', { status: 409 });
    (await take()).finish({ kind: 'error', error });
    await clock.advance(5);
    (await take()).finish();
    await settle();
    const text = await metrics.expose();
    assert.ok(text.includes('reconcile_errors_total{controller="c"} 1\n'), text);
    stop();
    await ended;
  });

  test('stopping hands out nothing more and waits for the running pass', async () => {
    const { controller, take, runs, stop, ended } = setUp({ concurrency: 1 });
    controller.enqueue('a');
    controller.enqueue('b');
    const running = await take();
    stop();
    let isEnded = false;
    void ended.then(() => {
      isEnded = true;
    });
    await settle();
    assert.equal(isEnded, false);
    assert.equal(running.signal.aborted, false);
    running.finish();
    await ended;
    assert.equal(runs.length, 0);
  });

  test('a pass that does not end within the grace is aborted', async () => {
    const { controller, clock, take, stop, ended } = setUp({ graceMs: 20_000 });
    controller.enqueue('a');
    const running = await take();
    stop();
    await clock.advance(19_999);
    assert.equal(running.signal.aborted, false);
    await clock.advance(1);
    assert.equal(running.signal.aborted, true);
    await ended;
    assert.equal(clock.pending, 0);
  });

  test('an error of an unexpected type is counted as a panic and retried', async () => {
    const { controller, clock, take, metrics, stop, ended } = setUp();
    controller.enqueue('a');
    (await take()).fail(new TypeError('undefined is not a function'));
    await clock.advance(5);
    (await take()).finish();
    controller.enqueue('b');
    (await take()).fail(new KubeError('conflict', 'Changed meanwhile', { status: 409 }));
    await settle();
    assert.match(
      await metrics.expose(),
      /^controller_runtime_reconcile_panics_total\{controller="c"\} 1$/m,
    );
    stop();
    await ended;
  });

  test('a bug that repeats is reported once, and again after a success; what others did is left to the pass', async () => {
    const lines: Record<string, unknown>[] = [];
    const destination = { write: (line: string) => lines.push(JSON.parse(line)) };
    const { controller, clock, take, stop, ended } = setUp({
      logger: createLogger({ level: 'debug', destination }),
    });
    const reported = () =>
      lines.splice(0).map(({ level, code, err }) => [level, code ?? typeof err]);
    controller.enqueue('a');
    for (const delayMs of [5, 10, 20]) {
      (await take()).fail(new TypeError('undefined is not a function'));
      await clock.advance(delayMs);
    }
    assert.deepEqual(reported(), [
      ['error', 'object'],
      ['debug', 'object'],
      ['debug', 'object'],
    ]);
    (await take()).finish();
    controller.enqueue('a');
    (await take()).fail(new TypeError('undefined is not a function'));
    controller.enqueue('b');
    const words = 'data.password: Invalid value: "hunter2"';
    (await take()).fail(new KubeError('server-error', words, { status: 500 }));
    await settle();
    assert.ok(!JSON.stringify(lines).includes('hunter2'));
    assert.deepEqual(reported(), [
      ['error', 'object'],
      ['debug', 'server-error'],
    ]);
    stop();
    await ended;
  });

  test('all series of a controller are there before its first pass, and go with it', async () => {
    const { metrics, stop, ended } = setUp();
    const before = await metrics.expose();
    for (const name of [
      'controller_runtime_reconcile_total{controller="c",result="requeue"} 0',
      'controller_runtime_reconcile_time_seconds_count{controller="c"} 0',
      'workqueue_unfinished_work_seconds{name="c",controller="c"} 0',
      'workqueue_depth{name="c",controller="c",priority="low"} 0',
      'homeostat_retries_held{definition="c"} 0',
    ]) {
      assert.ok(before.includes(name), name);
    }
    stop();
    await ended;
    await metrics.removeSeries('controller', 'c');
    await metrics.removeSeries('definition', 'c');
    assert.doesNotMatch(await metrics.expose(), /"c"/);
  });
});
