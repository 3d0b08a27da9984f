import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { isSameVersion, recordedState } from './recorded-state.ts';

const live: KubeObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name: 'app',
    namespace: 'default',
    uid: 'u',
    resourceVersion: '7',
    generation: 2,
    creationTimestamp: '2026-01-01T00:00:00Z',
    labels: { app: 'web', 'homeostat.dev/child': 'config' },
    annotations: { 'inventory.homeostat.dev/x': '[]' },
    finalizers: ['a/b'],
    ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'a', uid: 'b' }],
  },
  data: { a: 'b' },
  status: { phase: 'x' },
};

describe('reconcile/history recorded state', () => {
  test('has no status, nothing that the server writes, and no key of Homeostat', () => {
    assert.deepEqual(recordedState(live), {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'app', namespace: 'default', labels: { app: 'web' } },
      data: { a: 'b' },
    });
  });

  const state = recordedState(live);
  const relabelled = { ...state, metadata: { ...state.metadata, labels: { app: 'api' } } };
  const edited = { ...state, data: { a: 'c' } };
  for (const [what, other, onChange, isSame] of [
    ['other labels', relabelled, undefined, true],
    ['other labels that count', relabelled, ['data', 'metadata.labels'], false],
    ['other data', edited, undefined, false],
    ['another field that counts', edited, ['data.a'], false],
    ['a field that does not count', edited, ['binaryData'], true],
    ['a new field', { ...state, immutable: true }, undefined, false],
  ] as const)
    test(`${what}: ${isSame ? 'is the same version' : 'is another version'}`, () => {
      assert.equal(isSameVersion(state, other, onChange), isSame);
    });
});
