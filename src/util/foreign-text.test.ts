import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { foreignText, uidIn } from './foreign-text.ts';

describe('util/foreign-text', () => {
  test('characters that change a terminal or the order of a line are replaced; letters and line feeds stay', () => {
    assert.equal(foreignText('a\u001b[2J\u009bb\u202ec\u2028d\ud800', 99), 'a�[2J�b�c�d�');
    assert.equal(foreignText('Zürich 東京 😀\nv1.36.0+k3s1', 99), 'Zürich 東京 😀\nv1.36.0+k3s1');
  });

  test('a longer text loses its middle', () => {
    assert.equal(foreignText('abcdefghij', 10), 'abcdefghij');
    assert.equal(foreignText('abcdefghijk', 5), 'ab…jk');
    assert.equal(foreignText('😀😀😀', 4), '😀…�');
  });

  test('a UID has only digits, a to f and "-", and at most 64 of them', () => {
    assert.equal(uidIn('7c6f1a2b-0000'), '7c6f1a2b-0000');
    for (const wrong of ['', 'a,zz=b', 'A', 'a\n', 'a'.repeat(65), 1, undefined])
      assert.equal(uidIn(wrong), undefined);
  });
});
