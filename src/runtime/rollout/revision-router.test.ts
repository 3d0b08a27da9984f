import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  RolloutWorld,
  type RolloutWorldOptions,
  rolloutRecordOf,
  textOf,
} from '../../../test/support/fakes/rollout-world.ts';
import { SeededRandom } from '../../../test/support/model/seeded-random.ts';
import type { ReconcileContext } from '../../controller/index.ts';
import type { RolloutOptions } from '../../definition/index.ts';
import type { RolloutRecord } from '../definition-view.ts';

const atOnce = { perSecond: 0 };

interface AtRest extends RolloutWorldOptions {
  /** @default at once */
  readonly rollout?: Partial<RolloutOptions>;
}

/** A world at rest with `count` resources of text `a`. */
async function atRest(count: number, options: AtRest = {}): Promise<RolloutWorld> {
  const { rollout = atOnce, ...settings } = options;
  const world = new RolloutWorld(settings);
  for (let index = 0; index < count; index++) world.create(`k${index}`);
  world.board.start(world.revisionOperator('a', rollout), []);
  world.begin();
  await world.calm();
  assert.equal(world.passes.length, count);
  world.passes.length = 0;
  return world;
}

/** The text of the last pass of each resource. */
function lastTexts(world: RolloutWorld): Readonly<Record<string, string>> {
  return Object.fromEntries(world.passes.map(({ key, revision }) => [key, revision]));
}

function countOf(world: RolloutWorld, text: string): number {
  return Object.values(lastTexts(world)).filter((each) => each === text).length;
}

/**
 * A world in which a process begins with `count` resources while text `b` is rolled out in place of `a`: all report `a`, or nothing.
 * Those whose UIDs (`u0` is of `k0`) have `failed` fail with `b`, until they are taken out of `failing`.
 */
