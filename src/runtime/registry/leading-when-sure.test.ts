import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { settle } from '../../../test/support/fake-clock.ts';
import { Doubts } from './doubts.ts';
import { leadingWhenSure } from './leading-when-sure.ts';

/** A process that follows until it wins. */
function contender() {
  const won = Promise.withResolvers<void>();
  const doubts = new Doubts(() => {});
  const state = { isLeading: false };
  const election = {
    get isLeading() {
      return state.isLeading;
    },
    whenLeading: () => won.promise,
  };
  const leadership = leadingWhenSure(election, () => doubts);
  const { signal } = new AbortController();
  const said: string[] = [];
  void leadership.whenLeading(signal).then(() => said.push('leads'));
  const win = () => {
    state.isLeading = true;
    won.resolve();
  };
  return { doubts, leadership, said, win };
}

describe('runtime/registry/leading-when-sure', () => {
  test('who wins leads at once where nobody doubts anything', async () => {
    const { leadership, said, win } = contender();
    await settle();
    assert.deepEqual([leadership.isLeading, said], [false, []]);
    win();
    await settle();
    assert.deepEqual([leadership.isLeading, said], [true, ['leads']]);
  });

  test('who wins in doubt leads when all that was doubted has been told anew, and decided by', async () => {
    const { doubts, leadership, said, win } = contender();
    doubts.note('a', true);
    doubts.note('b', true);
    win();
    doubts.note('a', false);
    doubts.decided()?.();
    await settle();
    assert.deepEqual([leadership.isLeading, said], [false, []]);
    doubts.note('b', false);
    await settle();
    assert.deepEqual([leadership.isLeading, said], [false, []], 'it is not decided yet');
    doubts.decided()?.();
    await settle();
    assert.deepEqual([leadership.isLeading, said], [true, ['leads']]);
  });

  test('a doubt that comes later takes no lead away', async () => {
    const { doubts, leadership, win } = contender();
    win();
    await settle();
    doubts.note('a', true);
    assert.equal(leadership.isLeading, true);
    await leadership.whenLeading(new AbortController().signal);
  });
});
