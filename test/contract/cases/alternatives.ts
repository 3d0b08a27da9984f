import type { JsonObject } from '#util/json.ts';
import type { ContractCase } from '../driver/index.ts';
import { crd, crds, gadget, gadgets } from './gadgets.ts';
import { post } from './requests.ts';

const whole = { type: 'integer' };
const pair = { type: 'object', properties: { a: whole, b: whole } };
const fields = {
  any: { ...whole, anyOf: [{ maximum: 3 }, { minimum: 20 }] },
  either: { ...pair, oneOf: [{ required: ['a'] }, { required: ['b'] }] },
  one: { ...whole, oneOf: [{ minimum: 3, maximum: 5 }, { multipleOf: 2 }] },
  all: { ...whole, allOf: [{ maximum: 5 }, { multipleOf: 2 }] },
  both: { ...pair, allOf: [{ required: ['a'] }, { properties: { b: { maximum: 3 } } }] },
  not: { ...whole, not: { enum: [9] } },
  text: { type: 'string', anyOf: [{ pattern: '^a' }, { maxLength: 2 }] },
  list: { type: 'array', items: { ...whole, anyOf: [{ maximum: 3 }, { minimum: 20 }] } },
  few: { type: 'array', maxItems: 1, items: whole },
  fewKeys: { type: 'object', maxProperties: 1, additionalProperties: whole },
  short: { type: 'string', maxLength: 1 },
};

const good: readonly JsonObject[] = [
  {
    any: 2,
    either: { a: 1 },
    one: 6,
    all: 4,
    both: { a: 1, b: 2 },
    not: 8,
    text: 'b',
    list: [1, 20],
  },
  { any: 21, either: { b: 1 }, one: 3, text: 'abc', few: [1], fewKeys: { a: 1 }, short: 'x' },
];
const bad: readonly JsonObject[] = [
  { any: 8 },
  { either: {} },
  { either: { a: 1, b: 1 } },
  { one: 7 },
  { one: 4 },
  { all: 7 },
  { all: 6 },
  { all: 3 },
  { both: { b: 9 } },
  { both: { a: 1, b: 9 } },
  { not: 9 },
  { text: 'bcd' },
  { list: [1, 8] },
  { few: [1, 2] },
  { fewKeys: { a: 1, b: 2 } },
  { short: 'xy' },
  { any: 8, one: 7, short: 'xy' },
];

/** Schemas that say what else a value must be. */
export const alternatives: readonly ContractCase[] = [
  {
    name: 'of alternatives one must hold, of others all, of some none; all causes are reported',
    ranked: [42],
    steps: [
      post(
        crds,
        crd({
          schema: {
            type: 'object',
            properties: { spec: { type: 'object', properties: fields } },
          },
        }),
        { status: 201 },
      ),
      { until: gadgets, expect: { status: 200 } },
      ...good.map((spec, index) =>
        post(
          gadgets,
          { ...gadget(spec), metadata: { name: `good-${index}` } },
          { status: 201, body: { spec } },
        ),
      ),
      ...bad.map((spec) => post(gadgets, gadget(spec), { status: 422 })),
    ],
  },
  {
    name: 'a rejection says also what was dropped before',
    ranked: [41],
    steps: [
      post(crds, crd({ schema: { type: 'object', properties: { spec: pair } } }), { status: 201 }),
      { until: gadgets, expect: { status: 200 } },
      post(gadgets, gadget({ a: 'x', nope: 1 }), { status: 422 }),
      post(
        '/api/v1/namespaces/$(ns)/configmaps',
        { metadata: { name: 'A_' }, nope: 1 },
        { status: 422 },
      ),
      post(gadgets, gadget({ a: 1 }), { status: 201 }),
      post(gadgets, gadget({ a: 1, nope: 1 }), { status: 409 }),
      {
        method: 'PATCH',
        path: `${gadgets}/x`,
        body: { spec: { a: 'x', nope: 1 } },
        headers: { 'content-type': 'application/merge-patch+json' },
        expect: { status: 422 },
      },
    ],
  },
];
