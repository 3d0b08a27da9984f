import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LineStream } from './line-stream.ts';

describe('sandbox/watch/line-stream', () => {
  test('returns pending lines as one text, then each line as it arrives', async () => {
    const stream = new LineStream(() => undefined);
    stream.write('a\n');
    stream.write('b\n');
    assert.equal(stream.backlog, 4);
    assert.deepEqual(await stream.next(), { done: false, value: 'a\nb\n' });
    assert.equal(stream.backlog, 0);
    const next = stream.next();
    stream.write('c\n');
    assert.deepEqual(await next, { done: false, value: 'c\n' });
  });

  test('lines written before the end are still read', async () => {
    let closed = 0;
    const stream = new LineStream(() => closed++);
    stream.write('a\n');
    stream.end();
    stream.end();
    stream.write('lost\n');
    const lines: string[] = [];
    for await (const line of stream) lines.push(line);
    assert.deepEqual(lines, ['a\n']);
    assert.equal(closed, 1);
  });

  test('a waiting reader can close the stream, which notifies the writer', async () => {
    let closed = 0;
    const stream = new LineStream(() => closed++);
    const waiting = stream.next();
    await stream.return();
    assert.deepEqual(await waiting, { done: true, value: undefined });
    assert.equal(closed, 1);
  });
});
