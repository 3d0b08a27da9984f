import type { Json, JsonObject } from '#util/json.ts';
import type { ContractCase, ContractStep, Expectation } from '../driver/index.ts';
import { crd, crds, gadget, gadgets, whenServed } from './gadgets.ts';
import { apply, get, jsonPatch, merge, post, put } from './requests.ts';

const x = `${gadgets}/x`;
const text = { type: 'string' };
const whole = { type: 'integer' };
const small = { type: 'integer', maximum: 5 };
const struct = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  ...more,
});
const list = (items: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'array',
  items,
  ...more,
});
const byName = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] };
const sized = (size: JsonObject): JsonObject =>
  struct({ name: text, size, other: whole }, { required: ['name'] });
const stored = { status: 200 };
const rejected = { status: 422 };

interface Tightened {
  readonly name: string;
  /** Fields of the spec at first. */
  readonly loose: JsonObject;
  /** Those that are narrower then. */
  readonly tight?: JsonObject;
  /** More of the schema of the spec, then: what it requires, rules. */
  readonly rules?: JsonObject;
  /** The spec of the object `x`, of the time before. */
  readonly spec: JsonObject;
  readonly status?: JsonObject;
  /** What is asked then. */
  readonly steps: readonly ContractStep[];
}

function versions(schema: JsonObject): Json {
  const named = { name: 'v1', served: true, storage: true, subresources: { status: {} } };
  return [{ ...named, schema: { openAPIV3Schema: schema } }];
}

/** An object is stored, its CRD becomes narrower, and the object is written again. */
function tightened(tightening: Tightened): ContractCase {
  const { name, loose, tight = {}, rules = {}, spec, status = {}, steps } = tightening;
  const before = struct({
    spec: struct({ ...loose, other: whole }),
    status: struct({ level: whole, note: text }),
  });
  // Its default tells which schema is served.
  const served = { served: { ...text, default: 'narrow' } };
  const after = struct({
    spec: struct({ ...loose, ...tight, other: whole, ...served }, rules),
    status: struct({ level: small, note: text }),
  });
  return {
    name,
    ranked: [47],
    steps: [
      post(crds, crd({ versions: versions(before) }), { status: 201 }),
      { until: gadgets, expect: stored },
      post(gadgets, gadget(spec), { status: 201 }),
      merge(`${x}/status`, { status }, stored),
      merge(
        `${crds}/gadgets.$(ns).io`,
        { spec: { versions: versions(after) } },
        { status: 200, differs: whenServed },
      ),
      {
        until: x,
        expect: { status: 200, body: { spec: { ...spec, served: 'narrow' }, status } },
      },
      ...steps,
    ],
  };
}

/** A merge patch of the spec. */
const change = (spec: JsonObject, expect: Expectation) => merge(x, { spec }, expect);
const aside = (spec: JsonObject): Expectation => ({ status: 200, body: { spec } });

