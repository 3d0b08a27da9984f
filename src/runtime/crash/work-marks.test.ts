import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { WorkMarks } from './work-marks.ts';

const a = { name: 'a', revision: '1' };
const b = { name: 'b', revision: '1' };

function setUp(isExact = false) {
  const clock = new FakeClock();
  const written: string[] = [];
  const marks = new WorkMarks({
    clock,
    isExact: () => isExact,
    write: (all) => written.push(all.map(({ name }) => name).join(' and ')),
  });
  const work = (mark: typeof a) => {
    marks.begin(mark);
    marks.end(mark);
  };
  return { clock, written, marks, work };
}

describe('runtime/crash work marks', () => {
  test('one definition that works on and on is written once, and that it waits once it does', async () => {
    const { clock, written, work } = setUp();
    for (let round = 0; round < 50; round++) {
      for (let evaluation = 0; evaluation < 20; evaluation++) work(a);
      await clock.advance(1);
    }
    assert.deepEqual(written, ['a']);
    await clock.advance(2);
    assert.deepEqual(written, ['a', '']);
    assert.equal(clock.pending, 0);
  });

  test('several are written together, until all of them wait', async () => {
    const { clock, written, work } = setUp();
    for (let round = 0; round < 50; round++) {
      work(a);
      work(b);
      await clock.advance(1);
    }
    await clock.advance(2);
    assert.deepEqual(written, ['a', 'a and b', '']);
  });

  test('what takes long is not taken for waiting', async () => {
    const { clock, written, marks } = setUp();
    marks.begin(a);
    await clock.advance(1_000);
    assert.deepEqual(written, ['a']);
    marks.end(a);
    await clock.advance(2);
    assert.deepEqual(written, ['a', '']);
  });

  test('exactly: of several under way the one that began first, then the next', async () => {
    const { clock, written, marks, work } = setUp(true);
    marks.begin(a);
    marks.begin(b);
    work(a);
    marks.end(a);
    assert.deepEqual(written, ['a', 'b']);
    marks.end(b);
    work(a);
    assert.deepEqual(written, ['a', 'b', 'a']);
    await clock.advance(3);
    assert.deepEqual(written, ['a', 'b', 'a', '']);
  });

  test('cleared, it waits at once', () => {
    const { clock, written, marks } = setUp();
    marks.begin(a);
    marks.clear();
    marks.clear();
    assert.deepEqual(written, ['a', '']);
    assert.equal(clock.pending, 0);
  });
});
