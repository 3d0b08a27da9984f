import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { configKey, dnsLabel, dnsSubdomain, labelValueRule, qualifiedName } from './name-rules.ts';

describe('sandbox/metadata/name-rules', () => {
  for (const [rule, good, bad] of [
    [
      dnsSubdomain,
      ['a', 'a.b-c.9', 'a'.repeat(253)],
      ['', 'A', 'a..b', '-a', 'a_b', 'a'.repeat(254)],
    ],
    [dnsLabel, ['a', 'a-b'], ['a.b', 'a'.repeat(64), '']],
    [qualifiedName, ['a', 'demo.io/A_b.c'], ['', '/a', 'a/', 'a/b/c', 'A/b', 'a b']],
    [labelValueRule, ['', 'A_b.c', 'a'.repeat(63)], ['a'.repeat(64), '-a', 'a b']],
    [configKey, ['.a', '__proto__', 'a.b'], ['.', '..', '..a', 'a b', '']],
  ] as const) {
    for (const text of good)
      test(`"${text.slice(0, 20)}" is valid`, () => assert.deepEqual(rule(text), []));
    for (const text of bad)
      test(`"${text.slice(0, 20)}" is rejected`, () => assert.ok(rule(text).length > 0));
  }

  test('messages contain examples and the pattern, as on the server', () => {
    assert.deepEqual(dnsSubdomain('A'), [
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ]);
    assert.match(
      labelValueRule('a b')[0] ?? '',
      /\(e\.g\. 'MyValue', {2}or 'my_value', {2}or '12345'/,
    );
  });
});
