import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { conditionFor } from './condition.ts';
import type { KubeObject } from './kube-object.ts';

const content = { type: 'Ready', status: 'True', reason: 'AllReady', message: '' } as const;
const now = '2026-01-02T03:04:05.678Z';
const earlier = '2025-12-31T00:00:00Z';

function objectWith(conditions: readonly object[], generation?: number): KubeObject {
  const metadata = { name: 'one', ...(generation !== undefined && { generation }) };
  return { apiVersion: 'v1', kind: 'Thing', metadata, status: { conditions } };
}

describe('util/condition', () => {
  test('a new condition has the time now in whole seconds, and the generation of its object', () => {
    const expected = { observedGeneration: 3, lastTransitionTime: '2026-01-02T03:04:05Z' };
    assert.deepEqual(conditionFor(content, { object: objectWith([], 3), now }), {
      ...content,
      ...expected,
    });
  });

  for (const [status, time] of [
    ['True', earlier],
    ['False', '2026-01-02T03:04:05Z'],
  ] as const) {
    test(`after the status "${status}" its last transition is at ${time}`, () => {
      const before = { ...content, status, reason: 'Other', lastTransitionTime: earlier };
      const { lastTransitionTime } = conditionFor(content, { object: objectWith([before]), now });
      assert.equal(lastTransitionTime, time);
    });
  }

  test('an object without a generation gives none, unless the caller does', () => {
    const object = objectWith([]);
    assert.equal('observedGeneration' in conditionFor(content, { object, now }), false);
    const given = conditionFor(content, { object, now, observedGeneration: 0 });
    assert.equal(given.observedGeneration, 0);
  });
});
