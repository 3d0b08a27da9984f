import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { followPath } from './field-path.ts';

const schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: { 'a.b': { type: 'string' }, "it's": { type: 'integer' } },
    },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
  },
};

describe('sandbox/crd/schema-rules/field-path', () => {
  for (const [path, steps] of [
    ['.spec', ['spec']],
    [".spec['a.b']", ['spec', 'a.b']],
    [".spec['it\\'s']", ['spec', "it's"]],
    ['.labels.any', ['labels', 'any']],
  ] as const)
    test(`${path} is found`, () => {
      const found = followPath(schema, path, { allowsBrackets: true });
      assert.ok('steps' in found, JSON.stringify(found));
      assert.deepEqual(found.steps, steps);
    });

  for (const [path, problem] of [
    ['spec', 'expected [ or . but got: spec'],
    ['.', 'unexpected end of JSON path'],
    ['.nothing', 'does not refer to a valid field'],
    ['.labels.any.more', 'does not refer to a valid field'],
    ['.spec[a]', 'expected single quoted string but got a'],
    [".spec['a.b'", 'unexpected end of JSON path'],
  ] as const)
    test(`${path} is not found`, () => {
      assert.deepEqual(followPath(schema, path, { allowsBrackets: true }), { problem });
    });

  test('brackets are rejected where they are not allowed', () => {
    const found = followPath(schema, ".spec['a.b']", { allowsBrackets: false });
    assert.deepEqual(found, { problem: 'array notation is not allowed' });
  });
});
