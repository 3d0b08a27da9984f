import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { goDecode } from './go-decode.ts';
import { GoTypeBuilder } from './go-type-builder.ts';

const text = { type: 'string' };
const ref = (name: string) => ({ allOf: [{ $ref: `#/components/schemas/${name}` }], default: {} });

const components = {
  Root: {
    type: 'object',
    required: ['needed'],
    properties: {
      needed: { type: 'array', items: text },
      name: text,
      keepsZero: { type: 'integer', format: 'int32' },
      dropsZero: { type: 'integer', format: 'int32' },
      required: { ...text, default: '' },
      protocol: { ...text, default: 'TCP' },
      labels: { type: 'object', additionalProperties: { ...text, default: '' } },
      list: { type: 'array', items: ref('Child') },
      child: ref('Child'),
      bytes: { type: 'string', format: 'byte' },
      time: { $ref: '#/components/schemas/x.meta.v1.Time' },
      micro: { $ref: '#/components/schemas/x.meta.v1.MicroTime' },
      any: { $ref: '#/components/schemas/Any' },
    },
  },
  Child: { type: 'object', properties: { a: text, root: { $ref: '#/components/schemas/Root' } } },
  'x.meta.v1.Time': { type: 'string', format: 'date-time' },
  'x.meta.v1.MicroTime': { type: 'string', format: 'date-time' },
  Any: { type: 'object' },
};
const type = new GoTypeBuilder(components, { Root: ['dropsZero', 'name'] }).component('Root');
const always = { needed: null, required: '', protocol: 'TCP', child: {} };

describe('sandbox/schema/go-decode', () => {
  for (const [sentence, object, written] of [
    ['fields that are always written are there', {}, {}],
    ['a list that is needed is there', { needed: ['a'] }, { needed: ['a'] }],
    [
      'zeros are dropped where Go drops them',
      { keepsZero: 0, dropsZero: 0, name: '' },
      { keepsZero: 0 },
    ],
    ['nulls and empty collections vanish', { name: null, list: [], labels: {} }, {}],
    ['a null in a map of texts is an empty text', { labels: { a: null } }, { labels: { a: '' } }],
    [
      'a null item is the zero of its type',
      { list: [null, { a: 'x' }] },
      { list: [{}, { a: 'x' }] },
    ],
    [
      'an empty text where a default is means the default',
      { protocol: 'UDP' },
      { protocol: 'UDP' },
    ],
    ['line breaks in bytes vanish', { bytes: 'eHh4\nCg==' }, { bytes: 'eHh4Cg==' }],
    [
      'times are in UTC, to the second',
      { time: '2026-01-01T02:00:00.9+02:00' },
      { time: '2026-01-01T00:00:00Z' },
    ],
    [
      'or to the microsecond',
      { micro: '2026-01-01T00:00:00.123456Z' },
      { micro: '2026-01-01T00:00:00.123456Z' },
    ],
    ['what has no type is kept', { any: { x: [null, 0] } }, { any: { x: [null, 0] } }],
  ] as const) {
    test(sentence, () =>
      assert.deepEqual(goDecode(type, object).object, { ...always, ...written }),
    );
  }

  test('unknown fields are dropped and reported', () => {
    const { object, unknownFields } = goDecode(type, { foo: 1, list: [{ bar: 1 }] });
    assert.deepEqual(object, { ...always, list: [{}] });
    assert.deepEqual(unknownFields, ['foo', 'list[0].bar']);
  });

  for (const [object, message] of [
    [{ name: 5 }, 'json: cannot unmarshal number into Go struct field Root.name of type string'],
    [
      { labels: [] },
      'json: cannot unmarshal array into Go struct field Root.labels of type map[string]string',
    ],
    [
      { child: { a: true } },
      'json: cannot unmarshal bool into Go struct field Child.child.a of type string',
    ],
    [
      { keepsZero: 1.5 },
      'json: cannot unmarshal number 1.5 into Go struct field Root.keepsZero of type int32',
    ],
    [{ bytes: '%' }, 'illegal base64 data at input byte 0'],
  ] as const) {
    test(message, () => assert.throws(() => goDecode(type, object), { message }));
  }
});
