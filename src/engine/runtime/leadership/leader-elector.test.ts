import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  LeaseHarness,
  type Member,
  type MemberOptions,
} from '../../../../test/support/leadership/lease-harness.ts';
import { SeededRandom } from '../../../../test/support/model/seeded-random.ts';
import { leaseGvk } from './lease.ts';

const quick = { delayMs: () => 1 };

function setUp() {
  const harness = new LeaseHarness(new SeededRandom(1));
  const join = (name: string, options: Partial<MemberOptions> = {}) =>
    harness.join({ name, network: quick, ...options });
  const names = () => harness.writers.map(({ name }) => name);
  return { harness, join, names };
}

/** Stops it and lets the harness go on until that is done. */
async function stop(harness: LeaseHarness, member: Member): Promise<void> {
  const ended = member.stop();
  await harness.run(100);
  await ended;
}

describe('runtime/leadership leader elector', () => {
  test('the first one creates the Lease as client-go does, and renews it every two seconds', async () => {
    const { harness, join, names } = setUp();
    join('a');
    await harness.run(10);
    assert.deepEqual(names(), ['a']);
    const { apiVersion, kind } = harness.server.object ?? {};
    assert.deepEqual(
      { apiVersion, kind },
      { apiVersion: 'coordination.k8s.io/v1', kind: leaseGvk.kind },
    );
    const { acquireTime, renewTime, ...rest } = harness.server.spec;
    assert.deepEqual(rest, { holderIdentity: 'a', leaseDurationSeconds: 15, leaseTransitions: 0 });
    assert.match(String(acquireTime), /^1970-01-01T00:00:01\.\d{6}Z$/);
    assert.equal(renewTime, acquireTime);
    await harness.run(20_000);
    assert.deepEqual(harness.server.log, ['GET not-found', 'POST ok', ...Array(10).fill('PUT ok')]);
    assert.equal(harness.server.spec.acquireTime, acquireTime);
    assert.match(String(harness.server.spec.renewTime), /^1970-01-01T00:00:21/);
  });

  test('a follower watches and asks nothing; given back, the Lease is its own at once', async () => {
    const { harness, join, names } = setUp();
    const a = join('a');
    await harness.run(10);
    join('b');
    await harness.run(30_000);
    assert.deepEqual(names(), ['a']);
    const before = harness.server.log.length;
    await harness.run(100_000);
    assert.equal(harness.server.log.slice(before).filter((line) => line !== 'PUT ok').length, 0);
    await stop(harness, a);
    assert.deepEqual(names(), ['b']);
    assert.equal(harness.server.spec.holderIdentity, 'b');
    assert.equal(harness.server.spec.leaseTransitions, 1);
    assert.equal(a.lostBecause, undefined);
  });

  test('what a given back Lease says: no one has it, for a second', async () => {
    const { harness, join } = setUp();
    const a = join('a');
    await harness.run(3_000);
    await stop(harness, a);
    const { acquireTime, renewTime, ...rest } = harness.server.spec;
    assert.deepEqual(rest, { leaseDurationSeconds: 1, leaseTransitions: 0 });
    assert.ok(acquireTime === renewTime && renewTime !== undefined);
    assert.deepEqual(harness.writers, []);
  });

  test('after a kill the Lease runs out by the clock of who takes it, whatever its clock on the wall says', async () => {
    for (const wallMs of [-86_400_000, 0, 86_400_000]) {
      const { harness, join, names } = setUp();
      const a = join('a');
      await harness.run(10);
      join('b', { wallMs: wallMs + 172_800_000 });
      await harness.run(5_000);
      a.kill();
      await harness.run(12_000);
      assert.deepEqual(names(), []);
      await harness.run(4_000);
      assert.deepEqual(names(), ['b']);
    }
  });

  test('anyone who learns nothing by the watch asks, and takes over all the same', async () => {
    const { harness, join, names } = setUp();
    const a = join('a');
    await harness.run(10);
    join('b', { network: { ...quick, watchDelayMs: () => undefined } });
    await harness.run(60_000);
    assert.deepEqual(names(), ['a']);
    await stop(harness, a);
    await harness.run(5_000);
    assert.deepEqual(names(), ['b']);
  });

  test('a leader that cannot renew writes for ten seconds, then ends; the other waits longer', async () => {
    const { harness, join, names } = setUp();
    let isCut = false;
    const a = join('a', { network: { delayMs: () => (isCut ? undefined : 1) } });
    await harness.run(10);
    join('b');
    await harness.run(4_000);
    isCut = true;
    await harness.run(8_000);
    assert.deepEqual(names(), ['a']);
    await harness.run(3_000);
    assert.deepEqual(names(), []);
    assert.equal(a.lostBecause, 'The Lease was not renewed in time');
    await harness.run(6_000);
    assert.deepEqual(names(), ['b']);
  });

  test('a process that was frozen finds its fence closed before anything else runs in it', async () => {
    const { harness, join, names } = setUp();
    const a = join('a');
    await harness.run(10);
    join('b');
    await harness.run(5_000);
    a.freeze();
    await harness.run(30_000);
    assert.deepEqual(names(), ['b']);
    a.thaw(() => assert.equal(a.fence.isOpen, false));
    await harness.run(10_000);
    assert.ok(a.isDead);
    assert.deepEqual(names(), ['b']);
  });

  test('an answer to a renewal that was lost is no reason to end', async () => {
    const { harness, join, names } = setUp();
    let isLost = false;
    const delayMs = (way: 'there' | 'back') => (isLost && way === 'back' ? undefined : 1);
    const a = join('a', { network: { delayMs } });
    await harness.run(1_000);
    isLost = true;
    await harness.run(2_000);
    isLost = false;
    await harness.run(60_000);
    assert.deepEqual(names(), ['a']);
    assert.equal(a.lostBecause, undefined);
    assert.equal(harness.server.spec.leaseTransitions, 0);
  });

  test('a Lease that no one can reach is reported, and is over with the first answer', async () => {
    const { harness, join } = setUp();
    let isCut = true;
    const a = join('a', { network: { delayMs: () => (isCut ? undefined : 1) } });
    await harness.run(6_000);
    assert.equal(
      a.elector.warning,
      'The Lease "homeostat" in namespace "system" cannot be read or written: aborted',
    );
    isCut = false;
    await harness.run(20_000);
    assert.deepEqual([a.elector.warning, a.elector.isLeading], [undefined, true]);
  });

  test('a namespace that is not there is reported, and is over when it is made', async () => {
    const { harness, join } = setUp();
    harness.server.hasNamespace = false;
    const a = join('a');
    await harness.run(6_000);
    assert.match(a.elector.warning ?? '', /namespace "system" cannot be read or written: /);
    harness.server.hasNamespace = true;
    await harness.run(20_000);
    assert.deepEqual([a.elector.warning, a.elector.isLeading], [undefined, true]);
  });

  test('another user in the Lease ends the leadership at once', async () => {
    const { harness, join, names } = setUp();
    const a = join('a');
    await harness.run(10);
    const { object } = harness.server;
    assert.ok(object);
    harness.server.handle({
      method: 'PUT',
      body: { ...object, spec: { ...harness.server.spec, holderIdentity: 'x' } },
    });
    await harness.run(2_100);
    assert.equal(a.lostBecause, '"x" holds the Lease');
    assert.deepEqual(names(), []);
  });

  test('a Lease that is deleted is made again by its holder, and no other is faster', async () => {
    const { harness, join, names } = setUp();
    join('a');
    await harness.run(10);
    join('b');
    await harness.run(5_000);
    harness.server.delete();
    await harness.run(60_000);
    assert.deepEqual(names(), ['a']);
  });

  test('anyone who waits to lead hears of it once, and not after it has given up', async () => {
    const { harness, join } = setUp();
    const a = join('a');
    await harness.run(10);
    const b = join('b');
    const gone = new AbortController();
    const heard: string[] = [];
    const waiting = [
      b.elector.whenLeading(new AbortController().signal).then(() => heard.push('waited')),
      assert.rejects(b.elector.whenLeading(gone.signal), /given up/),
    ];
    gone.abort(new Error('given up'));
    await harness.run(1_000);
    assert.deepEqual(heard, []);
    await stop(harness, a);
    await Promise.all(waiting);
    assert.deepEqual([heard, b.elector.isLeading], [['waited'], true]);
    await b.elector.whenLeading(new AbortController().signal);
  });
});
