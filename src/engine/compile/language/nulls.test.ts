import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  createTestParser,
  expressionOf,
  testScope,
} from '../../../../test/support/compile/test-scope.ts';
import { builtinFunctions } from './builtin-functions.ts';
import { ExpressionError } from './evaluation-error.ts';
import { languageFunctions } from './functions.ts';
import { templateHelpers } from './template/template-helpers.ts';

const present = {
  one: 1,
  text: 'a',
  numbers: [1, 2],
  texts: ['b', 'a'],
  map: { z: 1 },
  maps: [{ host: 'a', port: 1, tags: ['x'] }, { port: 2 }],
};

/** The same resource twice: a field is `null`, or is missing. */
const withNull = {
  spec: {
    ...present,
    none: null,
    map: { z: 1, none: null },
    maps: [present.maps[0], { port: 2, host: null, tags: null }],
    sparse: [1, null, 2],
    sparseTexts: ['b', null, 'a'],
  },
};
const withoutField = {
  spec: { ...present, sparse: present.numbers, sparseTexts: present.texts },
};

const parser = createTestParser();

/** The result, or the error as the author sees it. */
async function outcomeOf(text: string, root: Record<string, unknown>, more = {}): Promise<unknown> {
  try {
    return { result: await expressionOf(text, parser).evaluate(testScope(root, more)) };
  } catch (error) {
    assert.ok(error instanceof ExpressionError, String(error));
    return { code: error.code, message: error.message };
  }
}

async function assertEqual(text: string, left = withNull, right: object = withoutField) {
  const expected = await outcomeOf(text, right as Record<string, unknown>);
  assert.deepEqual(await outcomeOf(text, left), expected, text);
}

/** A source, and one that no fast path evaluates. */
function bothPaths(source: string): readonly string[] {
  return [`\${ ${source} }`, `\${ (0; ${source}) }`];
}

/** Valid arguments by the names of parameters. */
const examples: Readonly<Record<string, string>> = {
  list: 'spec.numbers',
  numbers: 'spec.numbers',
  objects: '[spec.map]',
  object: 'spec.map',
  text: '"12"',
  function: 'function($value){ $value }',
  pattern: '"1"',
  characters: '"1"',
  picture: '"0"',
  key: '"z"',
  condition: 'true',
  message: '"text"',
  replacement: '"3"',
  separator: '","',
  timezone: '"+0100"',
  type: '"Ready"',
  quantity: '"1Gi"',
  duration: '"1m"',
  character: '"x"',
  prefix: '"x"',
  glob: '"1*"',
  regex: '"1"',
  selector: '"z"',
  map: 'spec.map',
  base: '{ "z": 1 }',
  override: '{ "y": 1 }',
  keys: '{ "y": "z" }',
  version: '"1.2.3"',
  other: '"1.2.4"',
  range: '"1.x"',
  ip: '"10.0.0.1"',
  cidr: '"10.0.0.0/8"',
  bits: '24',
  time: '"2026-01-02T03:04:05Z"',
  after: '"2026-01-02T03:04:05Z"',
  zone: '"Europe/Berlin"',
  layout: '"%Y"',
  cron: '"0 3 * * *"',
};

function exampleOf(name: string, parameter: string, length: number): string {
  if (name === 'join' && parameter === 'list') return 'spec.texts';
  if (name === 'selects' && parameter === 'object') return '{ "z": "1" }';
  if (name === 'url') return '"https://a/b"';
  if (name === 'match' && parameter === 'pattern') return '/1/';
  if (name === 'reduce' && parameter === 'function') return 'function($a, $b){ $a + $b }';
  if (name === 'sort' && parameter === 'function') return 'function($a, $b){ $a > $b }';
  if (name === 'toMillis' && parameter === 'text') return '"2026-01-02"';
  if (name === 'toMillis' && parameter === 'picture') return '"[Y]-[M]-[D]"';
  if (name === 'fromMillis' && parameter === 'picture') return '"[Y]"';
  if (name === 'parseJson' || name === 'parseYaml') return '"[1]"';
  return examples[parameter] ?? String(length);
}

