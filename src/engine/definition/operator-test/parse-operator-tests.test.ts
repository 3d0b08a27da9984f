import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createOperatorTestParser } from './parse-operator-tests.ts';

const parser = createOperatorTestParser();
const head = [
  'apiVersion: homeostat.dev/v1alpha1',
  'kind: OperatorTest',
  'metadata: { name: web }',
];

function parse(...spec: readonly string[]) {
  return parser.parse(
    [...head, 'spec:', ...spec.map((line) => `  ${line}`)].join('\n'),
    'web.yaml',
  );
}

describe('definition/operator-test', () => {
  test('a test with its steps, defaults filled in', () => {
    const { tests, diagnostics } = parse(
      'steps:',
      '  - name: one',
      '    apply: { apiVersion: v1, kind: ConfigMap, metadata: { name: a } }',
      '    delete: Pod/web',
      '    advance: 1m30s',
      '    expect:',
      '      - { writes: 0 }',
      '      - { condition: { of: WebApp/a, type: Ready, status: "True" } }',
    );
    assert.deepEqual(diagnostics, []);
    const [only] = tests;
    assert.ok(only);
    const { steps, source: _, document: __, ...rest } = only;
    assert.deepEqual(rest, { name: 'web', given: [], apis: [] });
    assert.deepEqual(steps, [
      {
        name: 'one',
        pointer: '/spec/steps/0',
        cluster: 'hub',
        apply: [
          {
            cluster: 'hub',
            object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } },
          },
        ],
        delete: ['Pod/web'],
        advanceMs: 90_000,
        restart: false,
        expect: [
          { pointer: '/spec/steps/0/expect/0', cluster: 'hub', kind: 'writes', count: 0 },
          {
            pointer: '/spec/steps/0/expect/1',
            cluster: 'hub',
            kind: 'condition',
            of: 'WebApp/a',
            fields: { type: 'Ready', status: 'True' },
          },
        ],
        withinMs: 5_000,
      },
    ]);
  });

  test('a cluster is that of the object, of the expectation, or of the step', () => {
    const object = 'apiVersion: v1, kind: ConfigMap, metadata: { name: a }';
    const { tests, diagnostics } = parse(
      'given:',
      `  - { cluster: dev-1, ${object} }`,
      '  - { cluster: dev-2, file: a.yaml }',
      'steps:',
      '  - name: one',
      '    cluster: dev-1',
      '    clusters: { stop: dev-2, start: [dev-3] }',
      `    apply: [{ ${object} }, { cluster: hub, ${object} }]`,
      '    expect:',
      `      - { absent: { ${object} } }`,
      `      - { cluster: dev-2, absent: { ${object} } }`,
    );
    assert.deepEqual(diagnostics, []);
    const [only] = tests;
    const [step] = only?.steps ?? [];
    const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
    assert.deepEqual(only?.given, [
      { cluster: 'dev-1', object: manifest },
      { cluster: 'dev-2', file: 'a.yaml' },
    ]);
    assert.deepEqual(step?.clusters, { stop: ['dev-2'], start: ['dev-3'] });
    assert.deepEqual(step?.apply, [
      { cluster: 'dev-1', object: manifest },
      { cluster: 'hub', object: manifest },
    ]);
    assert.deepEqual(
      step?.expect.map(({ cluster }) => cluster),
      ['dev-1', 'dev-2'],
    );
  });

  test('documents of other kinds are skipped', () => {
    const { tests, diagnostics } = parser.parse('kind: ConfigMap\napiVersion: v1\n', 'a.yaml');
    assert.deepEqual([tests, diagnostics], [[], []]);
  });

  for (const [what, lines, expected] of [
    ['no step', ['steps: []'], [5, 'Expected at least one item']],
    ['an unknown field', ['steps:', '  - { name: a, aply: {} }'], [6, 'Unknown field "aply"']],
    [
      'a given object without a kind',
      ['given:', '  - { cluster: dev-1, apiVersion: v1, metadata: {} }', 'steps: [{ name: a }]'],
      [6, 'Missing field "kind"'],
    ],
    [
      'a cluster beside a count of writes',
      ['steps:', '  - name: a', '    expect: [{ cluster: dev-1, writes: 0 }]'],
      [7, '"cluster" has no effect beside "writes"'],
    ],
    [
      'an expectation of two kinds',
      ['steps:', '  - name: a', '    expect: [{ writes: 0, nothingLeft: true }]'],
      [7, 'Expected one of "object"'],
    ],
    [
      'a reference without a name',
      ['steps:', '  - { name: a, delete: web }'],
      [6, 'Expected an object as "Kind/name"'],
    ],
    ['a time', ['steps:', '  - { name: a, advance: soon }'], [6, 'Expected a duration such as']],
    [
      'an object without a kind',
      ['steps:', '  - { name: a, apply: { metadata: { name: a } } }'],
      [6, 'Missing field "apiVersion"'],
    ],
    ['a syntax error', ['steps: ['], [5, '']],
  ] as const) {
    test(`${what} is an error with its position`, () => {
      const { tests, diagnostics } = parse(...lines);
      assert.deepEqual(tests, []);
      const [first] = diagnostics;
      const [line, message] = expected;
      assert.ok(first, 'Expected a diagnostic, found none');
      assert.ok(first.message.startsWith(message), first.message);
      assert.equal(first.line, line);
    });
  }

  const apis = (...names: readonly string[]) => [
    'apis:',
    ...names.map((name) => `  - { ${name === '' ? '' : `name: ${name}, `}url: http://a.b.svc }`),
  ];
  for (const [title, spec, expected] of [
    ['one API needs no name', [...apis(''), 'steps: [{ name: a, api: { down: 5s } }]'], []],
    [
      'an API that does not exist',
      [...apis('a', 'b'), 'steps: [{ name: a, api: { name: c, down: 5s } }]'],
      ['8:35 There is no simulated API "c"'],
    ],
    [
      'an API of several without a name',
      [...apis('a', 'b'), 'steps: [{ name: a, expect: [{ requests: { count: 0 } }] }]'],
      ['8:43 Expected the "name" of one of the APIs: "a" or "b"'],
    ],
    [
      'several APIs without names',
      [...apis('', 'a'), 'steps: [{ name: a }]'],
      ['6:7 Several APIs need a "name" each'],
    ],
    [
      'two APIs with one name',
      [...apis('a', 'a'), 'steps: [{ name: a }]'],
      ['7:15 Another API has the name "a"'],
    ],
    [
      'no API',
      ['steps: [{ name: a, expect: [{ api: { path: /a, objects: [] } }] }]'],
      ['5:33 The test has no simulated API'],
    ],
    [
      'a failure that is none',
      [...apis(''), 'steps: [{ name: a, api: { fail: { times: 2 } } }]'],
      ['7:35 Expected either "status" or "lostAnswer: true"'],
    ],
    [
      'a cluster of an API',
      [...apis(''), 'steps: [{ name: a, expect: [{ cluster: b, requests: {} }] }]'],
      ['7:33 "cluster" has no effect beside "requests"'],
    ],
  ] as const)
    test(`${title}: ${expected.length} errors`, () => {
      const { diagnostics } = parse(...spec);
      assert.deepEqual(
        diagnostics.map(({ line, column, message }) => `${line}:${column} ${message}`),
        expected,
      );
    });
});
