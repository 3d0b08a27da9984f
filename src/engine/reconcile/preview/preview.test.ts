import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../../../../test/support/fake-clock.ts';
import { type Preview, type Previewer, previewAll } from './preview.ts';

const nothing: Preview = { deletes: [], creates: 0, applies: 0, isComplete: true };

/** Moves without anything falling due. */
class RacingClock extends FakeClock {
  #passedMs = 0;

  pass(ms: number): void {
    this.#passedMs += ms;
  }

  override monotonicMs(): number {
    return this.#passedMs;
  }
}

/** Each preview takes that long by the clock. */
function slowPreviewer(clock: RacingClock, tookMs: number): Previewer {
  return {
    of: async () => {
      clock.pass(tookMs);
      return nothing;
    },
    stop: () => undefined,
  };
}

describe('reconcile/preview all', () => {
  test('previews one after the other, in order', async () => {
    const clock = new RacingClock();
    const seen: string[] = [];
    await previewAll({
      previewer: slowPreviewer(clock, 1),
      keys: ['a', 'b', 'c'],
      clock,
      signal: new AbortController().signal,
      onPreview: (key) => seen.push(key),
    });
    assert.deepEqual(seen, ['a', 'b', 'c']);
  });

  test('what is due has its turn every few milliseconds, not after each', async () => {
    const clock = new RacingClock();
    const keys = Array.from({ length: 40 }, (_, index) => `default/${index}`);
    const others: number[] = [];
    let done = 0;
    let isOver = false;
    const other = (): void => {
      others.push(done);
      if (!isOver) setImmediate(other);
    };
    setImmediate(other);
    await previewAll({
      previewer: slowPreviewer(clock, 1),
      keys,
      clock,
      signal: new AbortController().signal,
      onPreview: () => {
        done += 1;
      },
    });
    isOver = true;
    const between = others.filter((count) => count > 0 && count < keys.length);
    assert.ok(between.length > 0, 'what is due runs in between');
    assert.ok(
      between.every((count) => count % 5 === 0),
      `after whole slices: ${between}`,
    );
  });

  test('an aborted one ends in between', async () => {
    const clock = new RacingClock();
    const stop = new AbortController();
    const seen: string[] = [];
    const ended = previewAll({
      previewer: slowPreviewer(clock, 10),
      keys: ['a', 'b', 'c'],
      clock,
      signal: stop.signal,
      onPreview: (key) => {
        seen.push(key);
        if (key === 'b') stop.abort(new Error('enough'));
      },
    });
    await assert.rejects(ended, /enough/);
    assert.deepEqual(seen, ['a', 'b']);
  });
});
