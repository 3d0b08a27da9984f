import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { anySignal } from './any-signal.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

test('aborts with the reason of the first signal that aborts', () => {
  const [first, second] = [new AbortController(), new AbortController()];
  const any = anySignal([first.signal, second.signal]);
  const reason = new Error('The second');
  second.abort(reason);
  first.abort(new Error('The first'));
  assert.equal(any.aborted, true);
  assert.equal(any.reason, reason);
});

test('is aborted from the start when a signal is', () => {
  const reason = new Error('Before');
  assert.equal(anySignal([AbortSignal.abort(reason)]).reason, reason);
});

test('an abort is not lost when its controller is collected before anything looks', async () => {
  const outer = new AbortController();
  const any = abortedByCollected(outer.signal);
  await nextTurn();
  collectGarbage();
  await nextTurn();
  assert.equal(any.aborted, true);
});

test('a nested one does not lose the abort of a controller that is collected', async () => {
  const outer = new AbortController();
  const nested = nestedInCollected(outer.signal);
  await nextTurn();
  collectGarbage();
  await nextTurn();
  assert.equal(nested.aborted, true);
});

function abortedByCollected(outer: AbortSignal): AbortSignal {
  const stopper = new AbortController();
  const any = anySignal([outer, stopper.signal]);
  stopper.abort(new Error('Over'));
  return any;
}

function nestedInCollected(outer: AbortSignal): AbortSignal {
  const stopper = new AbortController();
  const nested = anySignal([anySignal([outer, stopper.signal]), new AbortController().signal]);
  stopper.abort(new Error('Over'));
  return nested;
}
