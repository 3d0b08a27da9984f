import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Json } from '#util/json.ts';
import type { StructuralSchema } from '../schema/structural-schema.ts';
import { createCelEnvironment } from './cel-environment.ts';
import { readRules } from './rule-set.ts';

const rule = (text: string) => ({ 'x-kubernetes-validations': [{ rule: text }] });
const schema = {
  type: 'object',
  properties: {
    size: { type: 'integer', ...rule('self < 5') },
    grows: { type: 'integer', ...rule('self > oldSelf') },
    list: { type: 'array', maxItems: 9, items: { type: 'integer', ...rule('self < 5') } },
  },
} as unknown as StructuralSchema;

describe('sandbox/cel/rule-set', () => {
  const rules = readRules(createCelEnvironment(), schema);
  const fieldsOf = (value: Json, before: Json | undefined) => {
    const { errors, tolerated } = rules.check(value, before);
    return [errors, tolerated].map((found) => found.map(({ field }) => field));
  };

  for (const [what, value, before, errors, tolerated] of [
    ['a violation in a new object is rejected', { size: 9 }, undefined, ['size'], []],
    ['a violation that existed before is only reported', { size: 9 }, { size: 9 }, [], ['size']],
    ['a violation in a changed value is rejected', { size: 8 }, { size: 9 }, ['size'], []],
    ['an item stays with its list', { list: [9] }, { list: [9] }, [], ['list[0]']],
    ['an item of another list is new', { list: [9, 1] }, { list: [9] }, ['list[0]'], []],
    ['a transition rule is always evaluated', { grows: 1 }, { grows: 1 }, ['grows'], []],
  ] as const) {
    test(what, () => {
      assert.deepEqual(fieldsOf(value, before), [errors, tolerated]);
    });
  }
});
