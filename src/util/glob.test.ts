import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { globPattern, matchesGlob } from './glob.ts';

describe('util/glob', () => {
  for (const [text, globs, expected] of [
    ['team-a', ['team-*'], true],
    ['team-', ['team-*'], true],
    ['my-team-a', ['team-*'], false],
    ['default', ['default'], true],
    ['default-2', ['default'], false],
    ['anything', ['*'], true],
    ['', ['*'], true],
    ['', ['?'], false],
    ['a1', ['a?'], true],
    ['a12', ['a?'], false],
    ['team-a-prod', ['team-*-prod'], true],
    ['team-prod-dev', ['team-*-prod'], false],
    ['aab', ['*ab'], true],
    ['a.b', ['a?b'], true],
    ['a+b', ['a+b'], true],
    ['b', ['a', 'b'], true],
    ['b', [], false],
  ] as const) {
    test(`"${text}" ${expected ? 'matches' : 'does not match'} ${JSON.stringify(globs)}`, () => {
      assert.equal(matchesGlob(text, globs), expected);
      assert.equal(
        globs.some((glob) => new RegExp(`^(?:${globPattern(glob)})$`).test(text)),
        expected,
      );
    });
  }

  test('takes no time with many stars', () => {
    assert.equal(matchesGlob('a'.repeat(5_000), ['*a'.repeat(50).concat('b')]), false);
  });
});
