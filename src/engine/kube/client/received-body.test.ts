import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ReceivedBody } from './received-body.ts';

describe('kube/client received body', () => {
  test('the text is that of all chunks in order, of any size', () => {
    const lengths = [1, 5, 16_384, 2, 8_192, 8_191, 8_191, 8_191, 3, 100_000, 1, 1];
    const body = new ReceivedBody();
    let expected = '';
    for (let round = 0; round < 20; round++)
      for (const [index, length] of lengths.entries()) {
        const text = String.fromCharCode(97 + index).repeat(length);
        body.add(Buffer.from(text));
        expected += text;
      }
    assert.equal(body.text(), expected);
  });

  test('characters are not split, and an empty body is an empty text', () => {
    const bytes = Buffer.from('ä€😀'.repeat(50_000));
    const body = new ReceivedBody();
    for (let at = 0; at < bytes.length; at++) body.add(bytes.subarray(at, at + 1));
    assert.equal(body.text(), 'ä€😀'.repeat(50_000));
    assert.equal(new ReceivedBody().text(), '');
  });

  test('two million chunks of one byte do not stay as two million buffers', () => {
    const byte = Buffer.from('x');
    const body = new ReceivedBody();
    for (let count = 0; count < 2_000_000; count++) body.add(byte);
    assert.ok(body.pieces < 200, String(body.pieces));
    assert.equal(body.text().length, 2_000_000);
  });
});
