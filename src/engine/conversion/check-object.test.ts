import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { canonicalJson } from '#util/canonical-json.ts';
import type { JsonObject } from '#util/json.ts';
import { sha256Hex } from '#util/sha256.ts';
import { createObjectCheck } from './check-object.ts';
import type { FieldRule } from './conversion-rules.ts';

const object = (properties: JsonObject): JsonObject => ({ type: 'object', properties });
const text = { type: 'string' };
const schemas = new Map([
  [
    'v1alpha1',
    object({ spec: object({ size: text, note: text, list: { type: 'array', items: text } }) }),
  ],
  [
    'v1',
    object({
      spec: object({ replicas: text, comment: text, list: { type: 'array', items: text } }),
    }),
  ],
]);
const yaml = { parse: JSON.parse, print: JSON.stringify };

function check(spec: JsonObject, fields: readonly FieldRule[] = [], drop: readonly string[] = []) {
  const rules = { hub: 'v1', versions: [{ version: 'v1alpha1', fields, drop }] };
  const metadata = { name: 'a', resourceVersion: '1' };
  const stored = { apiVersion: 'example.com/v1alpha1', kind: 'A', metadata, spec };
  return createObjectCheck({ rules, schemas, yaml, storage: 'v1alpha1' })(stored, 'v1');
}

describe('conversion/check-object', () => {
  test('an object that is moved and preserved returns', () => {
    const rule = { here: 'spec.size', there: 'spec.replicas' };
    assert.equal(check({ size: '3', note: 'kept', list: ['b', 'a'] }, [rule]), undefined);
  });

  test('fields that are given up are not missed', () => {
    assert.equal(check({ size: '3', note: 'x' }, [], ['spec.note', 'spec.size']), undefined);
  });

  test('an object that has more than fits into annotations is large, unless a rule has a place for it', () => {
    const note = 'x'.repeat(70_000);
    assert.equal(check({ note })?.kind, 'large');
    assert.equal(check({ note }, [{ here: 'spec.note', there: 'spec.comment' }]), undefined);
  });

  test('an object with a forged value whose parts do not fit into annotations can be read', () => {
    const map = { type: 'object', additionalProperties: text };
    const open = new Map([
      ['v1', object({ spec: object({ a: text }) })],
      ['v2', object({ spec: object({ m: map }) })],
    ]);
    const at = ['spec', 'm'];
    const value = Object.fromEntries(Array.from({ length: 1500 }, (_, index) => [`k${index}`, '']));
    const key = `preserved.homeostat.dev/${sha256Hex(canonicalJson(['v2', at])).slice(0, 16)}`;
    const annotations = { [key]: canonicalJson({ version: 'v2', at, in: 1, value }) };
    const rules = { hub: 'v1', versions: [{ version: 'v2', fields: [], drop: [] }] };
    const problem = createObjectCheck({ rules, schemas: open, yaml, storage: 'v1' })(
      { apiVersion: 'example.com/v1', kind: 'A', metadata: { name: 'a', annotations }, spec: {} },
      'v2',
    );
    assert.equal(problem?.kind, 'large');
  });

  test('what a conversion loses is named', () => {
    const rules = { hub: 'v1', versions: [] };
    const stored = {
      apiVersion: 'example.com/v1',
      metadata: {},
      spec: { list: ['a'], comment: 'b' },
    };
    for (const [spec, message] of [
      [{ comment: 'b' }, '"spec.list" does not return from it'],
      [{ list: ['a'], comment: 'c' }, '"spec.comment" does not return from it'],
    ] as const) {
      const converter = { convert: () => ({ object: { ...stored, spec } }) };
      const check = createObjectCheck({ rules, schemas, yaml, storage: 'v1', converter });
      assert.deepEqual(check(stored, 'v1alpha1'), { kind: 'lost', message });
    }
  });

  test('a field that an annotation had is none that is lost', () => {
    const rules = { hub: 'v1', versions: [] };
    const stored = { apiVersion: 'example.com/v1', metadata: {}, spec: { comment: 'b' } };
    const converter = {
      convert: () => ({ object: { ...stored, spec: { comment: 'b', replicas: '1' } } }),
    };
    const check = createObjectCheck({ rules, schemas, yaml, storage: 'v1', converter });
    assert.equal(check(stored, 'v1alpha1'), undefined);
  });

  test('a version that does not exist is rejected', () => {
    const rules = { hub: 'v1', versions: [] };
    const stored = { apiVersion: 'example.com/v1alpha1', kind: 'A', metadata: {} };
    const problem = createObjectCheck({ rules, schemas, yaml, storage: 'v1alpha1' })(stored, 'v9');
    assert.deepEqual(problem, { kind: 'rejected', message: 'Version "v9" does not exist' });
  });
});
