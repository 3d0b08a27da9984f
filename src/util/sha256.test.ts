import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sha256Hex } from './sha256.ts';

describe('util/sha256', () => {
  for (const [text, hex] of [
    ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
  ] as const) {
    test(`of "${text}" is that of FIPS 180-2`, () => assert.equal(sha256Hex(text), hex));
  }

  test('agrees with Web Crypto on UTF-8', async () => {
    const text = 'Grüße, 世界 🌍';
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
    assert.equal(sha256Hex(text), Buffer.from(digest).toString('hex'));
  });
});