/** Calls of every function with one argument that is not there. */
function callsWith(missing: string): readonly string[] {
  const functions = [
    ...[...builtinFunctions].map(([name, { params }]) => ({ name, params })),
    ...languageFunctions,
  ].filter(({ name }) => name !== 'random' && name !== 'shuffle');
  return functions.flatMap(({ name, params }) => {
    const names = params.map((param) => param.replace(/[?.]+$/, ''));
    return names.flatMap((parameter, at) => {
      // Only a literal, at load.
      if (name === 'match' && parameter === 'pattern') return [];
      const args = names.map((each, index) =>
        index === at ? missing : exampleOf(name, each, names.length),
      );
      const needed = Math.max(at + 1, params.filter((param) => !/[?.]$/.test(param)).length);
      return [`$${name}(${args.slice(0, needed).join(', ')})`];
    });
  });
}

const operations = (missing: string): readonly string[] => [
  ...['+', '-', '*', '/', '%', '<', '<=', '>', '>=', '=', '!=', '&', 'and', 'or', 'in'].flatMap(
    (operator) =>
      ['1', '"a"', 'spec.map', missing].flatMap((other) => [
        `${missing} ${operator} ${other}`,
        `${other} ${operator} ${missing}`,
      ]),
  ),
  `-${missing}`,
  `${missing} ? 1 : 2`,
  `true ? ${missing} : 2`,
  `${missing} ?? 1`,
  `${missing} ?: 1`,
  `(${missing}; 1)`,
  `($v := ${missing}; $exists($v))`,
  `($v := ${missing}; $v ? 1 : 2)`,
  `($f := function($x){ $exists($x) }; $f(${missing}))`,
  `(function($x){ $x & "a" })(${missing})`,
  `{"k": ${missing}, "l": 1}`,
  `{"k": true ? ${missing} : 1}`,
  `[${missing}, 1]`,
  `[[${missing}], 1]`,
  `[0..${missing}]`,
  `[${missing}..2]`,
  `${missing}.name`,
  `${missing}[0]`,
  `${missing}[name = "a"]`,
  `${missing}[]`,
  `${missing}.{"k": 1}`,
  `${missing}{"k": 1}`,
  `${missing}^(name)`,
  `${missing} ~> $string()`,
  `${missing}@$v.$v`,
  `$count(${missing})`,
  `${missing} = null`,
  `${missing} != null`,
  `null = ${missing}`,
  `[${missing} = null]`,
  `$exists(${missing}) and ${missing} > 1`,
];

