import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readToken, writeToken } from './continue-token.ts';

describe('sandbox/rest/continue-token', () => {
  test('is read as it was written, whatever the name', () => {
    const token = { version: 1234, after: 'ns/näme?&=' };
    const text = writeToken(token);
    assert.match(text, /^[-_A-Za-z0-9]+$/);
    assert.deepEqual(readToken(text), token);
  });

  for (const text of [
    'abc',
    'abcde',
    '!',
    btoa('{}'),
    btoa('['),
    btoa('{"v":1,"rv":{},"start":[]}'),
  ]) {
    test(`"${text}" is none`, () => {
      assert.throws(() => readToken(text), /invalid continue token: continue key is not valid/);
    });
  }
});
