import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { intentHash } from './marks.ts';

function map(data: Readonly<Record<string, string>>): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data };
}

describe('reconcile/intent/marks', () => {
  test('does not depend on the order of keys, and on nothing but intent and owner', () => {
    const hash = intentHash(map({ a: '1', b: '2' }), 'uid');
    assert.match(hash, /^[0-9a-f]{16}$/);
    assert.equal(intentHash(map({ b: '2', a: '1' }), 'uid'), hash);
  });

  test('is the same whatever we note on the object', () => {
    const { metadata, ...rest } = map({ a: '1' });
    const noted = {
      ...metadata,
      labels: { 'app.kubernetes.io/managed-by': 'homeostat', 'homeostat.dev/child': 'a' },
      annotations: { 'homeostat.dev/index': '1' },
    };
    const hash = intentHash({ ...rest, metadata: noted } as KubeObject, 'uid');
    assert.equal(hash, intentHash(map({ a: '1' }), 'uid'));
  });

  for (const [what, intent, owner] of [
    ['a value', map({ a: '2', b: '2' }), 'uid'],
    ['a field', map({ a: '1' }), 'uid'],
    ['the owner', map({ a: '1', b: '2' }), 'other'],
  ] as const) {
    test(`is another one with ${what}`, () => {
      assert.notEqual(intentHash(intent, owner), intentHash(map({ a: '1', b: '2' }), 'uid'));
    });
  }
});
