import { testSchemaChanges } from '../../../../test/support/crd/schema-changes.ts';

testSchemaChanges({
  logic: [
    ['{ type: string, allOf: [{ maxLength: 3 }] }', '{ type: string, allOf: [{ maxLength: 4 }] }'],
    ['{ type: string, allOf: [{ maxLength: 3 }] }', 'type: string'],
    [
      '{ type: string, allOf: [{ maxLength: 3 }] }',
      '{ type: string, allOf: [{ maxLength: 3 }, { pattern: a }] }',
      /gets a new condition in "allOf"/,
    ],
    [
      '{ type: string, allOf: [{ maxLength: 3 }] }',
      '{ type: string, allOf: [{ maxLength: 2 }] }',
      /gets a new condition in "allOf"/,
    ],
    [
      'type: string',
      '{ type: string, allOf: [{ maxLength: 3 }] }',
      /gets a new condition in "allOf"/,
    ],
    [
      '{ type: string, anyOf: [{ pattern: a }] }',
      '{ type: string, anyOf: [{ pattern: b }, { pattern: a }] }',
    ],
    ['{ type: string, anyOf: [{ pattern: a }] }', 'type: string'],
    [
      '{ type: string, anyOf: [{ pattern: a }, { pattern: b }] }',
      '{ type: string, anyOf: [{ pattern: b }] }',
      /branch 1 of "anyOf"/,
    ],
    ['type: string', '{ type: string, anyOf: [{ pattern: b }] }', /gets "anyOf"/],
    [
      '{ type: object, anyOf: [{ required: [a] }] }',
      '{ type: object, anyOf: [{ required: [a] }, { required: [b] }] }',
    ],
    ['{ type: string, oneOf: [{ pattern: a }] }', 'type: string'],
    [
      '{ type: string, oneOf: [{ pattern: a, description: x }] }',
      '{ type: string, oneOf: [{ pattern: a }] }',
    ],
    [
      '{ type: string, oneOf: [{ pattern: a }] }',
      '{ type: string, oneOf: [{ pattern: a }, { pattern: b }] }',
      /changes "oneOf"/,
    ],
    [
      '{ type: string, oneOf: [{ maxLength: 2 }] }',
      '{ type: string, oneOf: [{ maxLength: 3 }] }',
      /changes "oneOf"/,
    ],
    ['type: string', '{ type: string, oneOf: [{ pattern: a }] }', /gets "oneOf"/],
    ['{ type: string, not: { pattern: a } }', 'type: string'],
    [
      '{ type: string, not: { pattern: a } }',
      '{ type: string, not: { pattern: b } }',
      /changes "not"/,
    ],
    ['type: string', '{ type: string, not: { pattern: b } }', /gets "not"/],
    [
      '{ type: object, allOf: [{ properties: { a: { maxLength: 1 } } }] }',
      '{ type: object, allOf: [{ properties: { a: { maxLength: 2 } } }] }',
    ],
    [
      '{ type: object, allOf: [{ properties: { a: { maxLength: 1 } } }] }',
      '{ type: object, allOf: [{ properties: { a: { maxLength: 1 }, b: { maxLength: 1 } } }] }',
      /allOf/,
    ],
    [
      '{ type: object, allOf: [{ properties: { a: { maxLength: 1 }, b: { maxLength: 1 } } }] }',
      '{ type: object, allOf: [{ properties: { a: { maxLength: 1 } } }] }',
    ],
    [
      '{ type: array, items: { type: string }, allOf: [{ items: { maxLength: 1 } }] }',
      '{ type: array, items: { type: string }, allOf: [{ maxItems: 4 }] }',
      /allOf/,
    ],
    [
      '{ type: array, items: { type: string }, allOf: [{ items: { maxLength: 1 }, maxItems: 4 }] }',
      '{ type: array, items: { type: string }, allOf: [{ maxItems: 4 }] }',
    ],
  ],
});
