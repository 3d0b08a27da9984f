import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createTestParser, evaluate } from '../../../../../test/support/compile/test-scope.ts';

const root = {
  spec: {
    name: 'web-12',
    glob: 'web-*',
    regex: '^web-[0-9]+$',
    broken: '(unclosed-secret',
    lookahead: 'a(?=b)',
    texts: ['web', 'db'],
  },
};

describe('compile/language/functions patterns', () => {
  for (const [source, expected] of [
    ['$glob(spec.name, spec.glob)', true],
    ['$glob(spec.name, "web-??")', true],
    ['$glob(spec.name, "web-?")', false],
    ['$glob("a.b", "a?b")', true],
    ['$glob("a[b", "a[b")', true],
    ['$glob("", "*")', true],
    ['$glob("", "")', true],
    ['$glob(spec.nothing, "*")', undefined],
    ['spec.texts[$glob($, "w*")]', 'web'],
    ['$matches(spec.name, spec.regex)', true],
    ['$matches("x" & spec.name, spec.regex)', false],
    ['$matches(spec.name, "WEB")', false],
    ['$matches(spec.name, "(?i)WEB")', true],
    ['$matches("", "")', true],
    ['$matches(spec.nothing, "a")', undefined],
    ['spec.name ~> $matches("web")', true],
    ['$map(spec.texts, $matches(?, "^w"))', [true, false]],
    ['$match(spec.name, /[0-9]+/).match', '12'],
    ['spec.name.$match(/[0-9]+/).match', '12'],
    ['(spec.name ~> $match(/[0-9]+/, 1)).match', '12'],
    ['($r := /[0-9]+/; $match(spec.name, $r).match)', '12'],
  ] as const) {
    test(`${source} gives ${JSON.stringify(expected)}`, async () => {
      assert.deepEqual(await evaluate(source, root), expected);
    });
  }

  for (const source of [
    '$matches(spec.name, spec.broken)',
    '$matches(spec.name, spec.lookahead)',
    '$matches(spec.name, spec.texts)',
    '$matches(spec.name, spec.nothing)',
    '$matches(1, "a")',
    '$glob(spec.name, spec.texts)',
    '$glob(spec.texts, "*")',
  ]) {
    test(`${source} fails, and its message has no value`, async () => {
      await assert.rejects(
        async () => evaluate(source, root),
        (error: Error & { code: string }) => {
          assert.equal(error.code, 'evaluation-failed');
          assert.match(error.message, /^Expected .* as the (?:first|second) argument of \$/);
          assert.doesNotMatch(error.message, /unclosed|\?=/);
          return true;
        },
      );
    });
  }

  for (const [source, message, offset] of [
    [
      '$match(spec.name, spec.regex)',
      'Expected a regular expression such as /[a-z]+/ as the pattern of $match()',
      21,
    ],
    [
      '$match(spec.name, "a")',
      'Expected a regular expression such as /[a-z]+/ as the pattern of $match()',
      21,
    ],
    [
      'spec.name ~> $match($item.x & "a")',
      'Expected a regular expression such as /[a-z]+/ as the pattern of $match()',
      23,
    ],
    [
      'spec.name.$match(spec.a ?? "b")',
      'Expected a regular expression such as /[a-z]+/ as the pattern of $match()',
      20,
    ],
    [
      '$matches(spec.name, /a/)',
      'Expected no regular expression between slashes as an argument of $matches()',
      23,
    ],
    ['$matches(spec.name, "(a")', 'Expected a regular expression in RE2 syntax, found "(a"', 23],
  ] as const) {
    test(`${source} is rejected at load`, () => {
      const { problems } = createTestParser().parse(`\${ ${source} }`);
      assert.deepEqual(
        problems.map((problem) => [problem.severity, problem.message, problem.offset]),
        [['error', message, offset]],
      );
    });
  }

  test('the hint of a computed pattern names the functions that take one', () => {
    const { problems } = createTestParser().parse('${ $match(spec.name, spec.regex) }');
    assert.match(problems[0]?.hint ?? '', /\$matches\(text, pattern\).*\$glob\(text, pattern\)/);
  });
});
