import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#util/json.ts';
import { createCelEnvironment } from '../../cel/cel-environment.ts';
import { validateSchema } from './validate-schema.ts';

const rules = {
  environment: createCelEnvironment(),
  patternProblem: (pattern: string) => (pattern === '(' ? 'no bracket' : undefined),
};

function problems(schema: JsonObject): readonly string[] {
  return validateSchema(schema, 'S', rules).map(({ field, message }) => `${field}: ${message}`);
}

function ofField(a: JsonObject): readonly string[] {
  return problems({ type: 'object', properties: { a } });
}

describe('sandbox/crd/schema-rules', () => {
  test('a schema with all allowed keywords is accepted', () => {
    const either = { 'x-kubernetes-int-or-string': true };
    const both = [{ type: 'integer' }, { type: 'string' }];
    assert.deepEqual(
      problems({
        type: 'object',
        required: ['spec'],
        oneOf: [{ properties: { spec: { required: ['a'] } } }, { required: ['spec'] }],
        properties: {
          metadata: { type: 'object', properties: { name: { type: 'string', pattern: '^a' } } },
          spec: {
            type: 'object',
            properties: {
              a: { ...either, anyOf: both },
              b: { ...either, allOf: [{ anyOf: both }, { pattern: 'x' }] },
              c: { type: 'object', additionalProperties: { type: 'string' }, default: { x: 'y' } },
            },
          },
        },
      }),
      [],
    );
  });

  test('reports why a pattern is invalid, also inside allOf', () => {
    const reported =
      'Invalid value: "(": must be a valid regular expression, but isn\'t: no bracket';
    assert.deepEqual(ofField({ type: 'string', pattern: '(', allOf: [{ pattern: '(' }] }), [
      `S.properties[a].allOf[0].pattern: ${reported}`,
      `S.properties[a].pattern: ${reported}`,
    ]);
  });

  test('the types of integer-or-string are allowed only in their own anyOf', () => {
    const both = [{ type: 'integer' }, { type: 'string' }];
    const either = { 'x-kubernetes-int-or-string': true };
    assert.equal(ofField({ ...either, oneOf: [{ anyOf: both }] }).length, 2);
    assert.equal(ofField({ ...either, allOf: [{ maxLength: 3 }, { anyOf: both }] }).length, 2);
  });

  test('defaults and rules of a schema that is not structural are not checked', () => {
    const rule = { rule: 'self.nothing' };
    const wrong = { type: 'integer', default: 'x', 'x-kubernetes-validations': [rule] };
    assert.equal(ofField(wrong).length, 1);
    const schema = { type: 'object', properties: { a: wrong, b: {} } };
    assert.deepEqual(problems(schema), [
      'S.properties[b].type: Required value: must not be empty for specified object fields',
    ]);
  });

  test('an unreadable keyword is reported where no other errors are', () => {
    assert.deepEqual(ofField({ type: 'string', $schema: 'x' }), [
      'S: Invalid value: "": OpenAPIV3Schema \'schema\' is not supported',
    ]);
    assert.deepEqual(ofField({ type: 'string', id: 'x', pattern: '(' }), [
      'S.properties[a].id: Forbidden: id is not supported',
    ]);
  });

  test('a default is validated with its whole schema', () => {
    const field = 'S.properties[a].default';
    for (const [a, problem] of [
      [{ type: 'integer', default: 'x' }, `${field}: Invalid value: "string":  in body must be of`],
      [{ type: 'object', default: { b: 1 } }, `${field}: Invalid value: {"b":1}: must not have`],
      [
        { type: 'array', default: [1], items: { type: 'string' } },
        `${field}.[0]: Invalid value: "integer": [0] in body`,
      ],
    ] as const)
      assert.ok(ofField(a)[0]?.startsWith(problem), JSON.stringify(ofField(a)));
  });
});
