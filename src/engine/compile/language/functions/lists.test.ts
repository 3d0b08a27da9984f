import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createTestParser, evaluate } from '../../../../../test/support/compile/test-scope.ts';

const root = {
  spec: {
    size: 3,
    zero: 0,
    list: ['b', 'a', 'b', null],
    one: [{ name: 'x' }],
    pods: [
      { name: 'p', node: 'n1', labels: { 'a.b/c': '1' } },
      { name: 'q', node: 'n2', labels: { 'a.b/c': '2' } },
      { name: 'r', node: 'n1', labels: {} },
      { name: 's' },
    ],
    used: [0, 1, 3],
    pool: ['10.0.0.0/24', '10.0.1.0/24'],
    long: Array.from({ length: 100_000 }, (_, index) => index),
  },
};

describe('compile/language/functions lists', () => {
  for (const [source, expected] of [
    ['$unique(spec.list)', ['b', 'a', null]],
    ['$unique([{ "a": 1, "b": 2 }, { "b": 2, "a": 1 }, 1, "1"])', [{ a: 1, b: 2 }, 1, '1']],
    ['$unique(spec.pods, "node").name', ['p', 'q', 's']],
    ['$unique(spec.pods, "labels.`a.b/c`").name', ['p', 'q', 'r', 's']],
    ['$unique(spec.pods, function($p){ $substring($p.node, 0, 1) }).name', ['p', 's']],
    ['$unique(spec.one.name)', ['x']],
    ['$unique(spec.nothing)', undefined],
    ['$unique([])', []],
    ['$map([["a", "a"]], $unique)', ['a']],
    ['$keys($groupBy(spec.pods, "node"))', ['n1', 'n2']],
    ['$groupBy(spec.pods, "node").n1.name', ['p', 'r']],
    ['$groupBy(spec.one, "name")', { x: [{ name: 'x' }] }],
    ['$groupBy(spec.one[0], "name").x', [{ name: 'x' }]],
    ['$groupBy(spec.list, function($s){ $uppercase($s) })', { B: ['b', 'b'], A: ['a'] }],
    ['$groupBy(spec.list, $uppercase)', { B: ['b', 'b'], A: ['a'] }],
    ['$groupBy([], "a")', {}],
    ['$groupBy(spec.nothing, "a")', undefined],
    ['$groupBy([{ "k": 1 }, { "k": "1" }], "k")', { 1: [{ k: 1 }, { k: '1' }] }],
    ['$range(spec.size)', [0, 1, 2]],
    ['$range(1)', [0]],
    ['$range(spec.zero)', []],
    ['$range(spec.nothing)', undefined],
    ['$map($range(2), function($i){ "web-" & $i })', ['web-0', 'web-1']],
    ['$zipIndex(spec.list)[item = "a"].index', 1],
    ['$zipIndex(spec.list)[3]', { index: 3, item: null }],
    ['$zipIndex("a")', [{ index: 0, item: 'a' }]],
    ['$zipIndex([])', []],
    ['$zipIndex(spec.nothing)', undefined],
    ['$firstFree(spec.used, 10)', 2],
    ['$firstFree(spec.used, 1e9)', 2],
    ['$firstFree(spec.used, 2)', undefined],
    ['$firstFree(spec.nothing, 5)', 0],
    ['$firstFree(0, 5)', 1],
    ['$firstFree("10.0.0.0/24", spec.pool)', '10.0.1.0/24'],
    ['$firstFree(spec.pool, spec.pool)', undefined],
    ['$firstFree(spec.nothing, "a")', 'a'],
    ['$firstFree(spec.used, spec.nothing)', undefined],
  ] as const) {
    test(`${source} gives ${JSON.stringify(expected)}`, async () => {
      assert.deepEqual(await evaluate(source, root), expected);
    });
  }

  for (const [source, code] of [
    ['$range(-1)', 'evaluation-failed'],
    ['$range(1.5)', 'evaluation-failed'],
    ['$range(10001)', 'evaluation-failed'],
    ['$range("3")', 'evaluation-failed'],
    ['$groupBy(spec.pods, 1)', 'evaluation-failed'],
    ['$groupBy(spec.pods, "")', 'evaluation-failed'],
    ['$groupBy(spec.pods, "a..b")', 'evaluation-failed'],
    ['$groupBy(spec.pods, "a.")', 'evaluation-failed'],
    ['$groupBy(spec.pods, "labels")', 'evaluation-failed'],
    ['$groupBy([{ "k": "__proto__" }], "k")', 'evaluation-failed'],
    ['$firstFree(spec.used, [5, 6])', 'evaluation-failed'],
    ['$firstFree(spec.used, -1)', 'evaluation-failed'],
    ['$zipIndex(spec.long)', 'limit-exceeded'],
  ] as const) {
    test(`${source} fails with ${code}`, async () => {
      await assert.rejects(async () => evaluate(source, root), { code });
    });
  }

  test('optional arguments may be left out, others may not', () => {
    const { problems } = createTestParser().parse('${ $groupBy(spec.pods) & $unique(spec.list) }');
    assert.deepEqual(
      problems.map(({ message }) => message),
      ['Expected the call "$groupBy(list, key)"'],
    );
  });
});
