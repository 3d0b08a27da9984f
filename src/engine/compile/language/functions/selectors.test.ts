import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createTestParser, evaluate } from '../../../../../test/support/compile/test-scope.ts';

const root = {
  spec: {
    selector: {
      matchLabels: { app: 'web' },
      matchExpressions: [{ key: 'tier', operator: 'In', values: ['a', 'b'] }],
    },
    text: 'app=web, tier in (a, b), !old',
    all: {},
    none: null,
    labels: { app: 'web', tier: 'b' },
    wide: { matchlabels: { app: 'web' } },
    broken: 'a in secret',
  },
  reads: {
    pods: [
      { metadata: { name: 'one', labels: { app: 'web', tier: 'a' } } },
      { metadata: { name: 'two', labels: { app: 'web', tier: 'c' } } },
      { metadata: { name: 'three' } },
    ],
  },
};

describe('compile/language/functions selectors', () => {
  for (const [source, expected] of [
    ['$selects(spec.selector, spec.labels)', true],
    ['$selects(spec.text, spec.labels)', true],
    ['$selects("app=db", spec.labels)', false],
    ['$selects(spec.all, spec.labels)', true],
    ['$selects("", spec.labels)', true],
    ['$selects(spec.all, reads.pods[2])', true],
    ['$selects("app", reads.pods[2])', false],
    ['$selects(spec.none, spec.labels)', false],
    ['$selects(spec.nothing, spec.labels)', false],
    ['$selects(spec.all, spec.nothing)', false],
    [
      '$selects({ "matchExpressions": [{ "key": "x", "operator": "NotIn", "values": ["a"] }] }, {})',
      true,
    ],
    ['$selects({ "matchLabels": null }, spec.labels)', true],
    ['$selects("constructor", {})', false],
    ['reads.pods[$selects($$.spec.selector, $)].metadata.name', 'one'],
    ['$count(reads.pods[$selects("", $)])', 3],
  ] as const) {
    test(`${source} gives ${JSON.stringify(expected)}`, async () => {
      assert.deepEqual(await evaluate(source, root), expected);
    });
  }

  for (const source of [
    '$selects(spec.wide, spec.labels)',
    '$selects(spec.broken, spec.labels)',
    '$selects(1, spec.labels)',
    '$selects({ "matchLabels": "a" }, spec.labels)',
    '$selects({ "matchExpressions": { "key": "a" } }, spec.labels)',
    '$selects({ "matchExpressions": [{ "key": "a", "operator": "In" }] }, spec.labels)',
    '$selects({ "matchExpressions": [{ "key": "a", "operator": "Equals", "values": ["a"] }] }, {})',
    '$selects({ "matchLabels": { "a": 1 } }, spec.labels)',
    '$selects("a", "b")',
    '$selects("a", { "a": 1 })',
  ]) {
    test(`${source} fails, and its message has no value`, async () => {
      await assert.rejects(
        async () => evaluate(source, root),
        (error: Error & { code: string }) => {
          assert.equal(error.code, 'evaluation-failed');
          assert.match(error.message, /^Expected .* as the (?:first|second) argument of \$selects/);
          assert.doesNotMatch(error.message.replace(source, ''), /secret/);
          return true;
        },
      );
    });
  }

  test('a literal selector that the server would reject is an error at load', () => {
    const { problems } = createTestParser().parse('${ $selects("a in b", spec.labels) }');
    assert.deepEqual(
      problems.map(({ code, offset }) => [code, offset]),
      [['invalid-value', 12]],
    );
  });
});
