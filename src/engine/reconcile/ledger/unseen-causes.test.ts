import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../../../../test/support/fake-clock.ts';
import { UnseenCauses } from './unseen-causes.ts';

/** Causes, and the resources that repeated their requests. `answer`: the causes that a repeated request has then. */
function setUp(answer: (key: string) => readonly string[] = () => ['grant']) {
  const clock = new FakeClock();
  const repeated: string[] = [];
  const causes: UnseenCauses = new UnseenCauses(clock, (key) => {
    repeated.push(key);
    causes.retain(key, answer(key));
  });
  return { clock, repeated, causes };
}

describe('reconcile/ledger/unseen-causes', () => {
  test('a request is repeated after 1 s, doubling to 60 s', async () => {
    const { clock, repeated, causes } = setUp();
    causes.retain('a', ['grant']);
    let count = 0;
    for (const seconds of [1, 2, 4, 8, 16, 32, 60, 60]) {
      await clock.advance(seconds * 1_000 - 1);
      assert.equal(repeated.length, count);
      await clock.advance(1);
      count += 1;
      assert.equal(repeated.length, count);
    }
    causes.stop();
    assert.equal(clock.pending, 0);
  });

  test('of a thousand resources with one cause, one at a time repeats its request, each in turn', async () => {
    const { clock, repeated, causes } = setUp();
    for (let index = 0; index < 1_000; index++) causes.retain(`r${index}`, ['grant']);
    await clock.advance(63_000);
    assert.deepEqual(repeated, ['r0', 'r1', 'r2', 'r3', 'r4', 'r5']);
    await clock.advance(600_000);
    assert.equal(repeated.length, 16);
  });

  test('when one of them no longer fails, all others repeat their requests', async () => {
    const { clock, repeated, causes } = setUp(() => []);
    for (const key of ['a', 'b', 'c']) causes.retain(key, ['grant']);
    await clock.advance(1_000);
    assert.deepEqual(repeated, ['a', 'b', 'c']);
    assert.equal(clock.pending, 0);
  });

  test('a resource that is deleted or no longer needs the request repeats nothing', async () => {
    const { clock, repeated, causes } = setUp();
    for (const key of ['a', 'b', 'c']) causes.retain(key, ['grant']);
    causes.forget('a');
    causes.retain('b', []);
    await clock.advance(1_000);
    assert.deepEqual(repeated, ['c']);
    causes.forget('c');
    assert.equal(clock.pending, 0);
  });

  test('many causes share one request a second', async () => {
    const { clock, repeated, causes } = setUp((key) => [`of ${key}`]);
    for (let index = 0; index < 300; index++) causes.retain(`r${index}`, [`of r${index}`]);
    await clock.advance(300_000);
    const before = repeated.length;
    await clock.advance(600_000);
    assert.equal(repeated.length - before, 600);
  });
});
