import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkSize } from './whole-document.ts';

const sized = (bytes: number) => ({ spec: { vars: { text: 'x'.repeat(bytes) } } });

describe('definition/rules/definition-size', () => {
  test('a definition of more than 256 KiB is rejected with its size', () => {
    assert.deepEqual([...checkSize(sized(200_000))], []);
    const [finding] = checkSize(sized(300_000));
    assert.equal(finding?.path, '/spec');
    assert.equal(finding?.message, 'Expected at most 256 KiB, found 293 KiB');
  });
});
