import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ReconcileContext } from '#controller';
import type { RolloutOptions } from '#definition';
import {
  RolloutHarness,
  type RolloutHarnessOptions,
  textOf,
} from '../../../../test/support/fakes/rollout-harness.ts';
import { SeededRandom } from '../../../../test/support/model/seeded-random.ts';
import { type RolloutRecord, rolloutRecordOf } from './rollout-view.ts';

const atOnce = { perSecond: 0 };

interface AtRest extends RolloutHarnessOptions {
  /** @default at once */
  readonly rollout?: Partial<RolloutOptions>;
}

/** An idle harness with `count` resources of text `a`. */
async function atRest(count: number, options: AtRest = {}): Promise<RolloutHarness> {
  const { rollout = atOnce, ...settings } = options;
  const harness = new RolloutHarness(settings);
  for (let index = 0; index < count; index++) harness.create(`k${index}`);
  harness.board.start(harness.revisionOperator('a', rollout), []);
  harness.begin();
  await harness.calm();
  assert.equal(harness.passes.length, count);
  harness.passes.length = 0;
  return harness;
}

/** The text of the last pass of each resource. */
function lastTexts(harness: RolloutHarness): Readonly<Record<string, string>> {
  return Object.fromEntries(harness.passes.map(({ key, revision }) => [key, revision]));
}

function countOf(harness: RolloutHarness, text: string): number {
  return Object.values(lastTexts(harness)).filter((each) => each === text).length;
}

/**
 * A harness in which a process begins with `count` resources while text `b` is rolled out in place of `a`: all report `a`, or nothing.
 * Those whose UIDs (`u0` is of `k0`) have `failed` fail with `b`, until they are taken out of `failing`.
 */
function inTheMiddle(middle: InTheMiddle) {
  const { count = 6, reports = true, fresh = [], state, failed = [], ...rollout } = middle;
  const harness = new RolloutHarness({ reports });
  const a = harness.revisionOperator('a');
  for (let index = 0; index < count; index++)
    harness.create(`k${index}`, reports ? a.revision : undefined);
  for (const key of fresh) harness.create(key);
  const uidOf = (key: string) => harness.resources.get(key)?.metadata.uid ?? '';
  const failing = new Set(failed);
  const { deletes, ...settings } = rollout;
  const b = harness.revisionOperator(
    'b',
    { perSecond: 0, ...settings },
    { fails: (key) => failing.has(key), ...(deletes && { deletes }) },
  );
  const record = { from: a.revision, to: b.revision, state, failed: failed.map(uidOf) };
  harness.board.start(b, [a], record);
  return { harness, failing, record };
}

interface InTheMiddle extends Partial<RolloutOptions> {
  readonly count?: number;
  readonly reports?: boolean;
  /** Keys of those that were made while no process ran. @default none */
  readonly fresh?: readonly string[];
  readonly state: RolloutRecord['state'];
  /** Keys. */
  readonly failed?: readonly string[];
  readonly deletes?: (key: string) => readonly string[];
}

