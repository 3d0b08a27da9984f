import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createOperatorTestParser } from '#definition';
import {
  fieldManagerOf,
  installNameOf,
  ownedPatchManagerOf,
  patchManagerOf,
} from '#util/stored-names.ts';
import { thingDefinition } from '../../../test/support/definitions.ts';
import { resultLines } from './report.ts';
import { isChildApply, runTest } from './run-test.ts';

const parser = createOperatorTestParser();

/** A definition of kind Thing with one ConfigMap that holds `data`. */
function thing(data: string): string {
  const body = [
    'children:',
    '  - id: config',
    '    template:',
    '      apiVersion: v1',
    '      kind: ConfigMap',
    '      metadata: { name: "${ metadata.name }" }',
    `      data: ${data}`,
  ];
  return thingDefinition('thing', body.map((line) => `  ${line}`).join('\n'), {
    group: 'example.com',
  });
}

/** Runs a test with these steps; returns what is wrong, without positions. */
async function run(definition: string, ...steps: readonly string[]) {
  const lines = [
    'apiVersion: homeostat.dev/v1alpha1',
    'kind: OperatorTest',
    'metadata: { name: thing }',
    'spec:',
    '  steps:',
    ...steps.map((step) => `    - ${step}`),
  ];
  const { tests, diagnostics } = parser.parse(lines.join('\n'), 'thing_test.yaml');
  assert.deepEqual(diagnostics, []);
  const [only] = tests;
  assert.ok(only);
  const file = (text: string) => [{ file: 'thing.yaml', text }];
  return runTest(only, {
    definitions: file(definition),
    loadDefinitions: async (path) => file(path),
    loadObjects: async () => [],
  });
}

const create =
  '{ name: create, apply: { apiVersion: example.com/v1, kind: Thing, metadata: { name: a }, spec: { text: x } }';
const config = 'apiVersion: v1, kind: ConfigMap, metadata: { name: a }';
const constant = thing('{ text: "${ spec.text }" }');

