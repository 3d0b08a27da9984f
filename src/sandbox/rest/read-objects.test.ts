import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readToken, tokenAfter, writeToken } from './read-objects.ts';

describe('sandbox/rest/continue-token', () => {
  test('round-trips, whatever the name', () => {
    const token = { version: 1234, start: 'ns/näme?&=' };
    const text = writeToken(token);
    assert.match(text, /^[-_A-Za-z0-9]+$/);
    assert.deepEqual(readToken(text), token);
  });

  test('a page begins after the last key of the previous one, and before all others', () => {
    const { start } = readToken(tokenAfter(1, 'ns/a'));
    assert.ok('ns/a' < start && start < 'ns/a-b' && start < 'ns/aa');
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