describe('runtime/rollout/revision-router', () => {
  test('when nothing changes there is one operator, and nothing is decided', async () => {
    const harness = await atRest(3);
    assert.equal(harness.board.shown.rollout, undefined);
    assert.equal(harness.board.all.length, 1);
    assert.deepEqual(harness.news, []);
    assert.equal(harness.settled, 1);
    await harness.stop();
    assert.deepEqual([...harness.live], []);
  });

  test('existing resources follow at the pace, and the older operator ends when all have', async () => {
    const harness = await atRest(10);
    harness.board.switchTo(harness.revisionOperator('b', { perSecond: 2 }));
    await harness.calm();
    assert.equal(countOf(harness, 'b'), 1);
    for (const key of harness.resources.keys()) harness.wake(key);
    await harness.calm();
    assert.equal(countOf(harness, 'b'), 1);
    assert.equal(countOf(harness, 'a'), 9);
    const { state, reached, total } = harness.board.shown.rollout ?? {};
    assert.deepEqual({ state, reached, total }, { state: 'rolling', reached: 1, total: 10 });
    await harness.clock.advance(2_000);
    assert.equal(countOf(harness, 'b'), 5);
    await harness.clock.advance(10_000);
    assert.equal(countOf(harness, 'b'), 10);
    assert.deepEqual(harness.news, ['started', 'finished']);
    assert.equal(harness.live.size, 1);
    assert.equal(harness.board.shown.rollout, undefined);
    assert.equal(harness.clock.pending, 0);
    await harness.stop();
  });

  test('a new, an edited and a recreated resource take the newest text at once, one that is being deleted does not', async () => {
    const harness = await atRest(4);
    harness.board.switchTo(harness.revisionOperator('b', { perSecond: 0.001 }));
    await harness.calm();
    harness.passes.length = 0;
    harness.create('new');
    harness.edit('k1');
    harness.delete('k2');
    harness.create('k2');
    harness.terminate('k3');
    await harness.calm();
    assert.deepEqual(lastTexts(harness), { new: 'b', k1: 'b', k2: 'b', k3: 'a' });
    await harness.stop();
  });

  test('one whose edit is not announced yet when its turn comes has the newest text', async () => {
    const harness = await atRest(3);
    harness.board.switchTo(harness.revisionOperator('b', { perSecond: 1 }));
    await harness.calm();
    const edited = harness.resources.get('k1');
    assert.ok(edited);
    harness.resources.set('k1', { ...edited, metadata: { ...edited.metadata, generation: 2 } });
    await harness.clock.advance(10_000);
    assert.equal(countOf(harness, 'b'), 3);
    await harness.stop();
  });

  test('a pass that has begun ends with the text it began with', async () => {
    const harness = await atRest(4);
    const gate = Promise.withResolvers<void>();
    harness.pace = () => gate.promise;
    for (const key of harness.resources.keys()) harness.wake(key);
    await harness.calm();
    harness.board.switchTo(harness.revisionOperator('b', atOnce));
    await harness.calm();
    assert.deepEqual(new Set(Object.values(lastTexts(harness))), new Set(['a']));
    assert.equal(harness.live.size, 2);
    harness.pace = () => Promise.resolve();
    gate.resolve();
    await harness.calm();
    assert.equal(countOf(harness, 'b'), 4);
    assert.equal(harness.live.size, 1);
    await harness.stop();
  });

  test('a text that breaks every resource breaks as many as it may; a corrected one continues', async () => {
    const harness = await atRest(30, { concurrency: 10 });
    const breaks = { fails: () => true };
    harness.board.switchTo(
      harness.revisionOperator('b', { perSecond: 0, stopAfterFailures: 4 }, breaks),
    );
    await harness.calm();
    assert.equal(countOf(harness, 'b'), 4);
    assert.equal(harness.board.shown.rollout?.state, 'stopped');
    assert.match(
      harness.board.shown.rollout?.message ?? '',
      /4 of 30 resources .* because 4 resources fail with it/,
    );
    assert.deepEqual(harness.board.shown.rollout?.failed, ['u0', 'u1', 'u2', 'u3']);
    for (const key of harness.resources.keys()) harness.wake(key);
    await harness.clock.advance(60_000);
    assert.equal(countOf(harness, 'a'), 26);
    harness.create('new');
    await harness.calm();
    assert.equal(lastTexts(harness).new, 'b');
    harness.board.switchTo(harness.revisionOperator('c', atOnce));
    await harness.calm();
    assert.equal(countOf(harness, 'c'), 31);
    assert.deepEqual(harness.news, ['started', 'stopped', 'started', 'finished']);
    assert.equal(harness.live.size, 1);
    await harness.stop();
  });

  test('stopped, it continues when those that fail are mended or gone', async () => {
    const harness = await atRest(8);
    const failing = new Set(['k0', 'k1']);
    const settings = { perSecond: 0, stopAfterFailures: 2 };
    const next = harness.revisionOperator('b', settings, { fails: (key) => failing.has(key) });
    harness.board.switchTo(next);
    await harness.calm();
    assert.equal(harness.board.shown.rollout?.state, 'stopped');
    harness.delete('k0');
    failing.delete('k1');
    harness.wake('k1');
    await harness.calm();
    assert.equal(countOf(harness, 'b'), 8);
    assert.deepEqual(harness.news, ['started', 'stopped', 'resumed', 'finished']);
    await harness.stop();
  });

  test('resources that failed before do not stop it', async () => {
    const harness = new RolloutHarness();
    for (let index = 0; index < 10; index++) harness.create(`k${index}`);
    harness.board.start(harness.revisionOperator('a', atOnce, { fails: () => true }), []);
    harness.begin();
    await harness.calm();
    const settings = { perSecond: 0, stopAfterFailures: 2 };
    harness.board.switchTo(harness.revisionOperator('b', settings, { fails: () => true }));
    await harness.calm();
    assert.equal(countOf(harness, 'b'), 10);
    assert.deepEqual(harness.news, ['started', 'finished']);
    await harness.stop();
  });

  test('deletions beyond the limit hold everything until they are approved', async () => {
    const harness = await atRest(6);
    const deletes = (key: string) => [`child of ${key}`];
    const next = harness.revisionOperator('b', { perSecond: 0, maxDeletions: 3 }, { deletes });
    harness.board.switchTo(next);
    await harness.clock.advance(0);
    await harness.calm();
    assert.equal(harness.board.shown.rollout?.state, 'held');
    assert.equal(harness.board.shown.rollout?.deletions, 6);
    harness.edit('k1');
    await harness.clock.advance(60_000);
    assert.deepEqual(lastTexts(harness), { k1: 'b' });
    assert.equal(harness.deleted.size, 0);
    harness.board.approve('another');
    await harness.calm();
    assert.equal(harness.deleted.size, 0);
    harness.board.approve(next.revision);
    await harness.calm();
    assert.equal(harness.deleted.size, 6);
    assert.equal(countOf(harness, 'b'), 6);
    assert.deepEqual(harness.news, ['started', 'held', 'approved', 'finished']);
    await harness.stop();
  });

  test('an approval that is there before the change holds for it', async () => {
    const harness = await atRest(6);
    const deletes = (key: string) => [`child of ${key}`];
    const next = harness.revisionOperator('b', { perSecond: 0, maxDeletions: 3 }, { deletes });
    harness.board.approve(next.revision);
    harness.board.switchTo(next);
    await harness.clock.advance(0);
    await harness.calm();
    assert.equal(harness.deleted.size, 6);
    assert.deepEqual(harness.news, ['started', 'finished']);
    await harness.stop();
  });

  test('deletions that only passes come upon hold it in the middle, as many as are allowed go', async () => {
    const harness = await atRest(6);
    let isPreview = true;
    const deletes = (key: string) => (isPreview ? [] : [`child of ${key}`]);
    harness.board.switchTo(
      harness.revisionOperator('b', { perSecond: 1, maxDeletions: 2 }, { deletes }),
    );
    await harness.calm();
    isPreview = false;
    await harness.clock.advance(20_000);
    assert.equal(harness.board.shown.rollout?.state, 'held');
    assert.ok(harness.deleted.size <= 2, `${[...harness.deleted]}`);
    assert.deepEqual(harness.news, ['started', 'held']);
    for (const key of ['k0', 'k1', 'k2', 'k3', 'k4', 'k5']) harness.delete(key);
    await harness.calm();
    assert.deepEqual(harness.news, ['started', 'held', 'resumed', 'finished']);
    await harness.stop();
  });

  test('after a restart resources keep what they report until they are reached, and others take the newest', async () => {
    const harness = new RolloutHarness();
    const a = harness.revisionOperator('a');
    for (const key of ['k0', 'k1', 'k2']) harness.create(key, a.revision);
    harness.create('k3');
    const b = harness.revisionOperator('b', { perSecond: 0.001 });
    harness.create('k4', b.revision);
    harness.board.start(b, [a]);
    harness.begin();
    await harness.calm();
    assert.deepEqual(lastTexts(harness), { k0: 'b', k1: 'a', k2: 'a', k3: 'b', k4: 'b' });
    // As before the restart: what has been reconciled is a part of it, what has not been is not.
    assert.equal(harness.board.shown.rollout?.total, 4);
    assert.equal(harness.board.shown.rollout?.reached, 2);
    await harness.stop();
  });

  for (const isMiddle of [false, true])
    test(`deletions of a resource that has children and reports nothing are held, ${isMiddle ? 'in the middle of a roll-out' : 'after a change'}`, async () => {
      const harness = new RolloutHarness();
      const a = harness.revisionOperator('a');
      for (const key of ['k0', 'k1', 'new']) harness.create(key);
      // The process was killed after it created their children.
      for (const key of ['k0', 'k1']) harness.parents.add(key);
      const deletes = (key: string) => (harness.parents.has(key) ? [`child of ${key}`] : []);
      const b = harness.revisionOperator('b', { perSecond: 0, maxDeletions: 1 }, { deletes });
      const record = { from: a.revision, to: b.revision, state: 'rolling', failed: [] } as const;
      harness.board.start(b, [a], isMiddle ? record : undefined);
      harness.begin();
      await harness.clock.advance(60_000);
      await harness.calm();
      assert.equal(harness.board.shown.rollout?.state, 'held');
      assert.deepEqual([...harness.deleted], []);
      assert.ok(
        harness.passes.some(({ key, outcome }) => key === 'new' && outcome === 'succeeded'),
      );
      harness.board.approve(b.revision);
      await harness.clock.advance(60_000);
      await harness.calm();
      assert.equal(harness.deleted.size, 2);
      await harness.stop();
    });

  test('a restart without a change is no roll-out of resources that report nothing', async () => {
    const harness = new RolloutHarness();
    harness.create('k0');
    harness.parents.add('k0');
    harness.board.start(harness.revisionOperator('a'), []);
    harness.begin();
    await harness.calm();
    assert.deepEqual(harness.news, []);
    assert.deepEqual(lastTexts(harness), { k0: 'a' });
    await harness.stop();
  });

  test('an older text that no resource reports is not kept', async () => {
    const harness = new RolloutHarness();
    const a = harness.revisionOperator('a');
    harness.create('k0');
    harness.board.start(harness.revisionOperator('b'), [a]);
    harness.begin();
    await harness.calm();
    assert.equal(harness.live.size, 1);
    assert.deepEqual(lastTexts(harness), { k0: 'b' });
    await harness.stop();
  });

  for (const reports of [true, false]) {
    test(`back to the text before, in the middle: only what had left it is rolled back, ${reports ? '' : 'not '}reporting`, async () => {
      const slow = { perSecond: 0.001 };
      const harness = await atRest(10, { reports, rollout: slow });
      harness.board.switchTo(harness.revisionOperator('b', { perSecond: 1 }));
      await harness.clock.advance(3_000);
      assert.equal(countOf(harness, 'b'), 4);
      harness.passes.length = 0;
      harness.board.switchTo(harness.revisionOperator('a', slow));
      await harness.calm();
      assert.equal(countOf(harness, 'a'), 7);
      assert.deepEqual(
        [harness.board.shown.rollout?.reached, harness.board.shown.rollout?.total],
        [7, 10],
      );
      await harness.clock.advance(10_000_000);
      assert.equal(harness.board.shown.rollout, undefined);
      assert.equal(harness.live.size, 1);
      assert.equal(countOf(harness, 'a'), 10);
      await harness.stop();
    });
  }

  test('a change before any pass may begin is rolled out as well, from what each has', async () => {
    const harness = new RolloutHarness({ reports: false });
    for (let index = 0; index < 5; index++) harness.create(`k${index}`);
    harness.board.start(harness.revisionOperator('a'), []);
    harness.board.switchTo(harness.revisionOperator('b', { perSecond: 0.001 }));
    await harness.calm();
    assert.deepEqual([harness.news, harness.board.shown.rollout?.state], [[], 'previewing']);
    harness.begin();
    await harness.calm();
    assert.deepEqual([countOf(harness, 'a'), countOf(harness, 'b')], [4, 1]);
    await harness.stop();
  });

  test('after a restart in the middle of three texts each resource keeps what it reports', async () => {
    const harness = new RolloutHarness();
    const a = harness.revisionOperator('a');
    const b = harness.revisionOperator('b');
    const c = harness.revisionOperator('c', { perSecond: 0.001 });
    for (const [key, { revision }] of [
      ['k0', a],
      ['k1', b],
      ['k2', b],
      ['k3', c],
    ] as const)
      harness.create(key, revision);
    harness.board.start(c, [b, a]);
    harness.begin();
    await harness.calm();
    // The roll-out begins with one of those that have the younger of the older texts.
    assert.deepEqual(lastTexts(harness), { k0: 'a', k1: 'c', k2: 'b', k3: 'c' });
    await harness.stop();
  });

  test('an older text that resources keep by what they report deletes no more than it may', async () => {
    const harness = new RolloutHarness();
    const a = harness.revisionOperator(
      'a',
      { maxDeletions: 2 },
      { deletes: (key) => [`child of ${key}`] },
    );
    for (let index = 0; index < 9; index++) harness.create(`k${index}`, a.revision);
    harness.board.start(harness.revisionOperator('b', { perSecond: 0.001 }), [a]);
    harness.begin();
    await harness.calm();
    assert.equal(countOf(harness, 'a'), 8);
    assert.equal(harness.deleted.size, 2);
    harness.board.approve(a.revision);
    await harness.calm();
    assert.equal(harness.deleted.size, 9);
    await harness.stop();
  });

  for (const reports of [true, false]) {
    const others = reports ? { k2: 'a', k3: 'a', k4: 'a', k5: 'a' } : {};
    test(`stopped, it is stopped after a restart until all that failed are well, ${reports ? '' : 'not '}reporting`, async () => {
      const { harness, failing, record } = inTheMiddle({
        reports,
        state: 'stopped',
        failed: ['k1', 'k0'],
        stopAfterFailures: 2,
      });
      assert.equal(harness.board.shown.rollout?.state, 'stopped');
      assert.deepEqual(rolloutRecordOf(harness.board.shown.rollout), {
        ...record,
        failed: ['u1', 'u2'],
      });
      harness.begin();
      await harness.clock.advance(60_000);
      for (const key of harness.resources.keys()) harness.wake(key);
      await harness.calm();
      assert.deepEqual(lastTexts(harness), { k0: 'b', k1: 'b', ...others });
      assert.match(
        harness.board.shown.rollout?.message ?? '',
        /2 of 6 resources .* because 2 resources fail with it/,
      );
      failing.delete('k0');
      harness.wake('k0');
      await harness.calm();
      assert.deepEqual(lastTexts(harness), { k0: 'b', k1: 'b', ...others });
      assert.deepEqual(
        [harness.board.shown.rollout?.state, harness.board.shown.rollout?.failed],
        ['stopped', ['u2']],
      );
      failing.delete('k1');
      harness.wake('k1');
      await harness.calm();
      assert.equal(countOf(harness, 'b'), 6);
      assert.deepEqual(harness.news, ['stopped', 'resumed', 'finished']);
      assert.equal(harness.live.size, 1);
      await harness.stop();
    });
  }

  test('stopped for resources that are all gone since, it continues by itself after a restart', async () => {
    const harness = new RolloutHarness({ reports: false });
    for (let index = 0; index < 4; index++) harness.create(`k${index}`);
    const b = harness.revisionOperator('b', atOnce);
    const failed = ['gone', 'as well'];
    const record = { from: 'before', to: b.revision, state: 'stopped', failed } as const;
    harness.board.start(b, [], record);
    assert.equal(harness.board.shown.rollout?.state, 'previewing');
    harness.begin();
    await harness.calm();
    assert.equal(countOf(harness, 'b'), 4);
    assert.deepEqual(harness.news, ['started', 'finished']);
    await harness.stop();
  });

  test('those that failed before a restart count for when to stop', async () => {
    const { harness } = inTheMiddle({
      state: 'rolling',
      failed: ['k0', 'k1'],
      stopAfterFailures: 2,
    });
    harness.begin();
    await harness.calm();
    assert.equal(countOf(harness, 'b'), 2);
    assert.equal(harness.board.shown.rollout?.state, 'stopped');
    assert.deepEqual(harness.news, ['started', 'stopped']);
    await harness.stop();
  });

  for (const reports of [true, false]) {
    test(`held, it is held from the first moment after a restart, ${reports ? '' : 'not '}reporting`, async () => {
      const deletes = (key: string) => [`child of ${key}`];
      const { harness, record } = inTheMiddle({ reports, state: 'held', maxDeletions: 3, deletes });
      assert.equal(harness.board.shown.rollout?.state, 'held');
      assert.match(
        harness.board.shown.rollout?.message ?? '',
        /held until its deletions are previewed again/,
      );
      assert.deepEqual(rolloutRecordOf(harness.board.shown.rollout), record);
      harness.begin();
      harness.edit('k1');
      await harness.clock.advance(60_000);
      const others = { k0: 'a', k2: 'a', k3: 'a', k4: 'a', k5: 'a' };
      assert.deepEqual(lastTexts(harness), { ...(reports && others), k1: 'b' });
      assert.deepEqual(
        [harness.board.shown.rollout?.state, harness.board.shown.rollout?.deletions],
        ['held', 6],
      );
      assert.equal(harness.deleted.size, 0);
      harness.board.approve(record.to);
      await harness.calm();
      assert.equal(countOf(harness, 'b'), 6);
      assert.equal(harness.deleted.size, 6);
      assert.deepEqual(harness.news, ['started', 'held', 'approved', 'finished']);
      await harness.stop();
    });
  }

  test('held for deletions that are no more, it continues after a restart', async () => {
    const { harness } = inTheMiddle({ state: 'held', maxDeletions: 3 });
    harness.begin();
    await harness.calm();
    assert.equal(countOf(harness, 'b'), 6);
    assert.deepEqual(harness.news, ['started', 'finished']);
    await harness.stop();
  });

  test('held and approved, it continues after a restart', async () => {
    const deletes = (key: string) => [`child of ${key}`];
    const { harness, record } = inTheMiddle({ state: 'held', maxDeletions: 3, deletes });
    harness.board.approve(record.to);
    assert.equal(harness.board.shown.rollout?.state, 'previewing');
    harness.begin();
    await harness.calm();
    assert.deepEqual([countOf(harness, 'b'), harness.deleted.size], [6, 6]);
    await harness.stop();
  });

  test('resources that report nothing wait after a restart until they are reached, at the pace', async () => {
    const { harness } = inTheMiddle({ reports: false, state: 'rolling', perSecond: 1 });
    harness.begin();
    await harness.calm();
    for (const key of harness.resources.keys()) harness.wake(key);
    await harness.calm();
    assert.deepEqual(lastTexts(harness), { k0: 'b' });
    const { signal } = new AbortController();
    const turn: ReconcileContext = { signal, yieldWorker: async () => 'current' };
    assert.deepEqual(await harness.board.reconcile('k1', turn), { kind: 'done' });
    const { reached, total, from } = harness.board.shown.rollout ?? {};
    const revisionOfA = textOf('a', {}, false).definition.revision;
    assert.deepEqual({ reached, total, from }, { reached: 1, total: 6, from: revisionOfA });
    await harness.clock.advance(2_000);
    assert.equal(countOf(harness, 'b'), 3);
    await harness.clock.advance(10_000);
    assert.equal(countOf(harness, 'b'), 6);
    assert.deepEqual(new Set(harness.passes.map(({ revision }) => revision)), new Set(['b']));
    assert.deepEqual([harness.board.shown.rollout, harness.live.size], [undefined, 1]);
    await harness.stop();
  });

  test('one that waits takes the newest text at once when it is edited, created again or deleted', async () => {
    const harness = new RolloutHarness({ reports: false });
    for (const key of ['k0', 'k1', 'k2', 'k3', 'k4', 'k5']) harness.create(key);
    harness.terminate('k4');
    const b = harness.revisionOperator('b', { perSecond: 0.001 });
    harness.board.start(b, [], { from: 'before', to: b.revision, state: 'rolling', failed: [] });
    harness.begin();
    await harness.calm();
    assert.deepEqual(lastTexts(harness), { k0: 'b', k4: 'b' });
    harness.create('new');
    harness.edit('k1');
    harness.delete('k2');
    harness.create('k2');
    harness.terminate('k3');
    await harness.calm();
    const b5 = { k0: 'b', k1: 'b', k2: 'b', k3: 'b', k4: 'b', new: 'b' };
    assert.deepEqual(lastTexts(harness), b5);
    await harness.stop();
  });

  test('resources that report a text that is not there any more wait, too, while a roll-out continues', async () => {
    const harness = new RolloutHarness();
    for (const key of ['k0', 'k1', 'k2']) harness.create(key, 'gone');
    const b = harness.revisionOperator('b', { perSecond: 0.001 });
    harness.board.start(b, [], { from: 'gone', to: b.revision, state: 'rolling', failed: [] });
    harness.begin();
    await harness.calm();
    assert.deepEqual(lastTexts(harness), { k0: 'b' });
    await harness.stop();
  });

  test('those that wait and report that they fail do not stop a roll-out that continues', async () => {
    const harness = new RolloutHarness();
    for (const key of ['k0', 'k1', 'k2', 'k3']) {
      harness.create(key, 'gone');
      harness.report(key, 'gone', true);
    }
    const settings = { perSecond: 0, stopAfterFailures: 2 };
    const b = harness.revisionOperator('b', settings, { fails: () => true });
    harness.board.start(b, [], { from: 'gone', to: b.revision, state: 'rolling', failed: [] });
    harness.begin();
    await harness.calm();
    assert.equal(countOf(harness, 'b'), 4);
    assert.deepEqual(harness.news, ['started', 'finished']);
    await harness.stop();
  });

  test('those that wait when a further text comes wait for that one', async () => {
    const { harness } = inTheMiddle({ reports: false, state: 'rolling', perSecond: 0.001 });
    harness.begin();
    await harness.calm();
    harness.board.switchTo(harness.revisionOperator('c', { perSecond: 1 }));
    await harness.calm();
    for (const key of harness.resources.keys()) harness.wake(key);
    await harness.calm();
    assert.deepEqual(lastTexts(harness), { k0: 'c' });
    await harness.clock.advance(10_000);
    assert.equal(countOf(harness, 'c'), 6);
    assert.deepEqual(
      harness.passes.filter(({ revision }) => revision !== 'c').map(({ key }) => key),
      ['k0'],
    );
    await harness.stop();
  });

  test('what was made while no process ran has the newest text at once, also while the roll-out is held', async () => {
    const deletes = (key: string) => (key === 'k0' ? ['gone'] : []);
    const fresh = ['fresh'];
    const { harness, record } = inTheMiddle({ fresh, state: 'held', maxDeletions: 0, deletes });
    harness.begin();
    await harness.calm();
    for (const key of harness.resources.keys()) harness.wake(key);
    await harness.calm();
    assert.equal(lastTexts(harness).fresh, 'b');
    assert.equal(countOf(harness, 'b'), 1);
    const { rollout: view } = harness.board.shown;
    assert.ok(view);
    assert.deepEqual(rolloutRecordOf(view), record);
    await harness.stop();
  });

  test('a record of a roll-out to another text says nothing', async () => {
    const harness = new RolloutHarness({ reports: false });
    for (const key of ['k0', 'k1', 'k2']) harness.create(key);
    const b = harness.revisionOperator('b', { perSecond: 0.001 });
    harness.board.start(b, [], { from: 'before', to: 'another', state: 'stopped', failed: ['u0'] });
    assert.equal(harness.board.shown.rollout, undefined);
    harness.begin();
    await harness.calm();
    assert.equal(countOf(harness, 'b'), 3);
    await harness.stop();
  });

  for (let seed = 1; seed <= 100; seed++) {
    test(`in random history ${seed}, with restarts, every pass has a text that it may have, and the end is the newest`, async () => {
      await randomHistory(new SeededRandom(seed));
    });
  }
});

