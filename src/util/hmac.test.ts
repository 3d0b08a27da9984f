import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hmacSha256Hex, isEqualInConstantTime } from './hmac.ts';

describe('util/hmac', () => {
  test('is that of RFC 4231, test case 2', () => {
    const key = new TextEncoder().encode('Jefe');
    assert.equal(
      hmacSha256Hex(key, 'what do ya want for nothing?'),
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    );
  });

  test('equal texts are equal, others are not', () => {
    assert.equal(isEqualInConstantTime('abc', 'abc'), true);
    assert.equal(isEqualInConstantTime('abc', 'abd'), false);
    assert.equal(isEqualInConstantTime('abc', 'abcd'), false);
  });
});
