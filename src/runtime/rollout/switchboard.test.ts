import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RolloutWorld } from '../../../test/support/fakes/rollout-world.ts';
import { SeededRandom } from '../../../test/support/model/seeded-random.ts';

const atOnce = { perSecond: 0 };

/** A world at rest with `count` resources of text `a`. */
async function atRest(count: number, concurrency?: number): Promise<RolloutWorld> {
  const world = new RolloutWorld(concurrency);
  for (let index = 0; index < count; index++) world.create(`k${index}`);
  world.board.begin(world.edition('a', atOnce), []);
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

/** As another process does, after a pass with this revision. */
function report(world: RolloutWorld, key: string, definitionRevision: string): void {
  const resource = world.resources.get(key);
  assert.ok(resource);
  world.resources.set(key, { ...resource, status: { definitionRevision } });
  world.wake(key);
}

describe('runtime/rollout/switchboard', () => {
  test('at rest there is one operator, and nothing is decided', async () => {
    const world = await atRest(3);
    assert.equal(world.board.view, undefined);
    assert.equal(world.board.editions.length, 1);
    assert.deepEqual(world.news, []);
    assert.equal(world.settled, 1);
    await world.stop();
    assert.deepEqual([...world.live], []);
  });

  test('existing resources follow at the pace, and the older operator ends when all have', async () => {
    const world = await atRest(10);
    world.board.switchTo(world.edition('b', { perSecond: 2 }));
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
    assert.deepEqual(world.news, ['begun', 'ended']);
    assert.equal(world.live.size, 1);
    assert.equal(world.board.view, undefined);
    assert.equal(world.clock.pending, 0);
    await world.stop();
  });

  test('a new, an edited and a recreated resource take the newest text at once, one that is being deleted does not', async () => {
    const world = await atRest(4);
    world.board.switchTo(world.edition('b', { perSecond: 0.001 }));
    await world.calm();
    world.passes.length = 0;
    world.create('new');
    world.edit('k1');
    world.delete('k2');
    world.create('k2');
    const going = world.resources.get('k3');
    assert.ok(going);
    const { metadata } = going;
    const deletionTimestamp = '2026-01-01T00:00:00Z';
    world.resources.set('k3', {
      ...going,
      metadata: { ...metadata, generation: 2, deletionTimestamp },
    });
    world.wake('k3');
    await world.calm();
    assert.deepEqual(lastTexts(world), { new: 'b', k1: 'b', k2: 'b', k3: 'a' });
    await world.stop();
  });

  test('a pass that has begun ends with the text it began with', async () => {
    const world = await atRest(4);
    const gate = Promise.withResolvers<void>();
    world.pace = () => gate.promise;
    for (const key of world.resources.keys()) world.wake(key);
    await world.calm();
    world.board.switchTo(world.edition('b', atOnce));
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

  test('a text that breaks every resource breaks as many as it may; a corrected one goes on', async () => {
    const world = await atRest(30, 10);
    const breaks = { fails: () => true };
    world.board.switchTo(world.edition('b', { perSecond: 0, stopAfterFailures: 4 }, breaks));
    await world.calm();
    assert.equal(countOf(world, 'b'), 4);
    assert.equal(world.board.view?.state, 'stopped');
    assert.match(world.board.view?.message ?? '', /4 of 30 resources .* for 4 fail with it/);
    for (const key of world.resources.keys()) world.wake(key);
    await world.clock.advance(60_000);
    assert.equal(countOf(world, 'a'), 26);
    world.create('new');
    await world.calm();
    assert.equal(lastTexts(world).new, 'b');
    world.board.switchTo(world.edition('c', atOnce));
    await world.calm();
    assert.equal(countOf(world, 'c'), 31);
    assert.deepEqual(world.news, ['begun', 'stopped', 'begun', 'ended']);
    assert.equal(world.live.size, 1);
    await world.stop();
  });

  test('stopped, it goes on when those that fail are mended or gone', async () => {
    const world = await atRest(8);
    const failing = new Set(['k0', 'k1']);
    const settings = { perSecond: 0, stopAfterFailures: 2 };
    const next = world.edition('b', settings, { fails: (key) => failing.has(key) });
    world.board.switchTo(next);
    await world.calm();
    assert.equal(world.board.view?.state, 'stopped');
    world.delete('k0');
    failing.delete('k1');
    world.wake('k1');
    await world.calm();
    assert.equal(countOf(world, 'b'), 8);
    assert.deepEqual(world.news, ['begun', 'stopped', 'resumed', 'ended']);
    await world.stop();
  });

  test('resources that failed before do not stop it', async () => {
    const world = new RolloutWorld();
    for (let index = 0; index < 10; index++) world.create(`k${index}`);
    world.board.begin(world.edition('a', atOnce, { fails: () => true }), []);
    world.begin();
    await world.calm();
    const settings = { perSecond: 0, stopAfterFailures: 2 };
    world.board.switchTo(world.edition('b', settings, { fails: () => true }));
    await world.calm();
    assert.equal(countOf(world, 'b'), 10);
    assert.deepEqual(world.news, ['begun', 'ended']);
    await world.stop();
  });

  test('deletions beyond the limit hold everything until they are approved', async () => {
    const world = await atRest(6);
    const deletes = (key: string) => [`child of ${key}`];
    const next = world.edition('b', { perSecond: 0, maxDeletions: 3 }, { deletes });
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
    assert.deepEqual(world.news, ['begun', 'held', 'approved', 'ended']);
    await world.stop();
  });

  test('deletions that only passes come upon hold it in the middle, as many as are allowed go', async () => {
    const world = await atRest(6);
    let isPreview = true;
    const deletes = (key: string) => (isPreview ? [] : [`child of ${key}`]);
    world.board.switchTo(world.edition('b', { perSecond: 1, maxDeletions: 2 }, { deletes }));
    await world.calm();
    isPreview = false;
    await world.clock.advance(20_000);
    assert.equal(world.board.view?.state, 'held');
    assert.ok(world.deleted.size <= 2, `${[...world.deleted]}`);
    assert.deepEqual(world.news, ['begun', 'held']);
    for (const key of ['k0', 'k1', 'k2', 'k3', 'k4', 'k5']) world.delete(key);
    await world.calm();
    assert.deepEqual(world.news, ['begun', 'held', 'resumed', 'ended']);
    await world.stop();
  });

  test('after a restart resources keep what they report until they are reached, and others take the newest', async () => {
    const world = new RolloutWorld();
    const a = world.edition('a');
    for (const key of ['k0', 'k1', 'k2']) world.create(key, a.revision);
    world.create('k3');
    const b = world.edition('b', { perSecond: 0.001 });
    world.create('k4', b.revision);
    world.board.begin(b, [a]);
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
    const a = world.edition('a');
    world.create('k0');
    world.board.begin(world.edition('b'), [a]);
    world.begin();
    await world.calm();
    assert.equal(world.live.size, 1);
    assert.deepEqual(lastTexts(world), { k0: 'b' });
    await world.stop();
  });

  test('back to the text before, in the middle: only what had left it is rolled back', async () => {
    const world = await atRest(10);
    world.board.switchTo(world.edition('b', { perSecond: 1 }));
    await world.clock.advance(3_000);
    assert.equal(countOf(world, 'b'), 4);
    world.board.switchTo(world.edition('a', { perSecond: 0 }));
    await world.calm();
    assert.equal(world.board.view, undefined);
    assert.equal(world.live.size, 1);
    assert.equal(countOf(world, 'a'), 10);
    await world.stop();
  });

  test('who follows puts no resource that reports nothing back to the older text, and counts what the newest deletes', async () => {
    const world = new RolloutWorld();
    for (let index = 0; index < 5; index++) world.create(`k${index}`);
    const deletes = (key: string) => [`newer child of ${key}`];
    world.board.begin(world.edition('a', atOnce, { deletes }), []);
    const settings = { perSecond: 1, maxDeletions: 2 };
    world.board.switchTo(
      world.edition('b', settings, { deletes: (key) => [`older child of ${key}`] }),
    );
    await world.calm();
    assert.deepEqual([world.board.view, world.live.size, world.settled], [undefined, 1, 0]);
    world.begin();
    await world.calm();
    assert.deepEqual(new Set(world.passes.map(({ revision }) => revision)), new Set(['b']));
    assert.equal(world.board.view?.state, 'held');
    assert.deepEqual([...world.deleted], []);
    await world.stop();
  });

  test('who follows goes with what others have reached, and tells of no roll-out that is over', async () => {
    const world = new RolloutWorld();
    const a = world.edition('a', atOnce);
    for (const key of ['k0', 'k1', 'k2']) world.create(key, a.revision);
    world.board.begin(a, []);
    const b = world.edition('b', atOnce);
    world.board.switchTo(b);
    assert.equal(world.board.view?.reached, 0);
    report(world, 'k0', b.revision);
    assert.equal(world.board.view?.reached, 1);
    for (const key of ['k1', 'k2']) report(world, key, b.revision);
    await world.calm();
    assert.deepEqual([world.board.view, world.live.size], [undefined, 1]);
    world.begin();
    await world.calm();
    assert.deepEqual(lastTexts(world), { k0: 'b', k1: 'b', k2: 'b' });
    assert.deepEqual(world.news, []);
    await world.stop();
  });

  test('who begins to lead in the middle keeps what each resource reports, of three texts', async () => {
    const world = new RolloutWorld();
    const a = world.edition('a');
    for (const key of ['k0', 'k1', 'k2', 'k3', 'k4']) world.create(key, a.revision);
    world.board.begin(a, []);
    const b = world.edition('b');
    world.board.switchTo(b);
    report(world, 'k1', b.revision);
    const c = world.edition('c', { perSecond: 0.001 });
    world.board.switchTo(c);
    report(world, 'k2', b.revision);
    report(world, 'k3', c.revision);
    world.edit('k4');
    world.begin();
    await world.calm();
    const texts = lastTexts(world);
    // The roll-out begins with one of those that have the younger of the older texts.
    const one = texts.k1 === 'c' ? 'k1' : 'k2';
    assert.deepEqual(texts, { k0: 'a', k1: 'b', k2: 'b', k3: 'c', k4: 'c', [one]: 'c' });
    await world.stop();
  });

  test('an older text that resources keep by what they report deletes no more than it may', async () => {
    const world = new RolloutWorld();
    const a = world.edition('a', { maxDeletions: 2 }, { deletes: (key) => [`child of ${key}`] });
    for (let index = 0; index < 9; index++) world.create(`k${index}`, a.revision);
    world.board.begin(a, []);
    world.board.switchTo(world.edition('b', { perSecond: 0.001 }));
    world.begin();
    await world.calm();
    assert.equal(countOf(world, 'a'), 8);
    assert.equal(world.deleted.size, 2);
    world.board.approve(a.revision);
    await world.calm();
    assert.equal(world.deleted.size, 9);
    await world.stop();
  });

  for (let seed = 1; seed <= 50; seed++) {
    test(`in random history ${seed} every pass has a text that it may have, and the end is the newest`, async () => {
      await randomHistory(new SeededRandom(seed));
    });
  }
});

async function randomHistory(random: SeededRandom): Promise<void> {
  const world = await atRest(random.below(12), 1 + random.below(4));
  const words = 'bcdefghijklm'.split('');
  const order = ['a'];
  const keys = Array.from({ length: 16 }, (_, index) => `k${index}`);
  const limits: {
    readonly word: string;
    readonly maxDeletions: number;
    readonly there: ReadonlySet<string | undefined>;
  }[] = [];
  const anyKey = () => random.pick(keys) ?? 'k0';
  world.pace = async () => {
    for (let turns = random.below(4); turns > 0; turns--) await world.calm();
  };
  const acts: readonly (() => Promise<void> | void)[] = [
    () => {
      const word = words[0];
      if (word === undefined) return;
      words.shift();
      order.push(word);
      const settings = {
        perSecond: random.pick([0, 1, 5]) ?? 0,
        stopAfterFailures: 1 + random.below(4),
      };
      const broken = random.chance(0.4);
      const maxDeletions = random.below(3);
      const there = new Set([...world.resources.values()].map(({ metadata }) => metadata.uid));
      limits.push({ word, maxDeletions, there });
      const losers = new Set([...there].filter(() => random.chance(0.5)));
      const deletes = (key: string) => {
        const uid = world.resources.get(key)?.metadata.uid;
        return losers.has(uid) ? [`${word} ${uid}`] : [];
      };
      const behaviour = { fails: () => broken, ...(random.chance(0.5) && { deletes }) };
      world.board.switchTo(world.edition(word, { ...settings, maxDeletions }, behaviour));
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
  ];
  for (let steps = 40; steps > 0; steps--) {
    await random.pick(acts)?.();
    if (random.chance(0.7)) await world.calm();
  }
  // In the end somebody writes a text that is right.
  order.push('z');
  world.board.switchTo(world.edition('z', { perSecond: 3, stopAfterFailures: 2 }));
  for (let seconds = 60; seconds > 0; seconds--) {
    await world.calm();
    await world.clock.advance(1_000);
  }
  world.pace = () => Promise.resolve();
  for (let turns = 6; turns > 0; turns--) await world.calm();
  checkPasses(world, order);
  for (const { word, maxDeletions, there } of limits) {
    const lost = [...world.deleted].filter((each) => {
      const [of, uid] = each.split(' ');
      return of === word && there.has(uid);
    });
    assert.ok(lost.length <= maxDeletions, `${word} deleted ${lost} of ${maxDeletions}`);
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
      if (isEdited && pass.newest === last.newest)
        assert.equal(pass.revision, pass.newest, `${pass.key} was edited`);
    }
    before.set(pass.uid, pass);
  }
}
