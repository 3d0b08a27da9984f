import type { Json, JsonObject } from '#util/json.ts';
import type { ContractCase } from '../driver/index.ts';
import { crd, crds } from './gadgets.ts';
import { post } from './requests.ts';

const listType = 'x-kubernetes-list-type';
const mapKeys = 'x-kubernetes-list-map-keys';
const mapType = 'x-kubernetes-map-type';
const validations = 'x-kubernetes-validations';
const preserve = 'x-kubernetes-preserve-unknown-fields';
const text = { type: 'string' };
const numbers = { type: 'integer' };

function rejected(name: string, a: JsonObject, differs?: Record<string, string>): ContractCase {
  const schema = { type: 'object', properties: { a } };
  const expect = { status: 422, ...(differs === undefined ? {} : { differs }) };
  return {
    name: `a schema with ${name} is rejected`,
    steps: [post(crds, crd({ schema }), expect)],
  };
}

function taken(name: string, a: JsonObject): ContractCase {
  const schema = { type: 'object', properties: { a } };
  const steps = [post(crds, crd({ schema }), { status: 201 })];
  return { name: `a schema with ${name} is taken`, steps };
}

/** A list map of objects with the keys `k` (a text, required), `n` and `o`. */
function listMap(keys: readonly string[], k: JsonObject, more: JsonObject = {}): JsonObject {
  const items = {
    type: 'object',
    required: ['k'],
    properties: { k, n: numbers, o: { type: 'object' } },
    ...more,
  };
  return { type: 'array', [listType]: 'map', [mapKeys]: [...keys], items };
}

const lists: readonly ContractCase[] = [
  rejected('a list type of a text', { type: 'string', [listType]: 'set' }),
  rejected('a list type without a type', { [preserve]: true, [listType]: 'atomic' }),
  rejected('an unknown list type', { type: 'array', items: text, [listType]: 'bag' }),
  rejected('keys without a list type', { type: 'array', items: text, [mapKeys]: ['a'] }),
  rejected('keys of a set', { type: 'array', items: text, [listType]: 'set', [mapKeys]: ['a'] }),
  rejected('a list map of texts', { ...listMap(['k'], text), items: text }),
  rejected('a list map without items', {
    type: 'array',
    [listType]: 'map',
    [mapKeys]: ['k'],
  }),
  rejected('a list map with a key twice', listMap(['k', 'k'], text)),
  rejected(
    'a list map whose key is an object',
    listMap(['k', 'o'], text, { required: ['k', 'o'] }),
  ),
  rejected('a list map whose key may be null', listMap(['k'], { ...text, nullable: true })),
  rejected('a list map of items that may be null', listMap(['k'], text, { nullable: true })),
  rejected('a list map with two keys that may be missing', listMap(['n', 'q'], text)),
  rejected('a set of nulls', {
    type: 'array',
    [listType]: 'set',
    items: { type: 'string', nullable: true },
  }),
  rejected('a set of lists that are sets', {
    type: 'array',
    [listType]: 'set',
    items: { type: 'array', items: text, [listType]: 'set' },
  }),
  rejected('a set of objects', {
    type: 'array',
    [listType]: 'set',
    items: { type: 'object', properties: { b: text } },
  }),
  taken('a set of atomic objects', {
    type: 'array',
    [listType]: 'set',
    items: { type: 'object', [mapType]: 'atomic', properties: { b: text } },
  }),
  taken(
    'a list map whose key has a default',
    listMap(['k', 'n'], text, {
      properties: { k: text, n: { type: 'integer', default: 1 } },
    }),
  ),
  rejected('a map type of a list', { type: 'array', items: text, [mapType]: 'atomic' }),
  rejected('a map type without a type', { [preserve]: true, [mapType]: 'atomic' }),
  rejected('an unknown map type', { type: 'object', [mapType]: 'loose' }),
];

function rejectedDefault(name: string, value: Json, schema: JsonObject): ContractCase {
  return rejected(`a default that ${name}`, { ...schema, default: value });
}