interface Limit {
  readonly word: string;
  readonly maxDeletions: number;
  readonly stopAfterFailures: number;
  /** How often each resource that was there had been edited. */
  readonly there: ReadonlyMap<string, number>;
  /** How many processes have had it as an older text, and each may delete so many with it. */
  processes: number;
}

async function randomHistory(random: SeededRandom): Promise<void> {
  const options = { concurrency: 1 + random.below(4), reports: random.chance(0.5) };
  const harness = await atRest(random.below(12), options);
  // Where more than three texts are at work, those of the one that is given up take the newest at once, and may fail with it.
  const isShort = random.chance(0.5);
  const words = (isShort ? 'bc' : 'bcdefghijklm').split('');
  const order = ['a'];
  const keys = Array.from({ length: 16 }, (_, index) => `k${index}`);
  const limits: Limit[] = [];
  const anyKey = () => random.pick(keys) ?? 'k0';
  harness.pace = async () => {
    for (let turns = random.below(4); turns > 0; turns--) await harness.calm();
  };
  harness.onDelete = (key, word) => {
    const { state, to } = harness.board.shown.rollout ?? {};
    const isHeld = state === 'held' || state === 'previewing';
    if (isHeld && harness.newest === word) assert.fail(`${key} loses something, ${to} is ${state}`);
  };
  const acts: readonly (() => unknown)[] = [
    () => {
      const word = words[0];
      if (word === undefined) return;
      words.shift();
      order.push(word);
      const settings = {
        perSecond: random.pick([0, 1, 5]) ?? 0,
        stopAfterFailures: 1 + random.below(4),
        maxDeletions: random.below(3),
      };
      const broken = random.chance(0.4);
      const there = new Map(
        [...harness.resources.values()].map(
          ({ metadata: { uid = '', generation = 0 } }) => [uid, generation] as const,
        ),
      );
      limits.push({ word, ...settings, there, processes: 1 });
      const losers = new Set([...there.keys()].filter(() => random.chance(0.5)));
      const deletes = (key: string) => {
        const uid = harness.resources.get(key)?.metadata.uid ?? '';
        return losers.has(uid) ? [`${word} ${uid}`] : [];
      };
      const behaviour = { fails: () => broken, ...(random.chance(0.5) && { deletes }) };
      harness.board.switchTo(harness.revisionOperator(word, settings, behaviour));
    },
    () => harness.edit(anyKey()),
    () => {
      const key = anyKey();
      if (!harness.resources.has(key)) harness.create(key);
    },
    () => harness.delete(anyKey()),
    () => harness.wake(anyKey()),
    () => harness.wake(anyKey()),
    () => harness.clock.advance(random.below(800)),
    async () => {
      if (random.chance(0.5)) return;
      for (const limit of limits) if (limit.word !== harness.newest) limit.processes += 1;
      await harness.restart(random.chance(0.5));
    },
  ];
  for (let steps = 40; steps > 0; steps--) {
    await random.pick(acts)?.();
    if (random.chance(0.7)) await harness.calm();
    if (isShort) checkFailing(harness, limits.at(-1));
  }
  // In the end somebody writes a text that is right.
  order.push('z');
  harness.board.switchTo(harness.revisionOperator('z', { perSecond: 3, stopAfterFailures: 2 }));
  for (let seconds = 60; seconds > 0; seconds--) {
    await harness.calm();
    await harness.clock.advance(1_000);
  }
  harness.pace = () => Promise.resolve();
  for (let turns = 6; turns > 0; turns--) await harness.calm();
  checkPasses(harness, order);
  for (const { word, maxDeletions, there, processes } of limits) {
    const lost = [...harness.deleted].filter((each) => {
      const [of, uid = ''] = each.split(' ');
      return of === word && there.has(uid);
    });
    const most = maxDeletions * processes;
    assert.ok(lost.length <= most, `${word} deleted ${lost} of ${most}`);
  }
  for (const [key, { metadata }] of harness.resources) {
    const last = harness.passes.findLast((pass) => pass.key === key);
    assert.deepEqual([last?.revision, last?.uid], ['z', metadata.uid], key);
  }
  assert.equal(harness.live.size, 1, 'one operator is left');
  assert.equal(harness.board.shown.rollout, undefined);
  await harness.stop();
  assert.equal(harness.live.size, 0);
}

