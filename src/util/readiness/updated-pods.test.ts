import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hasOnlyUpdatedPods } from './updated-pods.ts';

describe('util/readiness/updated-pods', () => {
  const cases: readonly (readonly [string, string, unknown, boolean])[] = [
    ['Deployment', 'not observed', { replicas: 2, updatedReplicas: 2 }, false],
    [
      'Deployment',
      'with the counts of an earlier generation',
      { observedGeneration: 1, replicas: 2, updatedReplicas: 2 },
      false,
    ],
    ['Deployment', 'rolling', { observedGeneration: 2, replicas: 3, updatedReplicas: 1 }, false],
    ['Deployment', 'updated', { observedGeneration: 2, replicas: 2, updatedReplicas: 2 }, true],
    ['Deployment', 'without replicas', { observedGeneration: 2 }, true],
    [
      'StatefulSet',
      'behind its partition',
      {
        observedGeneration: 2,
        replicas: 3,
        updatedReplicas: 1,
        currentRevision: 'a',
        updateRevision: 'b',
      },
      false,
    ],
    [
      'StatefulSet',
      'updated by hand',
      {
        observedGeneration: 2,
        replicas: 3,
        updatedReplicas: 3,
        currentRevision: 'a',
        updateRevision: 'b',
      },
      true,
    ],
    [
      'StatefulSet',
      'of one revision',
      { observedGeneration: 2, replicas: 3, currentRevision: 'b', updateRevision: 'b' },
      true,
    ],
    [
      'DaemonSet',
      'rolling',
      { observedGeneration: 2, currentNumberScheduled: 2, updatedNumberScheduled: 1 },
      false,
    ],
    [
      'DaemonSet',
      'updated',
      { observedGeneration: 2, currentNumberScheduled: 2, updatedNumberScheduled: 2 },
      true,
    ],
    ['ReplicaSet', 'of any state', {}, true],
  ];
  for (const [kind, what, status, expected] of cases) {
    test(`a ${kind} that is ${what} ${expected ? 'has' : 'does not have'} updated Pods only`, () => {
      const metadata = { name: 'a', generation: 2 };
      assert.equal(hasOnlyUpdatedPods({ apiVersion: 'apps/v1', kind, metadata, status }), expected);
    });
  }

  test('a kind of another group has no Pods', () => {
    const metadata = { name: 'a', generation: 2 };
    const object = { apiVersion: 'example.com/v1', kind: 'Deployment', metadata };
    assert.equal(hasOnlyUpdatedPods(object), true);
  });
});
