import type { JsonObject } from '#util/json.ts';
import type { ContractCase } from '../driver/index.ts';
import { type CrdOptions, crd, crds } from './gadgets.ts';
import { post } from './requests.ts';

const preserve = 'x-kubernetes-preserve-unknown-fields';
const embedded = 'x-kubernetes-embedded-resource';
const either = 'x-kubernetes-int-or-string';
const text = { type: 'string' };
const bothTypes = [{ type: 'integer' }, { type: 'string' }];

function rejected(name: string, options: CrdOptions): ContractCase {
  const steps = [post(crds, crd(options), { status: 422 })];
  return { name: `a schema with ${name} is rejected`, steps };
}

/** The fields of the root. */
function rejectedFields(name: string, properties: JsonObject): ContractCase {
  return rejected(name, { schema: { type: 'object', properties } });
}

/** One field. */
function rejectedField(name: string, a: JsonObject): ContractCase {
  return rejectedFields(name, { a });
}

function rejectedRoot(name: string, more: JsonObject): ContractCase {
  return rejected(name, { schema: { type: 'object', properties: { a: text }, ...more } });
}

/** An object with the field `b`, and something that is said of it. */
function holder(more: JsonObject): JsonObject {
  return { type: 'object', properties: { b: text }, ...more };
}

function taken(name: string, properties: JsonObject): ContractCase {
  const schema = { type: 'object', properties };
  return {
    name: `a schema with ${name} is taken`,
    steps: [post(crds, crd({ schema }), { status: 201 })],
  };
}

/** Where types must stand, and what belongs together. */
const structure: readonly ContractCase[] = [
  rejectedField('items without a type', { type: 'array', items: { maxLength: 3 } }),
  rejectedField('additional properties without a type', {
    type: 'object',
    additionalProperties: {},
  }),
  rejectedRoot('additional properties at the root', {
    properties: {},
    additionalProperties: { type: 'string' },
  }),
  rejectedRoot('all additional properties at the root', { additionalProperties: true }),
  rejectedRoot('null as its root', { nullable: true }),
  rejectedField('null as a type', { type: 'null' }),
  rejectedField('additional properties that are none beside properties', {
    type: 'object',
    properties: { b: text },
    additionalProperties: false,
  }),
  rejectedField('unknown fields that are not preserved', { type: 'object', [preserve]: false }),
  rejectedField('a pattern that is none', { type: 'string', pattern: '(' }),
  rejectedField('a pattern that looks ahead', { type: 'string', pattern: '^(?!a)' }),
  rejectedField('a pattern that refers back', { type: 'string', pattern: '(a)\\1' }),
  rejectedField('a pattern that is none within allOf', {
    type: 'string',
    allOf: [{ pattern: 'a{3,1}' }],
  }),
  taken('a pattern with what only RE2 has', {
    a: { type: 'string', pattern: '(?i)^[[:alpha:]]+\\z' },
  }),
  taken('numbers twice in an enum and a field twice in required', {
    a: { type: 'integer', enum: [1, 1] },
    b: { type: 'object', properties: { c: text }, required: ['c', 'c', 'd'] },
  }),
];

const keywords: readonly ContractCase[] = (
  [
    ['id', { id: 'x' }],
    ['a reference', { $ref: '#/definitions/x' }],
    ['additional items', { type: 'array', additionalItems: true, items: text }],
    ['properties by pattern', { patternProperties: { a: text } }],
    ['definitions', { definitions: { x: text } }],
    ['dependencies', { dependencies: { b: ['c'] } }],
    ['a list of items', { type: 'array', items: [text, text] }],
  ] as const
).map(([name, more]) => rejectedField(name, { type: 'object', ...more }));

