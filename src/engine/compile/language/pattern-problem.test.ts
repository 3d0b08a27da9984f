import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { patternProblem } from './parse-tree.ts';

describe('compile/language/pattern-problem', () => {
  for (const pattern of ['^[a-z]+$', '(?i)^[[:alpha:]]+\\z', '(?P<name>a)', '\\pN'])
    test(`${pattern} is a pattern`, () => assert.equal(patternProblem(pattern), undefined));

  // The words are those of a kube-apiserver.
  for (const [pattern, problem] of [
    ['(', 'missing closing ): `(`'],
    ['^(?!a)', 'invalid or unsupported Perl syntax: `(?!`'],
    ['(a)\\1', 'invalid escape sequence: `\\1`'],
    ['a{3,1}', 'invalid repeat count: `{3,1}`'],
    ['\\', 'trailing backslash at end of expression: ``'],
  ] as const)
    test(`${pattern} is invalid`, () => {
      assert.equal(patternProblem(pattern), `error parsing regexp: ${problem}`);
    });
});
