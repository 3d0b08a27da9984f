import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { allowsNamespace, isNamespaceName } from './glob.ts';

describe('util/namespace', () => {
  for (const [namespace, globs, expected] of [
    ['team-a', ['team-*'], true],
    ['team-a', ['*'], true],
    ['other', ['team-*'], false],
    ['kube-system', ['*'], false],
    ['kube-system', ['k*'], false],
    ['kube-system', ['*-system'], false],
    ['kube-system', ['kube-system'], true],
    ['kube-system', ['*', 'kube-*'], true],
    ['kube-public', ['kube-system'], false],
    ['kubernetes-dashboard', ['*'], true],
  ] as const) {
    test(`${globs.join(', ')} ${expected ? 'allows' : 'does not allow'} "${namespace}"`, () => {
      assert.equal(allowsNamespace(namespace, globs), expected);
    });
  }

  for (const [text, expected] of [
    ['a', true],
    ['team-a', true],
    ['a'.repeat(63), true],
    ['a'.repeat(64), false],
    ['', false],
    ['-a', false],
    ['a-', false],
    ['Team', false],
    ['team-a/secrets', false],
    ['team-a\n', false],
    ['..', false],
    ['team.a', false],
  ] as const) {
    test(`${JSON.stringify(text)} is ${expected ? 'a' : 'no'} name of a namespace`, () => {
      assert.equal(isNamespaceName(text), expected);
    });
  }
});
