import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { StreamQueue } from '#util/stream-queue.ts';
import { FakeClock, settle } from '../../../../test/support/fake-clock.ts';
import type { ReconcileRecord } from '../contract.ts';
import { RecordFeed } from './record-feed.ts';

const resource = { apiVersion: 'example.com/v1', kind: 'Thing', namespace: 'ns', name: 'a' };
const record = (number: number, minute: number) =>
  ({ number, time: `2026-01-01T10:${String(minute).padStart(2, '0')}:00.000Z` }) as ReconcileRecord;

function followed() {
  const clock = new FakeClock();
  const streams: StreamQueue<ReconcileRecord>[] = [];
  const stopper = new AbortController();
  const feed = new RecordFeed({
    clock,
    resource,
    onChange: () => undefined,
    backend: {
      reconciles() {
        const stream = new StreamQueue<ReconcileRecord>();
        streams.push(stream);
        return stream;
      },
    },
  });
  void feed.run(stopper.signal);
  const send = async (...records: readonly ReconcileRecord[]) => {
    for (const each of records) streams.at(-1)?.push(each);
    await settle();
  };
  const numbers = () => feed.state.records.map(({ number }) => number);
  return { clock, feed, streams, send, numbers, stop: () => stopper.abort() };
}

describe('web/store/record-feed', () => {
  test('the newest is first, in whatever order they arrive', async () => {
    const { send, numbers, stop } = followed();
    await send(record(1, 1), record(3, 3), record(2, 2));
    assert.deepEqual(numbers(), [3, 2, 1]);
    stop();
  });

  test('at most 200 are kept', async () => {
    const { send, numbers, stop } = followed();
    await send(...Array.from({ length: 205 }, (_, index) => record(index + 1, 1)));
    assert.deepEqual([numbers().length, numbers()[0], numbers().at(-1)], [200, 205, 6]);
    stop();
  });

  test('a broken stream is a problem until the next record; those that are sent again are not repeated', async () => {
    const { clock, feed, streams, send, numbers, stop } = followed();
    await send(record(1, 1), record(2, 2));
    streams[0]?.fail(new Error('The runtime does not respond'));
    await settle();
    assert.deepEqual([feed.state.problem, numbers()], ['The runtime does not respond', [2, 1]]);
    await clock.advance(1_000);
    await send(record(1, 1), record(2, 2), record(3, 3));
    assert.deepEqual([feed.state.problem, numbers()], ['', [3, 2, 1]]);
    stop();
  });

  test('records of another process, which counts from 1 again, are kept beside the old ones', async () => {
    const { send, numbers, stop } = followed();
    await send(record(7, 1), record(1, 2));
    assert.deepEqual(numbers(), [1, 7]);
    stop();
  });
});
