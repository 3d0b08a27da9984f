import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { StructuralSchema } from '../schema/structural-schema.ts';
import { createCelEnvironment } from './cel-environment.ts';
import { checkRule } from './check-rule.ts';

const schema: StructuralSchema = {
  type: 'object',
  properties: {
    size: { type: 'integer' },
    name: { type: 'string' },
    'a-b': { type: 'boolean' },
    port: { 'x-kubernetes-int-or-string': true },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    items: { type: 'array', items: { type: 'string' } },
  },
};
const environment = createCelEnvironment();

function problemOf(rule: string, isRoot = false) {
  return checkRule(environment, { rule }, { schema, isRoot }).problem;
}

describe('sandbox/cel/check-rule', () => {
  for (const rule of [
    'self.size > 1 && self.name != ""',
    'self.a__dash__b',
    'has(self.size) ? self.size > 1 : true',
    'self.items.all(x, x != self.name)',
    'self.items.all(i, x, i > 0 || x != "")',
    'self.items.map(x, x.size() > 1, x).size() > 0',
    'cel.bind(n, self.size, n > 1)',
    'self.labels.any == "x" && self.free.any == 1',
    'self.items.exists(x, self.items.exists_one(y, x == y))',
    'type(self.size) == int',
    'oldSelf.size <= self.size',
    'oldSelf.hasValue() || optional.of(1).hasValue()',
    'ip(self.name).family() == 4 && url(self.name).getHost() != ""',
    'self.port.size() > 1',
  ])
    test(`${rule} is accepted`, () => assert.equal(problemOf(rule), undefined));

  for (const [rule, problem] of [
    ['self.siez > 1', /^compilation failed: ERROR: <input>:1:5: undefined field 'siez'\n \| self/],
    ['self.items.all(x, x == it)', /undeclared reference to 'it' \(in container ''\)/],
    ['self.items.all(x, true) && x == ""', /undeclared reference to 'x'/],
    ['self.name.more == 1', /type 'string' does not support field selection/],
    ['self.size', /^cel expression must evaluate to a bool$/],
    ['self.size +', /^compilation failed: .*Syntax error/],
    ['self.metadata.name == "x"', /undefined field 'metadata'/],
  ] as const)
    test(`${rule} is rejected`, () => assert.match(problemOf(rule) ?? '', problem));

  test('an object has metadata fields at the root', () => {
    assert.equal(problemOf('self.metadata.name == self.kind', true), undefined);
  });

  test('a message must be a string', () => {
    const reported = (messageExpression: string) =>
      checkRule(environment, { rule: 'true', messageExpression }, { schema, isRoot: false });
    assert.equal(reported("'x' + self.name").messageProblem, undefined);
    assert.equal(reported('self.name').messageProblem, undefined);
    assert.match(reported('self.size').messageProblem ?? '', /must evaluate to a string/);
  });

  test('reports whether a rule uses the old value', () => {
    const uses = (rule: string) =>
      checkRule(environment, { rule }, { schema, isRoot: false }).usesOldSelf;
    assert.deepEqual(['self == oldSelf', 'self.size > 1'].map(uses), [true, false]);
  });
});