/** A value that was stored when it was allowed stays while it does not change; no such value comes anew. */
export const ratchets: readonly ContractCase[] = [
  tightened({
    name: 'a number that is too large now stays while others change, and does not come back',
    loose: { size: whole },
    tight: { size: small },
    spec: { size: 9, other: 1 },
    steps: [
      change({ other: 2 }, aside({ size: 9, other: 2 })),
      merge(x, { metadata: { labels: { a: 'b' } } }, stored),
      change({ size: 8 }, { status: 422, message: /spec\.size: Invalid value: 8/ }),
      change({ size: 9, other: 3 }, aside({ size: 9, other: 3 })),
      post(gadgets, { ...gadget({ size: 9 }), metadata: { name: 'new' } }, rejected),
      change({ size: 5 }, aside({ size: 5 })),
      change({ size: 9 }, rejected),
    ],
  }),
  tightened({
    name: 'a stored value stays by whatever means the object is written',
    loose: { size: whole },
    tight: { size: small },
    spec: { size: 9, other: 1 },
    steps: [
      get(x, stored, { save: { rv: 'metadata.resourceVersion' } }),
      put(
        x,
        { ...gadget({ size: 9, other: 2 }), metadata: { name: 'x', resourceVersion: '$(rv)' } },
        aside({ size: 9, other: 2 }),
      ),
      jsonPatch(x, [{ op: 'replace', path: '/spec/other', value: 3 }], aside({ size: 9 })),
      jsonPatch(x, [{ op: 'replace', path: '/spec/size', value: 10 }], rejected),
      apply({ to: x, by: 'a', body: gadget({ size: 9, other: 3 }), expect: stored }),
      apply({ to: x, by: 'a', body: gadget({ size: 9, other: 4 }), force: true, expect: stored }),
      apply({ to: x, by: 'a', body: gadget({ size: 7 }), force: true, expect: rejected }),
      apply({
        to: `${gadgets}/y`,
        by: 'a',
        body: { ...gadget({ size: 9 }), metadata: { name: 'y' } },
        expect: rejected,
      }),
    ],
  }),
  tightened({
    name: 'texts, lists of values and formats',
    loose: { word: text, color: text, when: text, long: text, share: { type: 'number' } },
    tight: {
      word: { ...text, pattern: '^[a-z]+$' },
      color: { ...text, enum: ['red'] },
      when: { ...text, format: 'date' },
      long: { ...text, maxLength: 3 },
      share: { type: 'number', multipleOf: 0.5 },
    },
    spec: { word: 'A', color: 'blue', when: 'soon', long: 'endless', share: 0.3 },
    steps: [
      change({ other: 2 }, aside({ word: 'A', color: 'blue', when: 'soon', long: 'endless' })),
      ...Object.entries({
        word: 'B',
        color: 'green',
        when: 'never',
        long: 'endlos',
        share: 0.7,
      }).map(([name, value]) => change({ [name]: value }, rejected)),
      change({ word: 'b', color: 'red', other: 3 }, stored),
      change({ word: 'A' }, rejected),
    ],
  }),
  tightened({
    name: 'a field of another type',
    loose: { size: text },
    tight: { size: whole },
    spec: { size: 'nine', other: 1 },
    steps: [
      apply({
        to: x,
        by: 'a',
        body: gadget({ other: 3 }),
        expect: { status: 500, message: /^failed to create typed live object/ },
      }),
      // There are no owners of fields in what does not fit its schema.
      change({ other: 2 }, { status: 200, owners: {} }),
      apply({
        to: x,
        by: 'a',
        body: gadget({ other: 3 }),
        expect: { status: 500, message: /^failed to create manager for existing fields/ },
      }),
      change({ size: 'ten' }, rejected),
      change({ size: 10 }, stored),
      change({ size: 'nine' }, rejected),
    ],
  }),
  tightened({
    name: 'a struct: what is required now is missed when something beside it changes',
    loose: { inner: struct({ a: whole, b: text }), outer: struct({ inner: struct({ a: whole }) }) },
    tight: {
      inner: struct({ a: small, b: text }, { required: ['b'] }),
      outer: struct({ inner: struct({ a: whole }, { minProperties: 2 }) }),
    },
    spec: { inner: { a: 9 }, outer: { inner: { a: 1 } } },
    steps: [
      change({ other: 2 }, aside({ inner: { a: 9 } })),
      change({ inner: { a: 8 } }, rejected),
      change({ inner: { a: 1 } }, { status: 422, message: /spec\.inner\.b: Required value/ }),
      change({ outer: { inner: { a: 2 } } }, rejected),
      change({ inner: { b: 'x' } }, aside({ inner: { a: 9, b: 'x' } })),
      change({ inner: { b: 'y' } }, aside({ inner: { a: 9, b: 'y' } })),
      change({ inner: { b: null } }, rejected),
    ],
  }),
  tightened({
    name: 'the spec itself: what it requires is missed by every change of it, by others not',
    loose: { size: whole },
    rules: { required: ['size'] },
    spec: { other: 1 },
    steps: [
      merge(x, { metadata: { labels: { a: 'b' } } }, stored),
      merge(`${x}/status`, { status: { note: 'a' } }, stored),
      change({ other: 2 }, { status: 422, message: /spec\.size: Required value/ }),
      change({ other: 2, size: 1 }, stored),
    ],
  }),
  tightened({
    name: 'an item of a list map stays, wherever it stands and whatever else it has',
    loose: { items: list(sized(whole), byName) },
    tight: { items: list(sized(small), { ...byName, maxItems: 3 }) },
    spec: {
      items: [
        { name: 'a', size: 9 },
        { name: 'b', size: 1 },
      ],
    },
    steps: [
      change(
        {
          items: [
            { name: 'a', size: 9 },
            { name: 'b', size: 2 },
          ],
        },
        stored,
      ),
      change(
        {
          items: [
            { name: 'b', size: 2 },
            { name: 'a', size: 9 },
          ],
        },
        stored,
      ),
      change({ items: [{ name: 'c' }, { name: 'a', size: 9, other: 1 }] }, stored),
      change({ items: [{ name: 'c' }, { name: 'a', size: 8 }] }, rejected),
      change(
        {
          items: [
            { name: 'c', size: 9 },
            { name: 'a', size: 9 },
          ],
        },
        rejected,
      ),
      change({ items: ['a', 'b', 'c', 'd'].map((name) => ({ name })) }, rejected),
      change({ items: [{ name: 'c' }] }, stored),
      change({ items: [{ name: 'c' }, { name: 'a', size: 9 }] }, rejected),
    ],
  }),
  tightened({
    name: 'items of other lists have no past: the list stays as a whole',
    loose: {
      sizes: list(whole),
      tags: list(text, { 'x-kubernetes-list-type': 'set' }),
      few: list(whole),
    },
    tight: {
      sizes: list(small),
      tags: list({ ...text, maxLength: 1 }, { 'x-kubernetes-list-type': 'set' }),
      few: list(whole, { maxItems: 1 }),
    },
    spec: { sizes: [9, 1], tags: ['long', 'b'], few: [1, 2] },
    steps: [
      change({ other: 2 }, stored),
      change({ sizes: [9, 1], tags: ['long', 'b'], other: 3 }, stored),
      change({ sizes: [9, 2] }, rejected),
      change({ sizes: [9, 1, 1] }, rejected),
      change({ sizes: [9] }, rejected),
      change({ tags: ['long', 'c'] }, rejected),
      change({ tags: ['b', 'long'] }, rejected),
      change({ few: [2, 1] }, rejected),
      change({ few: [1] }, stored),
      change({ sizes: [1], tags: ['c'] }, stored),
    ],
  }),
  tightened({
    name: 'a value of a map stays under its key',
    loose: { sizes: struct({}, { additionalProperties: whole }) },
    tight: { sizes: struct({}, { additionalProperties: small, maxProperties: 3 }) },
    spec: { sizes: { a: 9, b: 1 } },
    steps: [
      change({ sizes: { b: 2 } }, aside({ sizes: { a: 9, b: 2 } })),
      change({ sizes: { c: 1 } }, aside({ sizes: { a: 9, b: 2, c: 1 } })),
      change({ sizes: { b: 9 } }, rejected),
      change({ sizes: { d: 1 } }, rejected),
      change({ sizes: { a: 8 } }, rejected),
      change({ sizes: { a: null, c: null } }, stored),
      change({ sizes: { a: 9 } }, rejected),
    ],
  }),
  tightened({
    name: 'a list that is a set or a list map now may keep what it has twice',
    loose: { tags: list(text), items: list(sized(whole)) },
    tight: {
      tags: list(text, { 'x-kubernetes-list-type': 'set' }),
      items: list(sized(whole), byName),
    },
    spec: { tags: ['a', 'a'], items: [{ name: 'a' }, { name: 'a', size: 1 }] },
    steps: [
      change({ other: 2 }, stored),
      change({ tags: ['a', 'a', 'b'] }, stored),
      change({ items: [{ name: 'a', size: 2 }, { name: 'a' }, { name: 'a' }] }, stored),
      change({ tags: ['a'], items: [{ name: 'a' }] }, stored),
      change({ tags: ['a', 'a'] }, rejected),
      change({ items: [{ name: 'b' }, { name: 'b' }] }, rejected),
    ],
  }),
  tightened({
    name: 'rules that the stored value breaks',
    loose: { size: whole, inner: struct({ a: whole, b: whole }), sizes: list(whole) },
    tight: {
      sizes: list(
        { ...whole, 'x-kubernetes-validations': [{ rule: 'self < 5' }] },
        { maxItems: 10 },
      ),
      size: { ...whole, 'x-kubernetes-validations': [{ rule: 'self < 5' }] },
      inner: struct(
        { a: whole, b: whole },
        { 'x-kubernetes-validations': [{ rule: '!has(self.a) || self.a < 5', message: 'less' }] },
      ),
    },
    spec: { size: 9, inner: { a: 9, b: 1 }, sizes: [9] },
    steps: [
      change({ other: 2 }, stored),
      change({ size: 8 }, rejected),
      change({ inner: { b: 2 } }, rejected),
      change({ sizes: [9, 1] }, rejected),
      change({ size: 4, other: 3 }, stored),
      change({ inner: { a: 1 }, sizes: [] }, stored),
      change({ inner: { a: 9 } }, rejected),
    ],
  }),
  tightened({
    name: 'rules about the change are asked always, also where nothing changed',
    loose: { size: whole },
    tight: {
      size: { ...whole, 'x-kubernetes-validations': [{ rule: 'self > oldSelf', message: 'grow' }] },
    },
    spec: { size: 9 },
    steps: [
      change({ size: 8 }, { status: 422, message: /grow/ }),
      change({ other: 1 }, { status: 422, message: /grow/ }),
      change({ size: 10, other: 2 }, stored),
      merge(x, { metadata: { labels: { a: 'b' } } }, { status: 422, message: /grow/ }),
    ],
  }),
  tightened({
    name: 'alternatives',
    loose: { size: whole, pick: struct({ a: whole, b: whole }), never: whole },
    tight: {
      size: { ...whole, anyOf: [{ maximum: 3 }, { minimum: 20 }] },
      pick: struct({ a: whole, b: whole }, { oneOf: [{ required: ['a'] }, { required: ['b'] }] }),
      never: { ...whole, not: { enum: [9] } },
    },
    spec: { size: 9, pick: { a: 1, b: 1 }, never: 9 },
    steps: [
      change({ other: 2 }, stored),
      change({ size: 8 }, rejected),
      change({ pick: { a: 2 } }, rejected),
      change({ pick: { a: null } }, stored),
      change({ never: 8 }, stored),
      change({ never: 9 }, rejected),
      change({ size: 2, other: 3 }, stored),
      change({ size: 9 }, rejected),
    ],
  }),
  tightened({
    name: 'the status: what is stored in it stays, what is new is rejected',
    loose: { size: whole },
    tight: { size: small },
    spec: { size: 9 },
    status: { level: 9, note: 'a' },
    steps: [
      merge(
        `${x}/status`,
        { status: { note: 'b' } },
        { status: 200, body: { status: { level: 9 } } },
      ),
      merge(`${x}/status`, { status: { level: 8 } }, { status: 422, message: /status\.level/ }),
      change({ other: 2 }, { status: 200, body: { status: { level: 9, note: 'b' } } }),
      apply({
        to: `${x}/status`,
        by: 'a',
        body: { ...gadget({}), status: { level: 9 } },
        expect: stored,
      }),
      merge(`${x}/status`, { status: { level: 1 } }, stored),
      merge(`${x}/status`, { status: { level: 9 } }, rejected),
    ],
  }),
];
