import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseConversionRules } from './parse-rules.ts';
import { eachItem, parseRulePath, rulePathText } from './rule-path.ts';
import { digestOf, readRules, writeRules } from './rules-text.ts';

const valid = {
  hub: 'v1',
  versions: [
    {
      version: 'v1alpha1',
      fields: [
        { here: 'spec.size', there: 'spec.replicas' },
        { here: 'spec.mode', there: 'spec.strategy.type', values: { fast: 'Parallel' } },
        { here: 'spec.rules[].port', there: 'spec.rules[].target.port' },
        { here: 'spec.timeout', there: 'spec.timeoutSeconds', as: 'durationToSeconds' },
        { here: 'spec.zones', there: 'spec.zoneList', as: { mapToList: 'name' } },
      ],
      drop: ['spec.legacy'],
    },
  ],
};

describe('conversion/parse-rules', () => {
  test('parses rules, and completes what may be left out', () => {
    assert.deepEqual(parseConversionRules(valid), { rules: valid });
    assert.deepEqual(
      parseConversionRules({ hub: 'v1', versions: [{ version: 'v2' }] }).rules?.versions,
      [{ version: 'v2', fields: [], drop: [] }],
    );
  });

  for (const [json, expected] of [
    [[], [['', 'Expected an object']]],
    [
      { hub: 'v1', versions: [{ version: 'v1' }, { version: 'v2' }, { version: 'v2' }], x: 1 },
      [
        ['/x', 'Unknown field "x"'],
        ['/versions/0/version', 'Version "v1" is the hub, which has no rules of its own'],
        ['/versions/2/version', 'Version "v2" occurs twice'],
      ],
    ],
    [
      rule({ here: 'spec.a', there: 'spec.b', as: 'durationToSecond' }),
      [['/versions/0/fields/0/as', 'Unknown form "durationToSecond"']],
    ],
    [
      rule({ here: 'spec.a', there: 'spec.b', as: { mapToList: '' } }),
      [['/versions/0/fields/0/as', '"mapToList" needs the name of a field']],
    ],
    [
      rule({ here: 'spec.a[].b', there: 'spec.b' }),
      [['/versions/0/fields/0/there', '"here" has 1 of "[]", and "there" has 0']],
    ],
    [
      rule({ here: 'metadata.name', there: 'spec..b' }),
      [
        ['/versions/0/fields/0/here', 'A conversion must not change "metadata.name"'],
        ['/versions/0/fields/0/there', '"spec..b" is not a path'],
      ],
    ],
    [
      rule({ here: 'spec.a', there: 'spec.b', values: { a: 1 } }),
      [['/versions/0/fields/0/values/a', 'Expected a text that is not empty']],
    ],
  ] as const) {
    test(`reports ${expected.map(([path]) => path).join(', ')}`, () => {
      const { problems = [] } = parseConversionRules(json);
      assert.deepEqual(
        problems.map(({ path, message }) => [path, message]),
        expected,
      );
    });
  }

  for (const [field, message, hint] of [
    [
      { as: 'mapToList' },
      '"mapToList" needs the name of a field',
      'Write it as { mapToList: name }, where "name" is the field of the items with the key',
    ],
    [
      { as: { durationToSeconds: true } },
      '"durationToSeconds" has no field',
      'Write it as a word: "as: durationToSeconds"',
    ],
    [{ as: { mapToList: 'a', listToMap: 'b' } }, 'A rule has one form', 'Use the one that fits'],
    [{ as: 'textToYml' }, 'Unknown form "textToYml"', 'Did you mean "textToYaml"?'],
    [{ here: 'spec.a[0].b' }, '"spec.a[0].b" is not a path', 'Did you mean "spec.a[].b"?'],
    [{ here: 'spec..b' }, '"spec..b" is not a path', 'Write it as spec.rules[].port'],
  ] as const) {
    test(`has a hint for ${JSON.stringify(field)}`, () => {
      const { problems } = parseConversionRules(
        rule({ here: 'spec.a', there: 'spec.b', ...field }),
      );
      assert.deepEqual(
        problems?.map((each) => [each.message, each.hint]),
        [[message, hint]],
      );
    });
  }

  test('a path has fields, quoted fields and items', () => {
    const steps = parseRulePath('spec.rules[].labels["a.b"].x[]');
    assert.deepEqual(steps, ['spec', 'rules', eachItem, 'labels', 'a.b', 'x', eachItem]);
    assert.equal(rulePathText(steps ?? []), 'spec.rules[].labels["a.b"].x[]');
    for (const text of ['', '.', '[]', 'a.', 'a[0]', 'a["b]', 'a b']) {
      assert.equal(parseRulePath(text), undefined, text);
    }
  });
});

describe('conversion/rules-text', () => {
  const { rules } = parseConversionRules(valid);
  assert.ok(rules);

  test('stores the current and the previous rules by digest', () => {
    const previous = { hub: 'v1', versions: [] };
    const stored = readRules(writeRules(rules, [previous]));
    assert.equal(stored?.current, digestOf(rules));
    assert.deepEqual(stored?.byDigest.get(digestOf(rules)), rules);
    assert.deepEqual(stored?.byDigest.get(digestOf(previous)), previous);
  });

  test('previous rules are read newest first', () => {
    const previous = ['c', 'a', 'b', 'd'].map((hub) => ({ hub, versions: [] }));
    const stored = readRules(writeRules(rules, previous));
    assert.deepEqual([...(stored?.byDigest.keys() ?? [])], [rules, ...previous].map(digestOf));
  });

  test('a text that is none, or was changed, has no rules', () => {
    assert.equal(readRules('{'), undefined);
    assert.equal(readRules('[]'), undefined);
    assert.equal(readRules(writeRules(rules).replace('spec.size', 'spec.other')), undefined);
  });
});

function rule(field: unknown): unknown {
  return { hub: 'v1', versions: [{ version: 'v2', fields: [field] }] };
}
