import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  createTestParser,
  evaluate,
  expressionOf,
  leafOf,
  testScope,
} from '../../../../test/support/compile/test-scope.ts';

const root = { metadata: { name: 'web' }, spec: { size: 3, ports: [80, 443], empty: null } };

describe('compile/language leaves', () => {
  for (const [text, literal] of [
    ['', ''],
    ['plain { text } $x {', 'plain { text } $x {'],
    ['$${HOME}/bin', '${HOME}/bin'],
    ['$$${HOME}', '$${HOME}'],
    ['\\{{name}}', '{{name}}'],
    ['costs $5 and \\n', 'costs $5 and \\n'],
  ] as const) {
    test(`reads "${text}" as a literal`, () => {
      assert.deepEqual(leafOf(text), { kind: 'literal', text: literal });
    });
  }

  for (const [text, mode, source] of [
    ['${ spec.size }', 'value', 'spec.size'],
    ['  ${spec.size}\n', 'value', 'spec.size'],
    ['${? spec.size }', 'optional', 'spec.size'],
    ['${... spec.ports }', 'spread', 'spec.ports'],
    ['${\n  {"a": "}"}\n}', 'value', '{"a": "}"}'],
  ] as const) {
    test(`reads ${JSON.stringify(text)} as one value`, () => {
      const leaf = leafOf(text);
      assert.deepEqual(leaf.kind === 'value' && [leaf.mode, leaf.expression.source], [
        mode,
        source,
      ]);
    });
  }

  test('reads text with parts in order, with escapes resolved', async () => {
    const leaf = leafOf('$${a}-${ metadata.name }\\{{x}}${spec.size}!\n');
    assert.equal(leaf.kind, 'text');
    const parts = await Promise.all(
      leaf.parts.map((part) => (typeof part === 'string' ? part : part.evaluate(testScope(root)))),
    );
    assert.deepEqual(parts, ['${a}-', 'web', '{{x}}', 3, '!\n']);
  });

  test('prefers "${" where both delimiters could start', () => {
    assert.equal(expressionOf('${{"a": spec.size}}').source, '{"a": spec.size}');
  });

  for (const [text, code, message, offset] of [
    ['x ${ a', 'expression-syntax', 'Expected "}" at the end of the expression', 2],
    ['x ${ "a }', 'expression-syntax', 'Expected the closing quote of a string', 5],
    ['${ }', 'expression-syntax', 'Expected an expression between "${" and "}"', 0],
    ['${ a } {{b}}', 'expression-syntax', 'A string cannot mix "${" and "{{"', 7],
    ['{{b}} ${ a }', 'expression-syntax', 'A string cannot mix "${" and "{{"', 6],
    ['x ${? a }', 'expression-syntax', 'Expected "${? }" to be the whole string', 2],
    ['${... a } x', 'expression-syntax', 'Expected "${... }" to be the whole string', 0],
    ['x ${ a == b }', 'expression-syntax', 'Unknown operator "=="', 7],
    ['${ a === b }', 'expression-syntax', 'Unknown operator "==="', 5],
    ['${ a !== b }', 'expression-syntax', 'Unknown operator "!=="', 5],
    ['${ a && b }', 'expression-syntax', 'Unknown operator "&&"', 5],
    ['${ a || b }', 'expression-syntax', 'Unknown operator "||"', 5],
    ['${ !a }', 'expression-syntax', 'Unknown operator "!"', 3],
    ['${ a^(b) / 2 }', 'expression-syntax', 'Expected the closing "/" of a regular expression', 11],
    ['${ (a }', 'expression-syntax', 'Expected ")" before the end of the expression', 5],
    ['${ a b }', 'expression-syntax', 'Unexpected "b"', 5],
    ['${ a + }', 'expression-syntax', 'Unexpected end of the expression', 6],
    ['${ [1, 2 }', 'expression-syntax', 'Expected "]" before the end of the expression', 8],
    ['${ a.1 }', 'expression-syntax', 'Expected a name as a step of the path, found "1"', 5],
    ['${ "\\x" }', 'expression-syntax', 'Unknown escape sequence "\\x" in a string', 5],
    [
      '${ $match("a", /a**/) }',
      'expression-syntax',
      'Expected a regular expression, found "/a**/"',
      15,
    ],
    [
      '${ $match("a", /(/) }',
      'expression-syntax',
      'Expected the closing "/" of a regular expression',
      15,
    ],
    ['${ $fo(1) }', 'unknown-name', 'Unknown name "$fo"', 3],
    ['${ $itm.x }', 'unknown-name', 'Unknown name "$itm"', 3],
    ['${ 1 + count(x) }', 'unknown-name', 'Unknown function "count"', 7],
    ['${ $eval("1") }', 'forbidden-expression', 'The function $eval() is not supported', 3],
    ['${ $map(a, $eval) }', 'forbidden-expression', 'The function $eval() is not supported', 11],
    [
      '${ spec ~> |a|{"b":1}| }',
      'forbidden-expression',
      'The transform operator "|...|" is not supported',
      11,
    ],
    [
      '${ $match(a, /b(?=c)/) }',
      'forbidden-expression',
      'Expected a regular expression without look-around and backreferences, found "(?="',
      13,
    ],
    [
      '${ $match(a, /(b)\\1/) ?? 1 }',
      'forbidden-expression',
      'Expected a regular expression without look-around and backreferences, found "\\1"',
      13,
    ],
  ] as const) {
    test(`rejects ${JSON.stringify(text)}`, () => {
      const { leaf, problems } = createTestParser().parse(text);
      assert.equal(leaf, undefined);
      assert.equal(problems[0]?.code, code);
      assert.deepEqual(
        problems.map((problem) => [problem.severity, problem.message, problem.offset]),
        [['error', message, offset]],
      );
    });
  }

  for (const [text, hint] of [
    ['${ a == b }', 'Write "=" to compare'],
    ['${ a && b }', 'Write "and"'],
    ['${ a || b }', 'Write "??" for a default value, "or" between conditions'],
    ['${ !a }', 'Write "$not(...)"'],
    ['${ $itm.x }', 'Did you mean "$item"?'],
    ['${ $lowercas(x) }', 'Did you mean "$lowercase"?'],
    ['${ ($total := 1; $totl) }', 'Did you mean "$total"?'],
    ['${ count(x) }', 'Write "$count(...)"'],
    ['${ isThere(x) }', 'Functions start with "$"'],
  ] as const) {
    test(`has a hint for ${JSON.stringify(text)}`, () => {
      assert.equal(createTestParser().parse(text).problems[0]?.hint, hint);
    });
  }

  test('reports every error of a string with parts', () => {
    const { problems } = createTestParser().parse('${ $a1 }${ $b1 }');
    assert.deepEqual(
      problems.map(({ offset }) => offset),
      [3, 11],
    );
  });

  test('compiles equal strings and equal expressions once', () => {
    const parser = createTestParser();
    assert.equal(leafOf('${ a.b }', parser), leafOf('${ a.b }', parser));
    const [here, there] = [
      expressionOf('${ a.b + 1 }', parser),
      expressionOf('x${a.b + 1}', parser),
    ];
    assert.equal(here.evaluate, there.evaluate);
    assert.deepEqual([here.references[0]?.offset, there.references[0]?.offset], [3, 3]);
    assert.equal(expressionOf('text ${a.b + 1}', parser).references[0]?.offset, 7);
  });

  test('evaluates one expression for many scopes at once', async () => {
    const expression = expressionOf(
      '${ ( $n := spec.n; $sum($map([1..$n], function($i){ $i * $item })) & "/" & $now() & "/" & $cluster.name ) }',
    );
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        expression.evaluate(
          testScope(
            { spec: { n: n + 1 } },
            { item: n, now: `now-${n}`, cluster: { name: `c${n}`, labels: {} } },
          ),
        ),
      ),
    );
    assert.deepEqual(
      results,
      Array.from({ length: 50 }, (_, n) => `${(((n + 1) * (n + 2)) / 2) * n}/now-${n}/c${n}`),
    );
  });

  test('evaluates again after a failure', async () => {
    const parser = createTestParser();
    const failing = expressionOf('${ "a" + 1 }', parser).evaluate(testScope(root));
    const following = expressionOf('${ spec.size + 1 }', parser).evaluate(testScope(root));
    await assert.rejects(async () => failing, { code: 'evaluation-failed' });
    assert.equal(await following, 4);
  });

  test('reads the variables of the scope', async () => {
    const scope = {
      item: { name: 'a' },
      index: 2,
      child: { kind: 'Pod' },
      previous: { spec: 1 },
      self: { vars: 'own' },
    };
    assert.deepEqual(
      await evaluate(
        '{"i": $item.name, "x": $index + 0, "c": $child.kind, "p": $previous.spec, "d": $definition.revision, "k": $cluster.name, "s": $self.vars, "r": $$.vars}',
        { vars: 'var' },
        scope,
      ),
      { i: 'a', x: 2, c: 'Pod', p: 1, d: 'abc', k: 'test', s: 'own', r: 'var' },
    );
  });
});