const defaults: readonly ContractCase[] = [
  rejectedDefault('has another type', 'x', numbers),
  rejectedDefault('is a number where a text is', 1, text),
  rejectedDefault('is a fraction', 1.5, numbers),
  rejectedDefault('is not in the enum', 'c', { type: 'string', enum: ['a', 'b'] }),
  rejectedDefault('does not match', 'A', { type: 'string', pattern: '^[a-z]+$' }),
  rejectedDefault('is too small', 0, { type: 'integer', minimum: 1 }),
  rejectedDefault('is too long', 'abcd', { type: 'string', maxLength: 3 }),
  rejectedDefault('has another format', 'yesterday', { type: 'string', format: 'date-time' }),
  rejectedDefault(
    'lacks a field',
    {},
    {
      type: 'object',
      required: ['b'],
      properties: { b: text },
    },
  ),
  rejectedDefault('has a field too many', { c: 1 }, { type: 'object', properties: { b: text } }),
  rejectedDefault('has a mistake inside', [{ b: 1 }], {
    type: 'array',
    items: { type: 'object', properties: { b: text } },
  }),
  rejectedDefault('has too few items', [], { type: 'array', minItems: 1, items: text }),
  rejectedDefault('breaks a rule', 3, {
    type: 'integer',
    [validations]: [{ rule: 'self < 3', message: 'must be small' }],
  }),
  taken('a default that is neither an integer nor a string', {
    'x-kubernetes-int-or-string': true,
    default: true,
  }),
  rejectedDefault(
    'is a resource without a kind',
    { spec: 1 },
    {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      [preserve]: true,
    },
  ),
  rejected('a wrong default within items', {
    type: 'array',
    items: { type: 'object', properties: { b: { type: 'boolean', default: 'yes' } } },
  }),
  taken('a null default of what is nullable', { type: 'string', nullable: true, default: null }),
  taken('a null default of what is not nullable', { type: 'string', default: null }),
  taken('a default with fields that are preserved', {
    type: 'object',
    [preserve]: true,
    default: { anything: 1 },
  }),
  rejected('a default below additional properties that does not fit', {
    type: 'object',
    default: { x: { b: 1 } },
    additionalProperties: { type: 'object', properties: { b: text } },
  }),
];

function rejectedRule(
  name: string,
  rule: JsonObject,
  differs?: Record<string, string>,
): ContractCase {
  const a = { type: 'object', properties: { b: text }, [validations]: [rule] };
  return rejected(`a rule ${name}`, a, differs);
}

const worded = {
  message: 'wording of the CEL compiler',
  'details.causes': 'wording of the CEL compiler',
};

const rules: readonly ContractCase[] = [
  rejectedRule('that is empty', { rule: ' ' }),
  rejectedRule('whose message is blank', { rule: 'true', message: ' ' }),
  rejectedRule('whose message has two lines', { rule: 'true', message: 'a\nb' }),
  rejectedRule('of two lines without a message', { rule: 'true &&\ntrue' }),
  rejectedRule('whose message expression is blank', { rule: 'true', messageExpression: ' ' }),
  rejectedRule('with an unknown reason', { rule: 'true', reason: 'FieldValueSilly' }),
  rejectedRule('whose field path is blank', { rule: 'true', fieldPath: ' ' }),
  rejectedRule('whose field path has two lines', { rule: 'true', fieldPath: '.b\n' }),
  rejectedRule('whose field path leads nowhere', { rule: 'true', fieldPath: '.c' }),
  rejectedRule('whose field path begins without a dot', { rule: 'true', fieldPath: 'b' }),
  rejectedRule('with an old value that need not be there and is not asked for', {
    rule: 'true',
    optionalOldSelf: true,
  }),
  rejectedRule('that is no expression', { rule: 'self.b ==' }, worded),
  rejectedRule('with a bracket too many', { rule: 'size(self.b)) > 1' }, worded),
  rejectedRule('that gives a text', { rule: 'self.b' }),
  rejectedRule('about a field that is not there', { rule: "self.c == 'x'" }),
  rejectedRule('about a field of a text', { rule: "self.b.c == 'x'" }),
  rejectedRule('about a variable that is not there', { rule: "it.b == 'x'" }),
  rejectedRule(
    'whose message expression is none',
    { rule: 'true', messageExpression: 'self.(' },
    worded,
  ),
  rejectedRule('whose message expression is a number', { rule: 'true', messageExpression: '1' }),
  rejected('a rule about the old value of a list item', {
    type: 'array',
    maxItems: 5,
    items: { type: 'string', maxLength: 5, [validations]: [{ rule: 'self == oldSelf' }] },
  }),
  rejected('a rule about the old value in a set', {
    type: 'array',
    maxItems: 5,
    [listType]: 'set',
    items: { type: 'string', maxLength: 5, [validations]: [{ rule: 'self == oldSelf' }] },
  }),
  taken('a rule about the old value within an atomic map', {
    type: 'object',
    [mapType]: 'atomic',
    properties: {
      b: { type: 'string', maxLength: 5, [validations]: [{ rule: 'self == oldSelf' }] },
    },
  }),
  taken('a rule about the old value in a list map', {
    type: 'array',
    maxItems: 5,
    [listType]: 'map',
    [mapKeys]: ['k'],
    items: {
      type: 'object',
      required: ['k'],
      properties: {
        k: { type: 'string', maxLength: 5 },
        v: { type: 'string', maxLength: 5, [validations]: [{ rule: 'self == oldSelf' }] },
      },
    },
  }),
];

export const structuralValues: readonly ContractCase[] = [...lists, ...defaults, ...rules];