/** No more fail with the newest text than may, of those that were there, did not fail before and have not been edited since. */
function checkFailing(harness: RolloutHarness, limit: Limit | undefined): void {
  const { failed = [] } = harness.board.shown.rollout ?? {};
  assert.deepEqual(failed, [...failed].sort());
  if (limit === undefined) return;
  assert.ok(failed.length <= limit.stopAfterFailures, `${failed} are reported`);
  const broken = [...harness.resources.values()].filter(
    ({ metadata: { uid = '', generation } }) => {
      const passes = harness.passes.filter(
        (pass) => pass.uid === uid && pass.outcome !== undefined,
      );
      const older = passes.findLast(({ revision }) => revision !== limit.word);
      const last = passes.at(-1);
      return (
        limit.there.get(uid) === generation &&
        (older ?? last)?.generation === generation &&
        last?.revision === limit.word &&
        last.outcome === 'failed' &&
        older?.outcome !== 'failed'
      );
    },
  );
  const names = broken.map(({ metadata: { name } }) => name);
  assert.ok(names.length <= limit.stopAfterFailures, `${names} fail with ${limit.word}`);
}

/** No resource returns to an older revision, and one that is new or edited has the newest. */
function checkPasses(harness: RolloutHarness, order: readonly string[]): void {
  const before = new Map<string, RolloutHarness['passes'][number]>();
  for (const pass of harness.passes) {
    const last = before.get(pass.uid);
    const age = (word: string) => order.indexOf(word);
    if (last === undefined && pass.revision !== pass.newest) {
      // Its first pass: it was there when the text changed, with text `a` from before the history at the latest.
      assert.ok(age(pass.revision) >= 0, `unknown text ${pass.revision}`);
    }
    if (last !== undefined) {
      assert.ok(
        age(pass.revision) >= age(last.revision),
        `${pass.key} went back to ${pass.revision}`,
      );
      const isEdited = pass.generation !== last.generation;
      // A process that begins does not know who has been edited before.
      if (isEdited && pass.newest === last.newest && pass.process === last.process)
        assert.equal(pass.revision, pass.newest, `${pass.key} was edited`);
    }
    before.set(pass.uid, pass);
  }
}
