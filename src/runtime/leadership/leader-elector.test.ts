import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  LeaseWorld,
  type Member,
  type MemberOptions,
} from '../../../test/support/leadership/lease-world.ts';
import { SeededRandom } from '../../../test/support/model/seeded-random.ts';
import { leaseGvk } from './lease-record.ts';

const quick = { delayMs: () => 1 };

function setUp() {
  const world = new LeaseWorld(new SeededRandom(1));
  const join = (name: string, options: Partial<MemberOptions> = {}) =>
    world.join({ name, network: quick, ...options });
  const names = () => world.writers.map(({ name }) => name);
  return { world, join, names };
}

/** Stops it and lets the world go on until that is done. */
async function stop(world: LeaseWorld, member: Member): Promise<void> {
  const ended = member.stop();
  await world.run(100);
  await ended;
}

describe('runtime/leadership leader elector', () => {
  test('the first one creates the Lease as client-go does, and renews it every two seconds', async () => {
    const { world, join, names } = setUp();
    join('a');
    await world.run(10);
    assert.deepEqual(names(), ['a']);
    const { apiVersion, kind } = world.server.object ?? {};
    assert.deepEqual(
      { apiVersion, kind },
      { apiVersion: 'coordination.k8s.io/v1', kind: leaseGvk.kind },
    );
    const { acquireTime, renewTime, ...rest } = world.server.spec;
    assert.deepEqual(rest, { holderIdentity: 'a', leaseDurationSeconds: 15, leaseTransitions: 0 });
    assert.match(String(acquireTime), /^1970-01-01T00:00:01\.\d{6}Z$/);
    assert.equal(renewTime, acquireTime);
    await world.run(20_000);
    assert.deepEqual(world.server.log, ['GET not-found', 'POST ok', ...Array(10).fill('PUT ok')]);
    assert.equal(world.server.spec.acquireTime, acquireTime);
    assert.match(String(world.server.spec.renewTime), /^1970-01-01T00:00:21/);
  });

  test('a follower watches and asks nothing; given back, the Lease is its own at once', async () => {
    const { world, join, names } = setUp();
    const a = join('a');
    await world.run(10);
    join('b');
    await world.run(30_000);
    assert.deepEqual(names(), ['a']);
    const before = world.server.log.length;
    await world.run(100_000);
    assert.equal(world.server.log.slice(before).filter((line) => line !== 'PUT ok').length, 0);
    await stop(world, a);
    assert.deepEqual(names(), ['b']);
    assert.equal(world.server.spec.holderIdentity, 'b');
    assert.equal(world.server.spec.leaseTransitions, 1);
    assert.equal(a.lostBecause, undefined);
  });

  test('what a given back Lease says: nobody has it, for a second', async () => {
    const { world, join } = setUp();
    const a = join('a');
    await world.run(3_000);
    await stop(world, a);
    const { acquireTime, renewTime, ...rest } = world.server.spec;
    assert.deepEqual(rest, { leaseDurationSeconds: 1, leaseTransitions: 0 });
    assert.ok(acquireTime === renewTime && renewTime !== undefined);
    assert.deepEqual(world.writers, []);
  });

  test('after a kill the Lease runs out by the clock of who takes it, whatever its clock on the wall says', async () => {
    for (const wallMs of [-86_400_000, 0, 86_400_000]) {
      const { world, join, names } = setUp();
      const a = join('a');
      await world.run(10);
      join('b', { wallMs: wallMs + 172_800_000 });
      await world.run(5_000);
      a.kill();
      await world.run(12_000);
      assert.deepEqual(names(), []);
      await world.run(4_000);
      assert.deepEqual(names(), ['b']);
    }
  });

  test('anyone who learns nothing by the watch asks, and takes over all the same', async () => {
    const { world, join, names } = setUp();
    const a = join('a');
    await world.run(10);
    join('b', { network: { ...quick, watchDelayMs: () => undefined } });
    await world.run(60_000);
    assert.deepEqual(names(), ['a']);
    await stop(world, a);
    await world.run(5_000);
    assert.deepEqual(names(), ['b']);
  });

  test('a leader that cannot renew writes for ten seconds, then ends; the other waits longer', async () => {
    const { world, join, names } = setUp();
    let isCut = false;
    const a = join('a', { network: { delayMs: () => (isCut ? undefined : 1) } });
    await world.run(10);
    join('b');
    await world.run(4_000);
    isCut = true;
    await world.run(8_000);
    assert.deepEqual(names(), ['a']);
    await world.run(3_000);
    assert.deepEqual(names(), []);
    assert.equal(a.lostBecause, 'The Lease was not renewed in time');
    await world.run(6_000);
    assert.deepEqual(names(), ['b']);
  });

  test('a process that was frozen finds its fence closed before anything else runs in it', async () => {
    const { world, join, names } = setUp();
    const a = join('a');
    await world.run(10);
    join('b');
    await world.run(5_000);
    a.freeze();
    await world.run(30_000);
    assert.deepEqual(names(), ['b']);
    a.thaw(() => assert.equal(a.fence.isOpen, false));
    await world.run(10_000);
    assert.ok(a.isDead);
    assert.deepEqual(names(), ['b']);
  });

  test('an answer to a renewal that was lost is no reason to end', async () => {
    const { world, join, names } = setUp();
    let isLost = false;
    const delayMs = (way: 'there' | 'back') => (isLost && way === 'back' ? undefined : 1);
    const a = join('a', { network: { delayMs } });
    await world.run(1_000);
    isLost = true;
    await world.run(2_000);
    isLost = false;
    await world.run(60_000);
    assert.deepEqual(names(), ['a']);
    assert.equal(a.lostBecause, undefined);
    assert.equal(world.server.spec.leaseTransitions, 0);
  });

  test('a Lease that nobody can reach is reported, and is over with the first answer', async () => {
    const { world, join } = setUp();
    let isCut = true;
    const a = join('a', { network: { delayMs: () => (isCut ? undefined : 1) } });
    await world.run(6_000);
    assert.equal(
      a.elector.warning,
      'The Lease "homeostat" in namespace "system" cannot be read or written: aborted',
    );
    isCut = false;
    await world.run(20_000);
    assert.deepEqual([a.elector.warning, a.elector.isLeading], [undefined, true]);
  });

  test('a namespace that is not there is reported, and is over when it is made', async () => {
    const { world, join } = setUp();
    world.server.hasNamespace = false;
    const a = join('a');
    await world.run(6_000);
    assert.match(a.elector.warning ?? '', /namespace "system" cannot be read or written: /);
    world.server.hasNamespace = true;
    await world.run(20_000);
    assert.deepEqual([a.elector.warning, a.elector.isLeading], [undefined, true]);
  });

  test('another user in the Lease ends the lead at once', async () => {
    const { world, join, names } = setUp();
    const a = join('a');
    await world.run(10);
    const { object } = world.server;
    assert.ok(object);
    world.server.handle({
      method: 'PUT',
      body: { ...object, spec: { ...world.server.spec, holderIdentity: 'x' } },
    });
    await world.run(2_100);
    assert.equal(a.lostBecause, '"x" holds the Lease');
    assert.deepEqual(names(), []);
  });

  test('a Lease that is deleted is made again by its holder, and no other is faster', async () => {
    const { world, join, names } = setUp();
    join('a');
    await world.run(10);
    join('b');
    await world.run(5_000);
    world.server.delete();
    await world.run(60_000);
    assert.deepEqual(names(), ['a']);
  });

  test('anyone who waits to lead hears of it once, and not after it has given up', async () => {
    const { world, join } = setUp();
    const a = join('a');
    await world.run(10);
    const b = join('b');
    const gone = new AbortController();
    const heard: string[] = [];
    const waiting = [
      b.elector.whenLeading(new AbortController().signal).then(() => heard.push('waited')),
      assert.rejects(b.elector.whenLeading(gone.signal), /given up/),
    ];
    gone.abort(new Error('given up'));
    await world.run(1_000);
    assert.deepEqual(heard, []);
    await stop(world, a);
    await Promise.all(waiting);
    assert.deepEqual([heard, b.elector.isLeading], [['waited'], true]);
    await b.elector.whenLeading(new AbortController().signal);
  });
});
