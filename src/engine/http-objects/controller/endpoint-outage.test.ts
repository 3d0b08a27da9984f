import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ReconcileResult } from '#controller';
import { EndpointOutage, nothingSent, type Reach } from './endpoint-outage.ts';

const failed: ReconcileResult = {
  ...{ kind: 'retry', baseDelayMs: 200, maxDelayMs: 120_000, reason: 'Unreachable' },
};

function setUp() {
  let released = 0;
  const outage = new EndpointOutage(() => {
    released += 1;
  });
  /** Longest delay of a failure, in s. */
  const fail = (key: string, reach: Reach = 'unreachable') => {
    const result = outage.resultOf(key, { result: failed, reach });
    assert.ok(result.kind === 'retry');
    return [result.isUnreachable, result.maxDelayMs / 1_000];
  };
  const succeed = (key: string) =>
    outage.resultOf(key, { result: { kind: 'done', due: { afterMs: 5 } }, reach: 'answered' });
  return { outage, fail, succeed, released: () => released };
}

describe('http-objects/controller outages', () => {
  test('one object tries again soon, the others wait for it', () => {
    const { fail, released } = setUp();
    assert.deepEqual(fail('a'), [true, 10]);
    assert.deepEqual(fail('b'), [true, 120]);
    assert.deepEqual(fail('c'), [true, 120]);
    assert.deepEqual(fail('a'), [true, 10]);
    assert.equal(released(), 0);
  });

  test('the first answer to it releases the others, once', () => {
    const { fail, succeed, released } = setUp();
    fail('a');
    fail('b');
    assert.deepEqual(succeed('a'), { kind: 'done', due: { afterMs: 5 } });
    assert.equal(released(), 1);
    succeed('a');
    assert.equal(released(), 1);
  });

  test('an object that fails while others have answers delays none of them', () => {
    const { fail, succeed, released } = setUp();
    succeed('b');
    assert.deepEqual(fail('hangs'), [undefined, 120]);
    assert.deepEqual(fail('hangs'), [true, 10]);
    succeed('c');
    // One connection that is reset is no outage.
    assert.deepEqual(fail('b'), [undefined, 120]);
    succeed('b');
    assert.deepEqual(fail('hangs'), [undefined, 120]);
    assert.equal(released(), 1);
  });

  test('an outage begins with the second failure, and ends with the first answer', () => {
    const { fail, succeed, released } = setUp();
    succeed('a');
    fail('a');
    assert.deepEqual(fail('b'), [true, 10]);
    assert.deepEqual(fail('a'), [true, 120]);
    succeed('b');
    assert.equal(released(), 1);
  });

  test('answers to others release nothing: one that is slow alone is not sent with each of them', () => {
    const { fail, succeed, released } = setUp();
    fail('slow');
    succeed('b');
    succeed('c');
    assert.equal(released(), 0);
  });

  test('a failure with an answer is an answer, and keeps its delays', () => {
    const { fail, released } = setUp();
    fail('a');
    assert.deepEqual(fail('a', 'answered'), [undefined, 120]);
    assert.equal(released(), 1);
  });

  test('an object that is deleted, or whose reconcile fails, leaves its place to another one', () => {
    for (const end of [
      (outage: EndpointOutage) => void outage.resultOf('a', nothingSent),
      (outage: EndpointOutage) => outage.noteError('a'),
    ]) {
      const { fail, outage, released } = setUp();
      fail('a');
      fail('b');
      end(outage);
      assert.equal(released(), 1);
      assert.deepEqual(fail('b'), [true, 10]);
    }
  });
});
