import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createLogger } from '#telemetry';
import { FakeClock } from '../../../../test/support/fake-clock.ts';
import { RecordedApi } from '../../../../test/support/recorded-api.ts';
import { type AccessRight, KubeError } from '../kube-error.ts';
import { createRightsWatcher } from './rights-watcher.ts';

const right: AccessRight = {
  verb: 'create',
  group: 'apps',
  resource: 'deployments',
  namespace: 'team',
};

/** A watch on rights of which those in `granted` are there. */
function setUp() {
  const granted = new Set<string>();
  const api = new RecordedApi(({ body }) => {
    const { resourceAttributes } = (body as { spec: { resourceAttributes: AccessRight } }).spec;
    return { status: 201, body: { status: { allowed: granted.has(resourceAttributes.verb) } } };
  });
  const clock = new FakeClock();
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const logger = createLogger({ level: 'debug', destination: { write } });
  const rights = createRightsWatcher({ api, clock, logger });
  return { api, clock, rights, granted, lines };
}

describe('kube/access rights-watcher', () => {
  test('asks after 5 s, doubling to 60 s, and calls back when the right is there', async () => {
    const { api, clock, rights, granted } = setUp();
    let calls = 0;
    rights.onGranted(right, () => calls++);
    for (const [ms, reviews] of [
      [5_000, 1],
      [10_000, 2],
      [20_000, 3],
      [40_000, 4],
      [60_000, 5],
      [60_000, 6],
    ] as const) {
      await clock.advance(ms - 1);
      assert.equal(api.requests.length, reviews - 1);
      await clock.advance(1);
      assert.equal(api.requests.length, reviews);
    }
    granted.add('create');
    await clock.advance(60_000);
    assert.equal(calls, 1);
    assert.equal(clock.pending, 0);
    assert.deepEqual(api.requests[0]?.body, {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes: right },
    });
  });

  test('logs neither namespace nor name where they may come from a Secret, and asks for them', async () => {
    const { api, clock, rights, lines } = setUp();
    rights.onGranted({ ...right, name: 'web', isPrivate: true }, () => undefined);
    await clock.advance(5_000);
    assert.deepEqual(api.requests[0]?.body, {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes: { ...right, name: 'web' } },
    });
    assert.equal(lines.length, 1);
    assert.doesNotMatch(lines.join(''), /team|web/);
  });

  test('asks once however many wait, and for each right by itself', async () => {
    const { api, clock, rights, granted } = setUp();
    const called: string[] = [];
    granted.add('patch');
    for (const who of ['a', 'b', 'c']) rights.onGranted({ ...right }, () => called.push(who));
    rights.onGranted({ ...right, verb: 'patch' }, () => called.push('patch'));
    await clock.advance(5_000);
    assert.equal(api.requests.length, 2);
    assert.deepEqual(called, ['patch']);
    granted.add('create');
    await clock.advance(10_000);
    assert.deepEqual(called, ['patch', 'a', 'b', 'c']);
  });

  test('rights that are given together are found together, however rarely each was asked for by then', async () => {
    const { api, clock, rights, granted } = setUp();
    const called: string[] = [];
    for (const verb of ['create', 'patch', 'delete'])
      rights.onGranted({ ...right, verb }, () => called.push(verb));
    await clock.advance(200_000);
    rights.onGranted({ ...right, verb: 'list' }, () => called.push('list'));
    for (const verb of ['create', 'patch', 'list']) granted.add(verb);
    const before = api.requests.length;
    await clock.advance(5_000);
    assert.deepEqual(called, ['list', 'create', 'patch']);
    // One each: the one that is still missing is not asked for again and again.
    assert.equal(api.requests.length - before, 4);
    rights.close();
    assert.equal(clock.pending, 0);
  });

  test('asks nothing while nothing waits', async () => {
    const { api, clock, rights } = setUp();
    const end = rights.onGranted(right, () => assert.fail());
    end();
    assert.equal(clock.pending, 0);
    await clock.advance(600_000);
    assert.equal(api.requests.length, 0);
  });

  test('a right that is granted and revoked again in turn is asked for ever more rarely', async () => {
    const { api, clock, rights, granted } = setUp();
    granted.add('create');
    const wait = () => rights.onGranted(right, wait);
    wait();
    await clock.advance(600_000);
    // 5 + 10 + 20 + 40 s, then once a minute.
    assert.equal(api.requests.length, 12);
    rights.close();
  });

  test('where it may not ask, it calls back when it would have asked', async () => {
    const { api, clock, rights } = setUp();
    api.answerBy(() => {
      throw new KubeError('forbidden', 'no reviews', { status: 403 });
    });
    let calls = 0;
    rights.onGranted(right, () => calls++);
    await clock.advance(5_000);
    assert.equal(calls, 1);
  });

  test('without a server it asks again later', async () => {
    const { api, clock, rights } = setUp();
    api.answerBy(() => {
      throw new KubeError('unavailable', 'no response', { status: 0 });
    });
    let calls = 0;
    rights.onGranted(right, () => calls++);
    await clock.advance(15_000);
    assert.deepEqual([api.requests.length, calls], [2, 0]);
    rights.close();
    assert.equal(clock.pending, 0);
  });
});