const heads: readonly ContractCase[] = [
  rejectedFields('rules of metadata', {
    metadata: { type: 'object', properties: { labels: { type: 'object' } } },
  }),
  rejectedFields('a description of metadata', { metadata: { type: 'object', description: 'x' } }),
  rejectedFields('metadata that is a text', { metadata: { type: 'string' } }),
  rejectedFields('a kind that is a number', { kind: { type: 'integer' } }),
  rejectedFields('an apiVersion that is an object', { apiVersion: { type: 'object' } }),
  rejectedFields('a default kind', { kind: { type: 'string', default: 'A' } }),
  rejectedFields('a default name', {
    metadata: { type: 'object', properties: { name: { type: 'string', default: 'a' } } },
  }),
  rejectedFields('a default of metadata', { metadata: { type: 'object', default: {} } }),
  taken('rules of name and generateName', {
    metadata: {
      type: 'object',
      properties: { name: { type: 'string', maxLength: 8 }, generateName: text },
    },
    kind: text,
    apiVersion: text,
  }),
  rejectedField('an embedded resource without a type', { [embedded]: true, [preserve]: true }),
  rejectedField('an embedded resource that is a list', {
    type: 'array',
    items: text,
    [embedded]: true,
  }),
  rejectedField('an embedded resource without fields', { type: 'object', [embedded]: true }),
  rejectedField('an embedded resource with additional properties', {
    type: 'object',
    [embedded]: true,
    additionalProperties: text,
  }),
  rejectedField('an embedded resource whose kind is a number', {
    type: 'object',
    [embedded]: true,
    properties: { kind: { type: 'integer' }, metadata: text },
  }),
  rejectedFields('an embedded resource as metadata', {
    metadata: { type: 'object', [embedded]: true, [preserve]: true },
  }),
  taken('an embedded resource with rules of its metadata', {
    a: {
      type: 'object',
      [embedded]: true,
      properties: { metadata: { type: 'object', properties: { labels: { type: 'object' } } } },
    },
  }),
  rejectedField('an integer or a string that preserves fields', {
    [either]: true,
    [preserve]: true,
  }),
  rejectedField('an integer or a string that is a resource', { [either]: true, [embedded]: true }),
  taken('an integer or a string in both spellings', {
    a: { [either]: true, anyOf: bothTypes },
    b: { [either]: true, allOf: [{ anyOf: bothTypes }, { pattern: '^a' }] },
  }),
  rejectedField('an integer or a string in another spelling', {
    [either]: true,
    anyOf: [...bothTypes].reverse(),
  }),
];

/** What allOf, anyOf, oneOf and not may not say. */
const nested: readonly ContractCase[] = [
  ...(
    [
      ['a type', { type: 'object' }],
      ['a default', { default: 'x' }],
      ['a title', { title: 'x' }],
      ['a description', { description: 'x' }],
      ['null', { nullable: true }],
      ['additional properties', { additionalProperties: { maxLength: 1 } }],
      ['preserved fields', { [preserve]: true }],
      ['a resource', { [embedded]: true }],
      ['a list type', { 'x-kubernetes-list-type': 'set' }],
      ['a map type', { 'x-kubernetes-map-type': 'atomic' }],
      ['keys of a list', { 'x-kubernetes-list-map-keys': ['b'] }],
      ['a rule', { 'x-kubernetes-validations': [{ rule: 'true' }] }],
    ] as const
  ).map(([name, part]) => rejectedField(`${name} inside allOf`, holder({ allOf: [part] }))),
  rejectedField(
    'a type inside anyOf',
    holder({ anyOf: [{ type: 'object' }, { required: ['b'] }] }),
  ),
  rejectedField('a type inside oneOf', holder({ oneOf: [{ properties: { b: text } }] })),
  rejectedField('a type inside not', holder({ not: { type: 'object' } })),
  rejectedField(
    'a type deep inside',
    holder({ not: { allOf: [{ anyOf: [{ type: 'object' }] }] } }),
  ),
  rejectedField('metadata inside allOf', holder({ allOf: [{ properties: { metadata: {} } }] })),
  rejectedRoot('a field that is only inside oneOf', {
    oneOf: [{ properties: { c: { maxLength: 3 } } }, { required: ['a'] }],
  }),
  rejectedRoot('items that are only inside anyOf', { anyOf: [{ items: { maxLength: 3 } }] }),
  rejectedRoot('a field of a field that is only inside not', {
    not: { properties: { a: { properties: { b: { maxLength: 3 } } } } },
  }),
  // Only the root is looked at so closely.
  taken('a field below the root that is only inside oneOf', {
    a: holder({ oneOf: [{ properties: { c: { maxLength: 3 } } }, { required: ['b'] }] }),
  }),
  taken('required fields that are only inside oneOf', {
    a: holder({ oneOf: [{ required: ['b'] }, { required: ['c'] }] }),
  }),
];

/** Several errors are reported at once. */
const several: readonly ContractCase[] = [
  rejectedFields('mistakes in several places', {
    a: {},
    b: { type: 'array' },
    c: { type: 'text' },
    d: { type: 'object', properties: { e: { uniqueItems: true, type: 'array', items: text } } },
  }),
  rejected('a mistake that two versions share', {
    versions: ['v1', 'v2'].map((name) => ({
      name,
      served: true,
      storage: name === 'v1',
      schema: { openAPIV3Schema: { type: 'object', properties: { a: { type: 'text' } } } },
    })),
  }),
  rejected('a mistake in one version of two', {
    versions: ['integer', 'text'].map((type, index) => ({
      name: `v${index + 1}`,
      served: true,
      storage: index === 0,
      schema: { openAPIV3Schema: { type: 'object', properties: { a: { type } } } },
    })),
  }),
];

export const structural: readonly ContractCase[] = [
  ...structure,
  ...keywords,
  ...heads,
  ...nested,
  ...several,
];
