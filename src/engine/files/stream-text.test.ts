import assert from 'node:assert/strict';
import { PassThrough, Readable } from 'node:stream';
import { describe, test } from 'node:test';
import { readStream } from './stream-text.ts';

describe('files/stream-text', () => {
  test('the text of chunks that end within a character', async () => {
    const bytes = Buffer.from('name: ä\n');
    assert.equal(
      await readStream(Readable.from([bytes.subarray(0, 7), bytes.subarray(7)])),
      'name: ä\n',
    );
  });

  test('a stream that never ends is not read beyond the limit', async () => {
    let chunks = 0;
    async function* endless() {
      for (;;) {
        chunks++;
        yield Buffer.alloc(2 ** 20);
      }
    }
    await assert.rejects(readStream(endless(), 4), /it is larger than 4 MiB/);
    assert.equal(chunks, 5);
  });

  test('a stream that is closed meanwhile', async () => {
    const stream = new PassThrough();
    const text = readStream(stream);
    stream.write('kind: A');
    stream.destroy();
    await assert.rejects(text, /it was closed before its end/);
  });
});
