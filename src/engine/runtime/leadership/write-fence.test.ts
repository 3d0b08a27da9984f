import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import { FakeClock } from '../../../../test/support/fake-clock.ts';
import { WriteFence } from './write-fence.ts';

const write = { path: '/api/v1/namespaces/a/configmaps/b' };

function setUp() {
  const clock = new FakeClock(0);
  const fence = new WriteFence(clock);
  const expired: string[] = [];
  fence.onExpired = (reason) => expired.push(reason);
  const rejected = (request: Parameters<WriteFence['check']>[0] = write) => {
    try {
      fence.check(request);
      return undefined;
    } catch (error) {
      assert.ok(error instanceof KubeError && error.code === 'aborted');
      return error.message;
    }
  };
  return { clock, fence, expired, rejected };
}

describe('runtime/leadership write fence', () => {
  test('is closed before it is opened, and no one is notified', () => {
    const { fence, expired, rejected } = setUp();
    assert.equal(rejected(), 'Not sent: This process is not the leader');
    assert.deepEqual([fence.isOpen, fence.closeReason, expired], [false, undefined, []]);
  });

  for (const [what, request] of [
    ['asks for our own rights', { path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews' }],
    ['is a dry run', { ...write, query: { dryRun: 'All' } }],
  ] as const) {
    test(`lets through what ${what}`, () => {
      assert.equal(setUp().rejected(request), undefined);
    });
  }

  test('is open until its time, extended until the new one', async () => {
    const { clock, fence, expired, rejected } = setUp();
    assert.equal(fence.extend(10), true);
    await clock.advance(9);
    assert.equal(rejected(), undefined);
    assert.equal(fence.extend(20), true);
    await clock.advance(10);
    assert.equal(rejected(), undefined);
    assert.deepEqual(expired, []);
    await clock.advance(3);
    assert.deepEqual(expired, ['The Lease was not renewed in time'], 'by its timer');
    assert.equal(rejected(), 'Not sent: The Lease was not renewed in time');
  });

  test('anyone who asks first after its time closes it, before any timer, and for good', () => {
    const { clock, fence, expired, rejected } = setUp();
    let nowMs = 0;
    // Frozen: time passes, and timers have not run yet.
    clock.monotonicMs = () => nowMs;
    fence.extend(10);
    nowMs = 10;
    assert.equal(rejected(), 'Not sent: The Lease was not renewed in time');
    assert.equal(expired.length, 1);
    assert.equal(fence.extend(1_000), false);
    assert.equal(fence.isOpen, false);
  });

  test('a renewal that is over before it is known opens nothing', async () => {
    const { clock, fence } = setUp();
    await clock.advance(10);
    assert.equal(fence.extend(10), false);
    assert.deepEqual([fence.isOpen, fence.closeReason], [false, undefined]);
    assert.equal(fence.extend(11), true);
  });

  test('closed by its owner it stays so, and its timer is gone', () => {
    const { clock, fence, expired, rejected } = setUp();
    fence.extend(10);
    fence.close('given back');
    fence.close('again');
    assert.equal(rejected(), 'Not sent: given back');
    assert.deepEqual([expired, clock.pending], [[], 0]);
  });
});