describe('compile/language null is a missing value', () => {
  for (const source of [...callsWith('spec.none'), ...operations('spec.none')]) {
    test(`${source} is the same for null and for a missing field`, async () => {
      for (const text of bothPaths(source)) await assertEqual(text);
    });
  }

  // A literal cannot begin a path; in `{ }` and `[ ]` it is kept, and `=` tests whether a value is missing.
  const asOperand = operations('null').filter(
    (source) => !/[{[]|!?= null|null !?=|null[.@]/.test(source),
  );
  for (const source of asOperand) {
    test(`${source} is the same as with a missing field`, async () => {
      const written = source.replaceAll('null', 'spec.none');
      for (const [text, missing] of [
        [`\${ ${source} }`, `\${ ${written} }`],
        [`\${ (0; ${source}) }`, `\${ (0; ${written}) }`],
      ] as const) {
        const found = (await outcomeOf(text, withoutField)) as { message?: string };
        const expected = (await outcomeOf(missing, withoutField)) as { message?: string };
        const { message, ...rest } = found;
        assert.deepEqual(
          { ...rest, message: message?.replaceAll('null', 'spec.none') },
          { ...expected, message: expected.message },
        );
      }
    });
  }

  for (const source of [
    'spec.maps.host',
    'spec.maps.tags',
    '$count(spec.maps.host)',
    '$join(spec.maps.host, ",")',
    'spec.maps[host = null].port',
    'spec.maps[host != null].port',
    'spec.maps[$exists(host)].port',
    'spec.maps[$not($exists(host))].port',
    'spec.maps[host].port',
    'spec.maps[tags = ["x"]].port',
    'spec.maps[host in ["a"]].port',
    'spec.maps["x" in tags].port',
    'spec.maps.{"name": host, "port": port}',
    'spec.maps.(host ?? "none")',
    'spec.maps.(host & "/")',
    'spec.maps^(host).port',
    'spec.maps^(>host).port',
    'spec.maps{host: port}',
    'spec.maps{$string(port): host}',
    '$map(spec.maps, function($m){ $m.host })',
    '$filter(spec.maps, function($m){ $exists($m.host) }).port',
    '$map(spec.maps, function($m){ $m.host = "a" })',
    '$map(spec.maps.host, $uppercase)',
    'spec.maps.$keys()',
    'spec.maps.$lookup($, "host")',
    'spec.maps@$m.{"port": $m.port, "host": $m.host}',
    'spec.maps.host@$h.$h',
    'spec.maps#$i.{"at": $i, "host": host}',
    'spec.maps.tags.%.port',
    'spec.maps.*',
    'spec.map.*',
    '$count(spec.map.*)',
    '$sum(spec.map.*)',
    '$keys(spec.map)',
    '$keys(spec.maps)',
    '$each(spec.map, function($value, $name){ $name & "=" & $value })',
    '$sift(spec.map, function($value, $name){ $name != "" })',
    '$spread(spec.map)',
    '$lookup(spec.map, "none")',
    '$type($lookup(spec.map, "none"))',
    '$exists($lookup(spec.map, "none"))',
    'spec.map.none ~> $exists()',
    '$sum(spec.sparse)',
    '$max(spec.sparse)',
    '$min(spec.sparse)',
    '$average(spec.sparse)',
    '$sort(spec.sparse)',
    '$sort(spec.sparse, function($a, $b){ $a < $b })',
    '$map(spec.sparse, function($x){ $x * 2 })',
    '$map(spec.sparse, $string)',
    '$filter(spec.sparse, function($x){ $x > 1 })',
    '$reduce(spec.sparse, function($a, $b){ $a + $b })',
    '$single(spec.sparse, function($x){ $x > 1 })',
    '$join(spec.sparseTexts, ",")',
    'spec.sparseTexts.$uppercase($)',
    'spec.sparseTexts.$uppercase()',
    'spec.sparseTexts.("https://" & $)',
    'spec.sparseTexts.{"name": $}',
    'spec.sparseTexts{$: $}',
    'spec.sparse[$ > 1]',
    'spec.sparse[$ + 1 = 2]',
    'spec.sparse[-$ = -1]',
    'spec.sparse[$exists($)]',
    'spec.sparse[$ = null]',
    'spec.sparse[$string() = "1"]',
    'spec.sparseTexts[$contains("a")]',
    'spec.sparseTexts[$contains($, "a")]',
    'spec.sparse[$ in [1]]',
    'spec.sparse[($v := $; $v > 1)]',
    'spec.sparse^(>$)',
    'spec.sparse.($ + 1)',
    '[spec.sparse].($ + 1)',
    '[spec.sparse.$]',
    '1 in spec.sparse',
    'spec.none in spec.sparse',
    'spec.**.host',
    '$reduce([spec.maps], function($sum, $m){ $sum + $m.port }, spec.none)',
  ]) {
    test(`${source} skips null`, async () => {
      for (const text of bothPaths(source)) await assertEqual(text);
    });
  }

  for (const [source, expected] of [
    ['spec.sparse', [1, null, 2]],
    ['spec.map', { z: 1, none: null }],
    ['{"copy": spec.sparse}', { copy: [1, null, 2] }],
    ['[spec.sparse]', [1, null, 2]],
    ['$append(spec.sparse, 3)', [1, null, 2, 3]],
    ['$reverse(spec.sparse)', [2, null, 1]],
    ['$count(spec.sparse)', 3],
    ['spec.sparse[1]', undefined],
    ['spec.sparse[-1]', 2],
    ['spec.sparse[1] ?? "none"', 'none'],
    ['$merge([{"z": 1}, {"z": null}])', { z: null }],
    ['$merge([{"z": 1}, {"z": null}]).z ?? 2', 2],
    ['$json(spec.map)', '{"none":null,"z":1}'],
    ['$parseJson("null") ?? 1', 1],
    ['$parseJson("[null]")', [null]],
    ['$parseJson("{\\"a\\": null}").a ?? 1', 1],
    ['{"a": null}', { a: null }],
    ['{"a": null}.a ?? 1', 1],
    ['{"a": spec.one > 1 ? 1 : null}', { a: null }],
    ['{"a": spec.none ?? null}', { a: null }],
    ['[null, 1]', [null, 1]],
    ['[null, 1].($ + 1)', 2],
    ['[null, 1][$ = 1]', 1],
    ['[null, "b"].$uppercase()', 'B'],
    ['$count([null, 1])', 2],
    ['spec.map = {"z": 1, "none": null}', true],
    ['null', undefined],
    ['null = null', true],
    ['spec.one = null', false],
    ['spec.one != null', true],
    ['spec.map = null', false],
    ['spec.numbers != null', true],
    ['spec.none = null', true],
    ['spec.missing = null', true],
    ['spec.missing.below != null', false],
    ['spec.maps.host = null', false],
    ['null in [null]', false],
    ['$type(spec.none) = "null"', false],
  ] as const) {
    test(`${source} gives ${JSON.stringify(expected)}`, async () => {
      for (const text of bothPaths(source)) {
        assert.deepEqual(await outcomeOf(text, withNull), { result: expected }, text);
      }
    });
  }

  for (const variable of ['item', 'child', 'previous']) {
    for (const source of [`$exists($${variable})`, `$${variable} ?? 1`, `$${variable} & "a"`]) {
      test(`${source} is the same for null and for no value`, async () => {
        for (const text of bothPaths(source)) {
          const found = await outcomeOf(text, withNull, { [variable]: null });
          assert.deepEqual(found, await outcomeOf(text, withNull));
        }
      });
    }
  }

  const helpers = templateHelpers.flatMap(({ name, params }) => {
    const args = params.map((param) => (param.startsWith('columns') ? '2' : 'spec.text'));
    return args.map((_, at) => {
      const call = args.map((arg, index) => (index === at ? 'spec.none' : arg)).join(' ');
      return `{{${name} ${call}}}`;
    });
  });
  for (const text of [
    ...helpers,
    '{{spec.none}}',
    '{{spec.none.below}}',
    '{{#if spec.none}}a{{else}}b{{/if}}',
    '{{#if (eq spec.none spec.gone)}}a{{else}}b{{/if}}',
    '{{#unless spec.none}}a{{/unless}}',
    '{{#with spec.none}}a{{else}}b{{/with}}',
    '{{#each spec.none}}a{{else}}b{{/each}}',
    '{{#each spec.map}}{{@key}}={{this}};{{/each}}',
    '{{#each spec.maps}}{{default host "none"}};{{/each}}',
    '{{#each spec.maps as |each|}}{{default each.host "none"}};{{/each}}',
    '{{join spec.sparseTexts}}',
    '{{default (lookup spec "none") "b"}}',
  ]) {
    test(`${text} is the same for null and for a missing field`, async () => {
      await assertEqual(text);
    });
  }
});
