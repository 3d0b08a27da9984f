import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#util/json.ts';
import {
  dropNulls,
  fillDefaults,
  pruneObject,
  type StructuralSchema,
} from './structural-schema.ts';
import { validateLists } from './validate-lists.ts';
import { validateValue } from './validate-value.ts';

const text: StructuralSchema = { type: 'string' };

function spec(properties: Record<string, StructuralSchema>): StructuralSchema {
  return { type: 'object', properties: { spec: { type: 'object', properties } } };
}

describe('sandbox/schema/prune', () => {
  const schema = spec({
    a: text,
    list: { type: 'array', items: { type: 'object', properties: { a: text } } },
    map: { type: 'object', additionalProperties: { type: 'object', properties: { a: text } } },
    free: {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      properties: { strict: { type: 'object', properties: { a: text } } },
    },
  });

  test('removes unknown fields and reports their paths', () => {
    const object = {
      apiVersion: 'v1',
      kind: 'X',
      metadata: { name: 'x' },
      extra: 1,
      spec: {
        a: 'x',
        b: 'y',
        list: [{ a: '1', z: 1 }],
        map: { k: { a: '1', z: 1 } },
        free: { any: { deep: 1 }, strict: { a: '1', z: 1 } },
      },
    };
    const { object: pruned, unknownFields } = pruneObject(schema, object);
    assert.deepEqual(pruned, {
      apiVersion: 'v1',
      kind: 'X',
      metadata: { name: 'x' },
      spec: {
        a: 'x',
        list: [{ a: '1' }],
        map: { k: { a: '1' } },
        free: { any: { deep: 1 }, strict: { a: '1' } },
      },
    });
    assert.deepEqual(unknownFields, [
      'extra',
      'spec.b',
      'spec.free.strict.z',
      'spec.list[0].z',
      'spec.map.k.z',
    ]);
  });

  test('keeps nulls that are allowed, that a default replaces, or that are not checked', () => {
    const nulls = spec({
      plain: text,
      nullable: { ...text, nullable: true },
      filled: { ...text, default: 'd' },
    });
    const object = { spec: { plain: null, nullable: null, filled: null } };
    assert.deepEqual(dropNulls(nulls, object), { spec: { nullable: null, filled: null } });
  });
});

describe('sandbox/schema/fill-defaults', () => {
  const schema = spec({
    level: { type: 'integer', default: 3 },
    nested: { type: 'object', properties: { y: { ...text, default: 'why' } } },
    whole: { type: 'object', default: { a: '1' }, properties: { b: { ...text, default: '2' } } },
    items: {
      type: 'array',
      items: { type: 'object', properties: { p: { ...text, default: 'TCP' } } },
    },
  });

  test('fills in missing fields, also in defaults and items, but creates no parents', () => {
    const filled = fillDefaults(schema, { spec: { items: [{}, { p: 'UDP' }] } });
    assert.deepEqual(filled, {
      spec: { level: 3, whole: { a: '1', b: '2' }, items: [{ p: 'TCP' }, { p: 'UDP' }] },
    });
  });

  test('returns the same object when nothing is missing', () => {
    const object = { spec: { level: 1, whole: { b: 'x' }, items: [{ p: 'x' }] } };
    assert.equal(fillDefaults(schema, object), object);
  });
});

describe('sandbox/schema/validate-value', () => {
  const check = (schema: StructuralSchema, value: JsonObject[string]) =>
    validateValue({
      schema: spec({ v: schema }),
      value: { spec: { v: value ?? null } },
      path: '',
      before: undefined,
    }).map(({ field, message }) => `${field}: ${message}`);

  for (const [schema, value, message] of [
    [
      { type: 'integer', maximum: 10 },
      99,
      'spec.v: Invalid value: 99: spec.v in body should be less than or equal to 10',
    ],
    [
      { type: 'integer', minimum: 1, exclusiveMinimum: true },
      1,
      'spec.v: Invalid value: 1: spec.v in body should be greater than 1',
    ],
    [
      { type: 'integer', multipleOf: 3 },
      4,
      'spec.v: Invalid value: 4: spec.v in body should be a multiple of 3',
    ],
    [text, 5, 'spec.v: Invalid value: "integer": spec.v in body must be of type string: "integer"'],
    [
      { type: 'integer' },
      'x',
      'spec.v: Invalid value: "string": spec.v in body must be of type integer: "string"',
    ],
    [
      { ...text, enum: ['a', 'b'] },
      'z',
      'spec.v: Unsupported value: "z": supported values: "a", "b"',
    ],
    [{ ...text, maxLength: 2 }, 'abc', 'spec.v: Too long: may not be more than 2 bytes'],
    [
      { ...text, pattern: '^a$' },
      'b',
      `spec.v: Invalid value: "b": spec.v in body should match '^a$'`,
    ],
    [{ type: 'array', maxItems: 1 }, [1, 2], 'spec.v: Too many: 2: must have at most 1 item'],
    [{ type: 'object', required: ['a'] }, {}, 'spec.v.a: Required value'],
    [
      { ...text, format: 'date-time' },
      'x',
      'spec.v: Invalid value: "x": spec.v in body must be of type date-time: "x"',
    ],
  ] as const) {
    test(message, () => assert.deepEqual(check(schema, value), [message]));
  }

  for (const [schema, value] of [
    [{ type: 'number' }, 1],
    [{ ...text, nullable: true }, null],
    [{ 'x-kubernetes-int-or-string': true }, '50%'],
    [{ ...text, format: 'unheard-of' }, 'x'],
    [{ ...text, pattern: '(?P<name>x)' }, 'y'],
    [{ anyOf: [{ ...text }, { type: 'integer' }] }, 1],
  ] as const) {
    test(`${JSON.stringify(value)} is valid for ${JSON.stringify(schema)}`, () => {
      assert.deepEqual(check(schema, value), []);
    });
  }

  test('an unchanged invalid value is not rejected', () => {
    const schema = spec({ a: { ...text, maxLength: 1 }, b: { ...text, maxLength: 1 } });
    const before = { spec: { a: 'long', b: 'x' } };
    const at = { schema, path: '', before };
    assert.deepEqual(validateValue({ ...at, value: { spec: { a: 'long', b: 'y' } } }), []);
    const errors = validateValue({ ...at, value: { spec: { a: 'longer', b: 'y' } } });
    assert.deepEqual(
      errors.map(({ field }) => field),
      ['spec.a'],
    );
  });

  test('sets and list maps reject duplicates', () => {
    const schema = spec({
      set: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
      map: {
        type: 'array',
        items: { type: 'object' },
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['a', 'b'],
      },
    });
    const value = {
      spec: {
        set: ['x', 'y', 'x', 'x'],
        map: [
          { a: 1, b: 2 },
          { b: 2, a: 1, c: 3 },
        ],
      },
    };
    assert.deepEqual(
      validateLists(schema, value).map(({ field, message }) => `${field}: ${message}`),
      ['spec.set[2]: Duplicate value: "x"', 'spec.map[1]: Duplicate value: {"a":1,"b":2}'],
    );
  });
});