describe('simulation/testing run', () => {
  test('passes when all expectations are true', async () => {
    const { failures } = await run(
      constant,
      `${create}, expect: [{ object: { ${config}, data: { text: x } } }, { writes: { $lte: 4 } }] }`,
      '{ name: delete, delete: Thing/a, expect: [{ nothingLeft: true }] }',
    );
    assert.deepEqual(failures, []);
  });

  test('an object without a name, or with a matcher for it, is any object of its kind', async () => {
    const any = 'apiVersion: v1, kind: ConfigMap, metadata:';
    const { failures } = await run(
      constant,
      `${create}, expect: [{ object: { ${any} {}, data: { text: x } } }, { object: { ${any} { name: { $match: "^a$" } } } }, { absent: { ${any} {}, data: { text: other } } }] }`,
    );
    assert.deepEqual(failures, []);
  });

  test('reports the step, the place and the fields of what differs', async () => {
    const result = await run(
      constant,
      `${create}, expect: [{ object: { ${config}, data: { text: other } } }] }`,
    );
    assert.deepEqual(resultLines(result, { hasColor: false }), [
      'FAIL thing_test.yaml: thing',
      '  Step "create"',
      '    thing_test.yaml:6:208: ConfigMap "a" is not as expected',
      '      data.text',
      '        - expected: other',
      '        + found: x',
    ]);
  });

  for (const [what, expectation, message] of [
    [
      'an object',
      `{ object: { ${config.replace('a }', 'b }')} } }`,
      'ConfigMap "b" does not exist',
    ],
    ['an absent object', `{ absent: { ${config} } }`, 'ConfigMap "a" exists'],
    [
      'an object without a name',
      '{ object: { apiVersion: v1, kind: ConfigMap, metadata: {}, data: { text: other } } }',
      'No ConfigMap is as expected; there are "a", "kube-root-ca.crt"',
    ],
    [
      'the only object without a name',
      '{ object: { apiVersion: example.com/v1, kind: Thing, metadata: {}, spec: { text: other } } }',
      'Thing "a" is not as expected',
    ],
    [
      'a kind without an object',
      '{ object: { apiVersion: v1, kind: Pod, metadata: { name: { $match: "^a-" } } } }',
      'There is no Pod',
    ],
    [
      'an absent object without a name',
      '{ absent: { apiVersion: v1, kind: ConfigMap, metadata: {}, data: { text: x } } }',
      'ConfigMap "a" exists',
    ],
    [
      'a condition',
      '{ condition: { of: Thing/a, type: Shiny } }',
      'Condition "Shiny" of Thing/a does not exist',
    ],
    ['a status', '{ status: { of: Thing/b, is: { x: 1 } } }', 'Thing/b does not exist'],
    [
      'an Event',
      '{ event: { of: Thing/a, reason: Shiny } }',
      'Thing/a has no such Event; it has none',
    ],
    ['writes', '{ writes: 0 }', 'Writes of the operators is not as expected'],
    ['a kind', '{ status: { of: Thong/a, is: {} } }', 'The server does not serve kind "Thong"'],
  ] as const) {
    test(`fails where ${what} is not as expected`, async () => {
      const { failures } = await run(constant, `${create}, expect: [${expectation}] }`);
      assert.deepEqual(
        failures.map((failure) => failure.message),
        [message],
      );
    });
  }

  test('expressions in expectations read the objects of the cluster', async () => {
    const { failures } = await run(
      constant,
      `${create}, expect: [{ object: { ${config}, data: { text: "\${ objects.Thing.a.spec.text }" } } }, { object: { ${config}, data: { text: "\${ objects.Thing.a.spec.text }" } } }] }`,
    );
    assert.deepEqual(failures, []);
  });

  for (const [what, expression, message] of [
    ['another value', '${ objects.Thing.a.metadata.name }', 'ConfigMap "a" is not as expected'],
    ['no result', '${ objects.Thing.b.spec }', '${ objects.Thing.b.spec } has no result'],
    ['a kind that is not served', '${ objects.Thong.b }', '${ objects.Thong.b } has no result'],
    ['a syntax error', '${ objects. }', 'Unexpected end of the expression'],
    ['a failure', '${ $number("x") }', /x/],
  ] as const) {
    test(`an expression with ${what} fails at its place`, async () => {
      const { failures } = await run(
        constant,
        `${create}, expect: [{ object: { ${config}, data: { text: '${expression}' } } }] }`,
      );
      const [{ pointer, message: found } = { pointer: '', message: '' }] = failures;
      assert.equal(pointer, '/spec/steps/0/expect/0/object/data/text');
      if (typeof message === 'string') assert.equal(found, message);
      else assert.match(found, message);
    });
  }

  test('fails when something is left', async () => {
    const { failures } = await run(
      thing('{ text: x }').replace('- id: config', '- id: config\n      deletionPolicy: Orphan'),
      `${create} }`,
      '{ name: delete, delete: Thing/a, expect: [{ nothingLeft: true }] }',
    );
    assert.match(failures[0]?.message ?? '', /^Objects are left: .*configmaps\/a$/);
  });

  test('fails when a second reconcile writes again', async () => {
    const counting = `${constant}\n  status: { count: "\${ (status.count ?? 0) + 1 }" }`;
    const { failures } = await run(counting, `${create} }`);
    assert.equal(
      failures[0]?.message,
      'A second reconcile writes again: PATCH /apis/example.com/v1/namespaces/default/things/a/status',
    );
  });

  test('an object of another owner is neither written again nor left', async () => {
    const { failures } = await run(
      constant,
      `{ name: taken, apply: { ${config}, data: { text: other } } }`,
      `${create}, expect: [{ condition: { of: Thing/a, type: Ready, status: "False", reason: Conflict } }, { object: { ${config}, data: { text: other } } }] }`,
      '{ name: delete, delete: Thing/a, expect: [{ nothingLeft: true }] }',
    );
    assert.deepEqual(failures, []);
  });

  test('fails when the operator does not become idle', async () => {
    const flipping = thing("{ text: \"${ observed.config.data.text = 'a' ? 'b' : 'a' }\" }");
    const { failures } = await run(flipping, `${create} }`);
    assert.match(failures[0]?.message ?? '', /^The operators do not become idle: /);
  });

  test('fails when a definition does not run', async () => {
    const { failures } = await run('kind: Nothing', `${create} }`);
    assert.deepEqual(
      failures.map(({ message }) => message),
      ['There is no definition to run'],
    );
  });

  test('a write that the test rejects is sent again', async () => {
    const { failures } = await run(
      constant,
      `${create}, fail: { requests: { kind: ConfigMap }, with: 500 }, within: 1m, expect: [{ object: { ${config} } }] }`,
    );
    assert.deepEqual(failures, []);
  });

  test('a definition that is replaced is reloaded', async () => {
    const other = JSON.stringify(thing('{ text: new }'));
    const { failures } = await run(
      constant,
      `${create} }`,
      `{ name: reload, definition: ${other}, within: 1m, expect: [{ object: { ${config}, data: { text: new } } }] }`,
    );
    assert.deepEqual(failures, []);
  });
});

describe('simulation/testing isChildApply', () => {
  const long = 'a'.repeat(63);
  for (const [fieldManager, isExpected] of [
    [fieldManagerOf('web'), true],
    [fieldManagerOf(installNameOf('web', 'install')), false],
    [fieldManagerOf(installNameOf('web', 'admission')), false],
    [fieldManagerOf(installNameOf(long, 'install')), false],
    [fieldManagerOf(installNameOf(long, 'admission')), false],
    [fieldManagerOf('web-install'), true],
    [fieldManagerOf('admission'), true],
    [patchManagerOf('web', 'install'), true],
    [ownedPatchManagerOf('web', 'admission', 'a/b'), true],
    // Of another program.
    ['example.com/tool.install', true],
    ['tool.admission', true],
  ] as const)
    test(`an apply by "${fieldManager}" is ${isExpected ? 'one' : 'none'} of a child`, () => {
      const request = {
        method: 'PATCH',
        path: '/api/v1/namespaces/a/configmaps/b',
        contentType: 'application/apply-patch+yaml',
        query: { fieldManager },
        flow: { name: 'web', priority: 'object' },
      } as const;
      assert.equal(isChildApply(request), isExpected);
    });
});
