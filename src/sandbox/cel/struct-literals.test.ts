import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { rewriteStructs } from './struct-literals.ts';

describe('sandbox/cel/struct-literals', () => {
  for (const [original, text] of [
    ['[JSONPatch{op: "add", path: "/a"}]', '[JSONPatch_({"op": "add", "path": "/a"})]'],
    ['Object{spec: Object.spec{replicas: 1}}', 'Object_({"spec": Object_({"replicas": 1})})'],
    ['JSONPatch { value: {"a": b ? c : d} }', 'JSONPatch_ ({ "value": {"a": b ? c : d} })'],
    ['{"a": 1}.a', '{"a": 1}.a'],
    ['"JSONPatch{op: 1}" + \'}\'', '"JSONPatch{op: 1}" + \'}\''],
    ['a // JSONPatch{\n+ b', 'a // JSONPatch{\n+ b'],
    ['f(JSONPatch{value: g(x, y)})', 'f(JSONPatch_({"value": g(x, y)}))'],
  ] as const)
    test(`${original} is rewritten`, () => assert.equal(rewriteStructs(original).text, text));

  test('an offset of the result is found in the original', () => {
    const original = '[JSONPatch{op: "add", path: nothing}]';
    const { text, originalOffset } = rewriteStructs(original);
    assert.equal(originalOffset(text.indexOf('nothing')), original.indexOf('nothing'));
  });
});
