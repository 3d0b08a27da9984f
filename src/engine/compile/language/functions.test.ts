import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  createTestParser,
  evaluate,
  expressionOf,
} from '../../../../test/support/compile/test-scope.ts';
import { languageFunctions } from './functions.ts';

const root = {
  spec: { name: 'web', none: null, list: [{ a: 1 }, { a: 2 }] },
  children: {
    db: {
      ready: true,
      status: {
        conditions: [
          { type: 'Ready', status: 'True' },
          { type: 'Stuck', status: 'False' },
        ],
      },
    },
    fresh: { metadata: { name: 'fresh' } },
  },
};

describe('compile/language functions', () => {
  for (const [source, expected] of [
    ['$now()', '2026-01-02T03:04:05Z'],
    ['$millis()', Date.parse('2026-01-02T03:04:05Z')],
    ['$fromMillis($toMillis($now()))', '2026-01-02T03:04:05.000Z'],
    ['$name("web", 1, true)', 'web-1-true'],
    ['$length($name($pad("", 60, "a"), "tail"))', 63],
    ['$name($pad("", 60, "a"), "tail") = $name($pad("", 60, "a"), "tail2")', false],
    ['$contains($name($pad("a", 60, "-"), "tail"), /^a-[a-z0-9]{10}$/)', true],
    ['$contains($hash(spec), /^[a-z][a-z0-9]{9}$/)', true],
    ['$hash({"a": 1, "b": [2]}) = $hash({"b": [2], "a": 1})', true],
    ['$hash(1) = $hash("1")', false],
    ['$hash(spec.none)', undefined],
    ['$json({"b": [1, null], "a": spec.name})', '{"a":"web","b":[1,null]}'],
    ['$json(spec.nothing)', undefined],
    ['$json(false)', 'false'],
    ['$yaml(spec.list[0])', 'yaml:{"a":1}'],
    ['$parseJson("{\\"a\\": [1]}").a', [1]],
    ['$parseYaml("[1, 2]")', [1, 2]],
    ['$quantity("500m")', 0.5],
    ['$quantity("100m") * 3', 0.3 + 5e-17],
    ['$quantity("1Gi")', 1_073_741_824],
    ['$quantity("1.5k")', 1500],
    ['$quantity("2e3")', 2000],
    ['$quantity("-3")', -3],
    ['$quantity(4)', 4],
    ['$quantity(spec.nothing)', undefined],
    ['$duration("1h30m")', 5400],
    ['$duration("250ms")', 0.25],
    ['$duration(30)', 30],
    ['$condition(children.db, "Ready").status', 'True'],
    ['$condition(children.db, "Other")', undefined],
    ['$condition(children.fresh, "Ready")', undefined],
    ['$condition(children.nothing, "Ready")', undefined],
    ['$isReady(children.db)', true],
    ['$isReady(children.fresh)', false],
    ['$isReady(children.nothing)', false],
    ['$randomString(3)', 'rrr'],
    ['$map(["1k", "2k"], $quantity)', [1000, 2000]],
    ['children.db ~> $condition("Ready")', { type: 'Ready', status: 'True' }],
    ['["1m", "1h"] ~> $map($duration) ~> $sum', 3660],
    ['($days := function($d){ $duration($d) / 86400 }; $days("2d"))', 2],
    ['($f := $replace(?, "a", "b"); $f("aha"))', 'bhb'],
  ] as const) {
    test(`${source} gives ${JSON.stringify(expected)}`, async () => {
      assert.deepEqual(await evaluate(source, root), expected);
    });
  }

  for (const [source, code] of [
    ['$name("a", spec.nothing)', 'missing-value'],
    ['$name("a", "")', 'missing-value'],
    ['$name(spec)', 'evaluation-failed'],
    ['$name("a", spec)', 'evaluation-failed'],
    ['$name({ "maxLength": 52 })', 'evaluation-failed'],
    ['$name("a", { "maxLength": 19 })', 'evaluation-failed'],
    ['$name("a", { "maxLength": "52" })', 'evaluation-failed'],
    ['$name("a", { "maxLength": 52, "max": 1 })', 'evaluation-failed'],
    ['$name("a", { "maxLength": 52 }, "b")', 'evaluation-failed'],
    ['$parseJson("{")', 'evaluation-failed'],
    ['$parseYaml("{")', 'evaluation-failed'],
    ['$parseJson(1)', 'evaluation-failed'],
    ['$quantity("12 apples")', 'evaluation-failed'],
    ['$quantity("")', 'evaluation-failed'],
    ['$duration("soon")', 'evaluation-failed'],
    ['$duration(true)', 'evaluation-failed'],
    ['$randomString(0)', 'evaluation-failed'],
    ['$randomString(1.5)', 'evaluation-failed'],
    ['$base64decode("%%%")', 'evaluation-failed'],
    ['$base64decode("/w==")', 'evaluation-failed'],
  ] as const) {
    test(`${source} fails with ${code}`, async () => {
      await assert.rejects(async () => evaluate(source, root), { code });
    });
  }

  for (const [source, message, offset] of [
    ['$now("[Y]")', 'Expected the call "$now()"', 3],
    ['spec & $randomString()', 'Expected the call "$randomString(length)"', 10],
    ['$condition(spec)', 'Expected the call "$condition(object, type)"', 3],
    ['spec.name.$json()', 'Expected the call "$json(value)"', 13],
    ['$name()', 'Expected the call "$name(parts...)"', 3],
    ['spec ~> $json(1)', 'Expected the call "$json(value)"', 11],
  ] as const) {
    test(`${source} is rejected for the number of its arguments`, () => {
      const { problems } = createTestParser().parse(`\${ ${source} }`);
      assert.deepEqual(
        problems.map((problem) => [problem.code, problem.message, problem.offset]),
        [['expression-syntax', message, offset]],
      );
    });
  }

  for (const [length, maxLength] of [
    [52, 52],
    [53, 52],
    [80, 30],
    [253, 253],
    [300, 253],
  ] as const) {
    test(`$name keeps ${length} characters within a maximum of ${maxLength}`, async () => {
      const text = 'a'.repeat(length - 2);
      const name = String(
        await evaluate(`$name("${text}", "b", { "maxLength": ${maxLength} })`, root),
      );
      assert.ok(name.length <= maxLength, name);
      assert.equal(name === `${text}-b`, length <= maxLength);
    });
  }

  // `$hash` lets no value out, and `$clusterOf` reads the metadata only.
  for (const { name, params } of languageFunctions) {
    if (params.length === 0 || ['hash', 'clusterOf', 'isReady', 'condition'].includes(name))
      continue;
    test(`what $${name}() results in counts as containing each argument, also one of a Secret`, () => {
      const args = params.map((_, index) => `reads.secret.data.a${index}`);
      const { references } = expressionOf(`\${ $${name}(${args.join(', ')}) }`);
      const values = references.filter(({ root }) => root === 'reads');
      assert.deepEqual(
        values.map(({ path, isReduced }) => [path.join('.'), isReduced]),
        args.map((arg) => [arg.slice('reads.'.length), undefined]),
      );
    });
  }

  test('are documented and named once', () => {
    const names = languageFunctions.map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
    for (const { doc } of languageFunctions) assert.match(doc, /^[A-Z].*[^.]$/);
  });
});
