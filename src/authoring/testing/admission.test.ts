import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createOperatorTestParser } from '#definition';
import { thingDefinition } from '../../../test/support/definitions.ts';
import { resultLines } from './report.ts';
import { runTest } from './run-test.ts';

const parser = createOperatorTestParser();
const schema = `
            type: object
            required: [spec]
            properties:
              spec: { type: object, required: [text], properties: { text: { type: string }, size: { type: integer } } }`;
const definition = thingDefinition(
  'thing',
  `  admission:
    defaults:
      - { path: spec.text, value: object.metadata.name }
    rules:
      - { rule: "object.spec.?size.orValue(1) <= 10 || request.name == 'any'", message: At most ten, field: spec.size }
      - operations: [Delete]
        rule: "oldObject.metadata.?annotations[?'keep'].orValue('') != 'true'"
        message: Remove the annotation first
  children:
    - id: config
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }" }, data: { text: "\${ spec.text }" } }
`,
  { group: 'example.com', schema },
);
const thing = (metadata: string, spec = '{}') =>
  `{ apiVersion: example.com/v1, kind: Thing, metadata: ${metadata}, spec: ${spec} }`;

/** Runs a test with these steps; returns what is printed, without its first line. */
async function run(...steps: readonly string[]): Promise<readonly string[]> {
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
  const file = (text: string) => [{ file: 'thing.yaml', text }];
  const [only] = tests;
  assert.ok(only);
  const result = await runTest(only, {
    definitions: file(definition),
    loadDefinitions: async (path) => file(path),
    loadObjects: async () => [],
  });
  return resultLines(result, { hasColor: false }).slice(1);
}

describe('testing/admission', () => {
  test('defaults are set from the first step on', async () => {
    const found = await run(
      `{ name: a, apply: ${thing('{ name: a }')}, expect: [{ object: { apiVersion: v1, kind: ConfigMap, metadata: { name: a }, data: { text: a } } }] }`,
    );
    assert.deepEqual(found, []);
  });

  test('a step expects that a rule rejects its changes', async () => {
    const found = await run(
      `{ name: an apply, apply: ${thing('{ name: a }', '{ size: 11 }')}, denied: "spec.size: At most ten", expect: [{ absent: { apiVersion: example.com/v1, kind: Thing, metadata: { name: a } } }] }`,
      `{ name: create, apply: ${thing('{ name: a, annotations: { keep: "true" } }')} }`,
      '{ name: a patch, patch: { target: Thing/a, merge: { spec: { size: 12 } } }, denied: At most ten }',
      '{ name: a deletion, delete: Thing/a, denied: Remove the annotation, expect: [{ writes: 0 }] }',
      '{ name: without it, patch: { target: Thing/a, merge: { metadata: { annotations: { keep: null } } } }, delete: Thing/a, expect: [{ nothingLeft: true }] }',
    );
    assert.deepEqual(found, []);
  });

  test('what is accepted, and another rejection, are failures', async () => {
    const accepted = await run(`{ name: a, apply: ${thing('{ name: a }')}, denied: At most ten }`);
    assert.match(
      accepted.join('\n'),
      /Expected a rejection with "At most ten", but the API server accepted the change/,
    );
    const other = await run(
      `{ name: a, apply: ${thing('{ name: a }', '{ size: 11 }')}, denied: At most five }`,
    );
    assert.match(
      other.join('\n'),
      /Expected a rejection with "At most five", found ".*At most ten"/,
    );
    const typed = await run(
      `{ name: a, apply: ${thing('{ name: a }', '{ size: a }')}, denied: spec.size }`,
    );
    assert.deepEqual(typed, []);
  });

  test('"denied" needs a change', () => {
    const { diagnostics } = parser.parse(
      'apiVersion: homeostat.dev/v1alpha1\nkind: OperatorTest\nmetadata: { name: a }\nspec: { steps: [{ name: a, denied: b }] }\n',
      'a_test.yaml',
    );
    assert.deepEqual(
      diagnostics.map(({ line, column, message }) => [line, column, message]),
      [[4, 28, '"denied" needs "apply", "patch" or "delete" in the same step']],
    );
  });
});