function inTheMiddle(middle: InTheMiddle) {
  const { count = 6, reports = true, fresh = [], state, failed = [], ...rollout } = middle;
  const world = new RolloutWorld({ reports });
  const a = world.revisionOperator('a');
  for (let index = 0; index < count; index++)
    world.create(`k${index}`, reports ? a.revision : undefined);
  for (const key of fresh) world.create(key);
  const uidOf = (key: string) => world.resources.get(key)?.metadata.uid ?? '';
  const failing = new Set(failed);
  const { deletes, ...settings } = rollout;
  const b = world.revisionOperator(
    'b',
    { perSecond: 0, ...settings },
    { fails: (key) => failing.has(key), ...(deletes && { deletes }) },
  );
  const record = { from: a.revision, to: b.revision, state, failed: failed.map(uidOf) };
  world.board.start(b, [a], record);
  return { world, failing, record };
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

describe('runtime/rollout/switchboard', () => {
  test('when nothing changes there is one operator, and nothing is decided', async () => {
    const world = await atRest(3);
    assert.equal(world.board.view, undefined);
    assert.equal(world.board.operators.length, 1);
    assert.deepEqual(world.news, []);
    assert.equal(world.settled, 1);
    await world.stop();
    assert.deepEqual([...world.live], []);
  });

  test('existing resources follow at the pace, and the older operator ends when all have', async () => {
    const world = await atRest(10);
    world.board.switchTo(world.revisionOperator('b', { perSecond: 2 }));
    await world.calm();
    assert.equal(countOf(world, 'b'), 1);
    for (const key of world.resources.keys()) world.wake(key);
    await world.calm();
    assert.equal(countOf(world, 'b'), 1);
    assert.equal(countOf(world, 'a'), 9);
    const { state, reached, total } = world.board.view ?? {};
    assert.deepEqual({ state, reached, total }, { state: 'rolling', reached: 1, total: 10 });
    await world.clock.advance(2_000);
    assert.equal(countOf(world, 'b'), 5);
    await world.clock.advance(10_000);
    assert.equal(countOf(world, 'b'), 10);
    assert.deepEqual(world.news, ['started', 'finished']);
    assert.equal(world.live.size, 1);
    assert.equal(world.board.view, undefined);
    assert.equal(world.clock.pending, 0);
    await world.stop();
  });

  test('a new, an edited and a recreated resource take the newest text at once, one that is being deleted does not', async () => {
    const world = await atRest(4);
    world.board.switchTo(world.revisionOperator('b', { perSecond: 0.001 }));
    await world.calm();
    world.passes.length = 0;
    world.create('new');
    world.edit('k1');
    world.delete('k2');
    world.create('k2');
    world.terminate('k3');
    await world.calm();
    assert.deepEqual(lastTexts(world), { new: 'b', k1: 'b', k2: 'b', k3: 'a' });
    await world.stop();
  });

  test('one whose edit is not announced yet when its turn comes has the newest text', async () => {
    const world = await atRest(3);
    world.board.switchTo(world.revisionOperator('b', { perSecond: 1 }));
    await world.calm();
    const edited = world.resources.get('k1');
    assert.ok(edited);
    world.resources.set('k1', { ...edited, metadata: { ...edited.metadata, generation: 2 } });
    await world.clock.advance(10_000);
    assert.equal(countOf(world, 'b'), 3);
    await world.stop();
  });

  test('a pass that has begun ends with the text it began with', async () => {
    const world = await atRest(4);
    const gate = Promise.withResolvers<void>();
    world.pace = () => gate.promise;
    for (const key of world.resources.keys()) world.wake(key);
    await world.calm();
    world.board.switchTo(world.revisionOperator('b', atOnce));
    await world.calm();
    assert.deepEqual(new Set(Object.values(lastTexts(world))), new Set(['a']));
    assert.equal(world.live.size, 2);
    world.pace = () => Promise.resolve();
    gate.resolve();
    await world.calm();
    assert.equal(countOf(world, 'b'), 4);
    assert.equal(world.live.size, 1);
    await world.stop();
  });

  test('a text that breaks every resource breaks as many as it may; a corrected one continues', async () => {
    const world = await atRest(30, { concurrency: 10 });
    const breaks = { fails: () => true };
    world.board.switchTo(
      world.revisionOperator('b', { perSecond: 0, stopAfterFailures: 4 }, breaks),
    );
    await world.calm();
    assert.equal(countOf(world, 'b'), 4);
    assert.equal(world.board.view?.state, 'stopped');
    assert.match(
      world.board.view?.message ?? '',
      /4 of 30 resources .* because 4 resources fail with it/,
    );
    assert.deepEqual(world.board.view?.failed, ['u0', 'u1', 'u2', 'u3']);
    for (const key of world.resources.keys()) world.wake(key);
    await world.clock.advance(60_000);
    assert.equal(countOf(world, 'a'), 26);
    world.create('new');
    await world.calm();
    assert.equal(lastTexts(world).new, 'b');
    world.board.switchTo(world.revisionOperator('c', atOnce));
    await world.calm();
    assert.equal(countOf(world, 'c'), 31);
    assert.deepEqual(world.news, ['started', 'stopped', 'started', 'finished']);
    assert.equal(world.live.size, 1);
    await world.stop();
  });

  test('stopped, it continues when those that fail are mended or gone', async () => {
    const world = await atRest(8);
    const failing = new Set(['k0', 'k1']);
    const settings = { perSecond: 0, stopAfterFailures: 2 };
    const next = world.revisionOperator('b', settings, { fails: (key) => failing.has(key) });
    world.board.switchTo(next);
    await world.calm();
    assert.equal(world.board.view?.state, 'stopped');
    world.delete('k0');
    failing.delete('k1');
    world.wake('k1');
    await world.calm();
    assert.equal(countOf(world, 'b'), 8);
    assert.deepEqual(world.news, ['started', 'stopped', 'resumed', 'finished']);
    await world.stop();
  });

  test('resources that failed before do not stop it', async () => {
    const world = new RolloutWorld();
    for (let index = 0; index < 10; index++) world.create(`k${index}`);
    world.board.start(world.revisionOperator('a', atOnce, { fails: () => true }), []);
    world.begin();
    await world.calm();
    const settings = { perSecond: 0, stopAfterFailures: 2 };
    world.board.switchTo(world.revisionOperator('b', settings, { fails: () => true }));
    await world.calm();
    assert.equal(countOf(world, 'b'), 10);
    assert.deepEqual(world.news, ['started', 'finished']);
    await world.stop();
  });

  test('deletions beyond the limit hold everything until they are approved', async () => {
    const world = await atRest(6);
    const deletes = (key: string) => [`child of ${key}`];
    const next = world.revisionOperator('b', { perSecond: 0, maxDeletions: 3 }, { deletes });
    world.board.switchTo(next);
    await world.clock.advance(0);
    await world.calm();
    assert.equal(world.board.view?.state, 'held');
    assert.equal(world.board.view?.deletions, 6);
    world.edit('k1');
    await world.clock.advance(60_000);
    assert.deepEqual(lastTexts(world), { k1: 'b' });
    assert.equal(world.deleted.size, 0);
    world.board.approve('another');
    await world.calm();
    assert.equal(world.deleted.size, 0);
    world.board.approve(next.revision);
    await world.calm();
    assert.equal(world.deleted.size, 6);
    assert.equal(countOf(world, 'b'), 6);
    assert.deepEqual(world.news, ['started', 'held', 'approved', 'finished']);
    await world.stop();
  });

  test('deletions that only passes come upon hold it in the middle, as many as are allowed go', async () => {
    const world = await atRest(6);
    let isPreview = true;
    const deletes = (key: string) => (isPreview ? [] : [`child of ${key}`]);
    world.board.switchTo(
      world.revisionOperator('b', { perSecond: 1, maxDeletions: 2 }, { deletes }),
    );
    await world.calm();
    isPreview = false;
    await world.clock.advance(20_000);
    assert.equal(world.board.view?.state, 'held');
    assert.ok(world.deleted.size <= 2, `${[...world.deleted]}`);
    assert.deepEqual(world.news, ['started', 'held']);
    for (const key of ['k0', 'k1', 'k2', 'k3', 'k4', 'k5']) world.delete(key);
    await world.calm();
    assert.deepEqual(world.news, ['started', 'held', 'resumed', 'finished']);
    await world.stop();
  });

  test('after a restart resources keep what they report until they are reached, and others take the newest', async () => {
    const world = new RolloutWorld();
    const a = world.revisionOperator('a');
    for (const key of ['k0', 'k1', 'k2']) world.create(key, a.revision);
    world.create('k3');
    const b = world.revisionOperator('b', { perSecond: 0.001 });
    world.create('k4', b.revision);
    world.board.start(b, [a]);
    world.begin();
    await world.calm();
    assert.deepEqual(lastTexts(world), { k0: 'b', k1: 'a', k2: 'a', k3: 'b', k4: 'b' });
    // As before the restart: what has been reached is a part of it, what nobody has worked on is not.
    assert.equal(world.board.view?.total, 4);
    assert.equal(world.board.view?.reached, 2);
    await world.stop();
  });

  test('an older text that no resource reports is not kept', async () => {
    const world = new RolloutWorld();
    const a = world.revisionOperator('a');
    world.create('k0');
    world.board.start(world.revisionOperator('b'), [a]);
    world.begin();
    await world.calm();
    assert.equal(world.live.size, 1);
    assert.deepEqual(lastTexts(world), { k0: 'b' });
    await world.stop();
  });

  for (const reports of [true, false]) {
    test(`back to the text before, in the middle: only what had left it is rolled back, ${reports ? '' : 'not '}reporting`, async () => {
      const slow = { perSecond: 0.001 };
      const world = await atRest(10, { reports, rollout: slow });
      world.board.switchTo(world.revisionOperator('b', { perSecond: 1 }));
      await world.clock.advance(3_000);
      assert.equal(countOf(world, 'b'), 4);
      world.passes.length = 0;
      world.board.switchTo(world.revisionOperator('a', slow));
      await world.calm();
      assert.equal(countOf(world, 'a'), 7);
      assert.deepEqual([world.board.view?.reached, world.board.view?.total], [7, 10]);
      await world.clock.advance(10_000_000);
      assert.equal(world.board.view, undefined);
      assert.equal(world.live.size, 1);
      assert.equal(countOf(world, 'a'), 10);
      await world.stop();
    });
  }

  test('a change before any pass may begin is rolled out as well, from what each has', async () => {
    const world = new RolloutWorld({ reports: false });
    for (let index = 0; index < 5; index++) world.create(`k${index}`);
    world.board.start(world.revisionOperator('a'), []);
    world.board.switchTo(world.revisionOperator('b', { perSecond: 0.001 }));
    await world.calm();
    assert.deepEqual([world.news, world.board.view?.state], [[], 'previewing']);
    world.begin();
    await world.calm();
    assert.deepEqual([countOf(world, 'a'), countOf(world, 'b')], [4, 1]);
    await world.stop();
  });

  test('after a restart in the middle of three texts each resource keeps what it reports', async () => {
    const world = new RolloutWorld();
    const a = world.revisionOperator('a');
    const b = world.revisionOperator('b');
    const c = world.revisionOperator('c', { perSecond: 0.001 });
    for (const [key, { revision }] of [
      ['k0', a],
      ['k1', b],
      ['k2', b],
      ['k3', c],
    ] as const)
      world.create(key, revision);
    world.board.start(c, [b, a]);
    world.begin();
    await world.calm();
    // The roll-out begins with one of those that have the younger of the older texts.
    assert.deepEqual(lastTexts(world), { k0: 'a', k1: 'c', k2: 'b', k3: 'c' });
    await world.stop();
  });

  test('an older text that resources keep by what they report deletes no more than it may', async () => {
    const world = new RolloutWorld();
    const a = world.revisionOperator(
      'a',
      { maxDeletions: 2 },
      { deletes: (key) => [`child of ${key}`] },
    );
    for (let index = 0; index < 9; index++) world.create(`k${index}`, a.revision);
    world.board.start(world.revisionOperator('b', { perSecond: 0.001 }), [a]);
    world.begin();
    await world.calm();
    assert.equal(countOf(world, 'a'), 8);
    assert.equal(world.deleted.size, 2);
    world.board.approve(a.revision);
    await world.calm();
    assert.equal(world.deleted.size, 9);
    await world.stop();
  });

  for (const reports of [true, false]) {
    const others = reports ? { k2: 'a', k3: 'a', k4: 'a', k5: 'a' } : {};
    test(`stopped, it is stopped after a restart until all that failed are well, ${reports ? '' : 'not '}reporting`, async () => {
      const { world, failing, record } = inTheMiddle({
        reports,
        state: 'stopped',
        failed: ['k1', 'k0'],
        stopAfterFailures: 2,
      });
      assert.equal(world.board.view?.state, 'stopped');
      assert.deepEqual(rolloutRecordOf(world.board.view), { ...record, failed: ['u1', 'u2'] });
      world.begin();
      await world.clock.advance(60_000);
      for (const key of world.resources.keys()) world.wake(key);
      await world.calm();
      assert.deepEqual(lastTexts(world), { k0: 'b', k1: 'b', ...others });
      assert.match(
        world.board.view?.message ?? '',
        /2 of 6 resources .* because 2 resources fail with it/,
      );
      failing.delete('k0');
      world.wake('k0');
      await world.calm();
      assert.deepEqual(lastTexts(world), { k0: 'b', k1: 'b', ...others });
      assert.deepEqual([world.board.view?.state, world.board.view?.failed], ['stopped', ['u2']]);
      failing.delete('k1');
      world.wake('k1');
      await world.calm();
      assert.equal(countOf(world, 'b'), 6);
      assert.deepEqual(world.news, ['stopped', 'resumed', 'finished']);
      assert.equal(world.live.size, 1);
      await world.stop();
    });
  }

  test('stopped for resources that are all gone since, it continues by itself after a restart', async () => {
    const world = new RolloutWorld({ reports: false });
    for (let index = 0; index < 4; index++) world.create(`k${index}`);
    const b = world.revisionOperator('b', atOnce);
    world.board.start(b, [], {
      from: 'before',
      to: b.revision,
      state: 'stopped',
      failed: ['gone', 'as well'],
    });
    assert.equal(world.board.view?.state, 'previewing');
    world.begin();
    await world.calm();
    assert.equal(countOf(world, 'b'), 4);
    assert.deepEqual(world.news, ['started', 'finished']);
    await world.stop();
  });

  test('those that failed before a restart count for when to stop', async () => {
    const { world } = inTheMiddle({ state: 'rolling', failed: ['k0', 'k1'], stopAfterFailures: 2 });
    world.begin();
    await world.calm();
    assert.equal(countOf(world, 'b'), 2);
    assert.equal(world.board.view?.state, 'stopped');
    assert.deepEqual(world.news, ['started', 'stopped']);
    await world.stop();
  });

  for (const reports of [true, false]) {
    test(`held, it is held from the first moment after a restart, ${reports ? '' : 'not '}reporting`, async () => {
      const deletes = (key: string) => [`child of ${key}`];
      const { world, record } = inTheMiddle({ reports, state: 'held', maxDeletions: 3, deletes });
      assert.equal(world.board.view?.state, 'held');
      assert.match(world.board.view?.message ?? '', /held until its deletions are previewed again/);
      assert.deepEqual(rolloutRecordOf(world.board.view), record);
      world.begin();
      world.edit('k1');
      await world.clock.advance(60_000);
      const others = { k0: 'a', k2: 'a', k3: 'a', k4: 'a', k5: 'a' };
      assert.deepEqual(lastTexts(world), { ...(reports && others), k1: 'b' });
      assert.deepEqual([world.board.view?.state, world.board.view?.deletions], ['held', 6]);
      assert.equal(world.deleted.size, 0);
      world.board.approve(record.to);
      await world.calm();
      assert.equal(countOf(world, 'b'), 6);
      assert.equal(world.deleted.size, 6);
      assert.deepEqual(world.news, ['started', 'held', 'approved', 'finished']);
      await world.stop();
    });
  }

  test('held for deletions that are no more, it continues after a restart', async () => {
    const { world } = inTheMiddle({ state: 'held', maxDeletions: 3 });
    world.begin();
    await world.calm();
    assert.equal(countOf(world, 'b'), 6);
    assert.deepEqual(world.news, ['started', 'finished']);
    await world.stop();
  });

  test('held and approved, it continues after a restart', async () => {
    const deletes = (key: string) => [`child of ${key}`];
    const { world, record } = inTheMiddle({ state: 'held', maxDeletions: 3, deletes });
    world.board.approve(record.to);
    assert.equal(world.board.view?.state, 'previewing');
    world.begin();
    await world.calm();
    assert.deepEqual([countOf(world, 'b'), world.deleted.size], [6, 6]);
    await world.stop();
  });

  test('resources that report nothing wait after a restart until they are reached, at the pace', async () => {
    const { world } = inTheMiddle({ reports: false, state: 'rolling', perSecond: 1 });
    world.begin();
    await world.calm();
    for (const key of world.resources.keys()) world.wake(key);
    await world.calm();
    assert.deepEqual(lastTexts(world), { k0: 'b' });
    const { signal } = new AbortController();
    const turn: ReconcileContext = { signal, yieldWorker: async () => 'current' };
    assert.deepEqual(await world.board.reconcile('k1', turn), { kind: 'done' });
    const { reached, total, from } = world.board.view ?? {};
    const revisionOfA = textOf('a', {}, false).definition.revision;
    assert.deepEqual({ reached, total, from }, { reached: 1, total: 6, from: revisionOfA });
    await world.clock.advance(2_000);
    assert.equal(countOf(world, 'b'), 3);
    await world.clock.advance(10_000);
    assert.equal(countOf(world, 'b'), 6);
    assert.deepEqual(new Set(world.passes.map(({ revision }) => revision)), new Set(['b']));
    assert.deepEqual([world.board.view, world.live.size], [undefined, 1]);
    await world.stop();
  });

  test('one that waits takes the newest text at once when it is edited, created again or deleted', async () => {
    const world = new RolloutWorld({ reports: false });
    for (const key of ['k0', 'k1', 'k2', 'k3', 'k4', 'k5']) world.create(key);
    world.terminate('k4');
    const b = world.revisionOperator('b', { perSecond: 0.001 });
    world.board.start(b, [], { from: 'before', to: b.revision, state: 'rolling', failed: [] });
    world.begin();
    await world.calm();
    assert.deepEqual(lastTexts(world), { k0: 'b', k4: 'b' });
    world.create('new');
    world.edit('k1');
    world.delete('k2');
    world.create('k2');
    world.terminate('k3');
    await world.calm();
    const b5 = { k0: 'b', k1: 'b', k2: 'b', k3: 'b', k4: 'b', new: 'b' };
    assert.deepEqual(lastTexts(world), b5);
    await world.stop();
  });

  test('resources that report a text that is not there any more wait, too, while a roll-out continues', async () => {
    const world = new RolloutWorld();
    for (const key of ['k0', 'k1', 'k2']) world.create(key, 'gone');
    const b = world.revisionOperator('b', { perSecond: 0.001 });
    world.board.start(b, [], { from: 'gone', to: b.revision, state: 'rolling', failed: [] });
    world.begin();
    await world.calm();
    assert.deepEqual(lastTexts(world), { k0: 'b' });
    await world.stop();
  });

  test('those that wait and report that they fail do not stop a roll-out that continues', async () => {
    const world = new RolloutWorld();
    for (const key of ['k0', 'k1', 'k2', 'k3']) {
      world.create(key, 'gone');
      world.report(key, 'gone', true);
    }
    const settings = { perSecond: 0, stopAfterFailures: 2 };
    const b = world.revisionOperator('b', settings, { fails: () => true });
    world.board.start(b, [], { from: 'gone', to: b.revision, state: 'rolling', failed: [] });
    world.begin();
    await world.calm();
    assert.equal(countOf(world, 'b'), 4);
    assert.deepEqual(world.news, ['started', 'finished']);
    await world.stop();
  });

  test('those that wait when a further text comes wait for that one', async () => {
    const { world } = inTheMiddle({ reports: false, state: 'rolling', perSecond: 0.001 });
    world.begin();
    await world.calm();
    world.board.switchTo(world.revisionOperator('c', { perSecond: 1 }));
    await world.calm();
    for (const key of world.resources.keys()) world.wake(key);
    await world.calm();
    assert.deepEqual(lastTexts(world), { k0: 'c' });
    await world.clock.advance(10_000);
    assert.equal(countOf(world, 'c'), 6);
    assert.deepEqual(
      world.passes.filter(({ revision }) => revision !== 'c').map(({ key }) => key),
      ['k0'],
    );
    await world.stop();
  });

  test('what was made while no process ran has the newest text at once, also while the roll-out is held', async () => {
    const deletes = (key: string) => (key === 'k0' ? ['gone'] : []);
    const fresh = ['fresh'];
    const { world, record } = inTheMiddle({ fresh, state: 'held', maxDeletions: 0, deletes });
    world.begin();
    await world.calm();
    for (const key of world.resources.keys()) world.wake(key);
    await world.calm();
    assert.equal(lastTexts(world).fresh, 'b');
    assert.equal(countOf(world, 'b'), 1);
    const { view } = world.board;
    assert.ok(view);
    assert.deepEqual(rolloutRecordOf(view), record);
    await world.stop();
  });

  test('a record of a roll-out to another text says nothing', async () => {
    const world = new RolloutWorld({ reports: false });
    for (const key of ['k0', 'k1', 'k2']) world.create(key);
    const b = world.revisionOperator('b', { perSecond: 0.001 });
    world.board.start(b, [], { from: 'before', to: 'another', state: 'stopped', failed: ['u0'] });
    assert.equal(world.board.view, undefined);
    world.begin();
    await world.calm();
    assert.equal(countOf(world, 'b'), 3);
    await world.stop();
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
  const world = await atRest(random.below(12), options);
  // Where more than three texts are at work, those of the one that is given up take the newest at once, and may fail with it.
  const isShort = random.chance(0.5);
  const words = (isShort ? 'bc' : 'bcdefghijklm').split('');
  const order = ['a'];
  const keys = Array.from({ length: 16 }, (_, index) => `k${index}`);
  const limits: Limit[] = [];
  const anyKey = () => random.pick(keys) ?? 'k0';
  world.pace = async () => {
    for (let turns = random.below(4); turns > 0; turns--) await world.calm();
  };
  world.onDelete = (key, word) => {
    const { state, to } = world.board.view ?? {};
    const isHeld = state === 'held' || state === 'previewing';
    if (isHeld && world.newest === word) assert.fail(`${key} loses something, ${to} is ${state}`);
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
        [...world.resources.values()].map(
          ({ metadata: { uid = '', generation = 0 } }) => [uid, generation] as const,
        ),
      );
      limits.push({ word, ...settings, there, processes: 1 });
      const losers = new Set([...there.keys()].filter(() => random.chance(0.5)));
      const deletes = (key: string) => {
        const uid = world.resources.get(key)?.metadata.uid ?? '';
        return losers.has(uid) ? [`${word} ${uid}`] : [];
      };
      const behaviour = { fails: () => broken, ...(random.chance(0.5) && { deletes }) };
      world.board.switchTo(world.revisionOperator(word, settings, behaviour));
    },
    () => world.edit(anyKey()),
    () => {
      const key = anyKey();
      if (!world.resources.has(key)) world.create(key);
    },
    () => world.delete(anyKey()),
    () => world.wake(anyKey()),
    () => world.wake(anyKey()),
    () => world.clock.advance(random.below(800)),
    async () => {
      if (random.chance(0.5)) return;
      for (const limit of limits) if (limit.word !== world.newest) limit.processes += 1;
      await world.restart(random.chance(0.5));
    },
  ];
  for (let steps = 40; steps > 0; steps--) {
    await random.pick(acts)?.();
    if (random.chance(0.7)) await world.calm();
    if (isShort) checkFailing(world, limits.at(-1));
  }
  // In the end somebody writes a text that is right.
  order.push('z');
  world.board.switchTo(world.revisionOperator('z', { perSecond: 3, stopAfterFailures: 2 }));
  for (let seconds = 60; seconds > 0; seconds--) {
    await world.calm();
    await world.clock.advance(1_000);
  }
  world.pace = () => Promise.resolve();
  for (let turns = 6; turns > 0; turns--) await world.calm();
  checkPasses(world, order);
  for (const { word, maxDeletions, there, processes } of limits) {
    const lost = [...world.deleted].filter((each) => {
      const [of, uid = ''] = each.split(' ');
      return of === word && there.has(uid);
    });
    const most = maxDeletions * processes;
    assert.ok(lost.length <= most, `${word} deleted ${lost} of ${most}`);
  }
  for (const [key, { metadata }] of world.resources) {
    const last = world.passes.findLast((pass) => pass.key === key);
    assert.deepEqual([last?.revision, last?.uid], ['z', metadata.uid], key);
  }
  assert.equal(world.live.size, 1, 'one operator is left');
  assert.equal(world.board.view, undefined);
  await world.stop();
  assert.equal(world.live.size, 0);
}

/** No more fail with the newest text than may, of those that were there, did not fail before and have not been edited since. */
function checkFailing(world: RolloutWorld, limit: Limit | undefined): void {
  const { failed = [] } = world.board.view ?? {};
  assert.deepEqual(failed, [...failed].sort());
  if (limit === undefined) return;
  assert.ok(failed.length <= limit.stopAfterFailures, `${failed} are told`);
  const broken = [...world.resources.values()].filter(({ metadata: { uid = '', generation } }) => {
    const passes = world.passes.filter((pass) => pass.uid === uid && pass.outcome !== undefined);
    const older = passes.findLast(({ revision }) => revision !== limit.word);
    const last = passes.at(-1);
    return (
      limit.there.get(uid) === generation &&
      (older ?? last)?.generation === generation &&
      last?.revision === limit.word &&
      last.outcome === 'failed' &&
      older?.outcome !== 'failed'
    );
  });
  const names = broken.map(({ metadata: { name } }) => name);
  assert.ok(names.length <= limit.stopAfterFailures, `${names} fail with ${limit.word}`);
}

/** No resource goes back to an older text, and one that is new or edited has the newest. */
function checkPasses(world: RolloutWorld, order: readonly string[]): void {
  const before = new Map<string, RolloutWorld['passes'][number]>();
  for (const pass of world.passes) {
    const last = before.get(pass.uid);
    const age = (word: string) => order.indexOf(word);
    if (last === undefined && pass.revision !== pass.newest) {
      // Its first pass: it was there when the text changed, with text `a` of before the history at the latest.
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
