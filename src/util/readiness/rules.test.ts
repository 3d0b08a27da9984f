import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gvkOf } from '../gvk.ts';
import { freezeDeep } from '../json.ts';
import type { KubeObject } from '../kube-object.ts';
import { readinessOf } from './readiness-of.ts';
import { statusPathsOfReadiness } from './rules.ts';

const kinds = [
  ['apps/v1', 'Deployment'],
  ['apps/v1', 'StatefulSet'],
  ['apps/v1', 'DaemonSet'],
  ['apps/v1', 'ReplicaSet'],
  ['v1', 'ReplicationController'],
  ['batch/v1', 'Job'],
  ['v1', 'Pod'],
  ['v1', 'PersistentVolumeClaim'],
  ['v1', 'Service'],
  ['apiextensions.k8s.io/v1', 'CustomResourceDefinition'],
  ['apiregistration.k8s.io/v1', 'APIService'],
  ['example.com/v1', 'PodSet'],
] as const;

/** Notes which fields of the status are read. */
function recordingStatus(status: object, read: Set<string>): object {
  return new Proxy(status, {
    get(target, field) {
      if (typeof field === 'string') read.add(field);
      return Reflect.get(target, field);
    },
  });
}

/** Statuses that lead readiness through its rules. */
const statuses = freezeDeep([
  {},
  { observedGeneration: 1, phase: 'Running' },
  { observedGeneration: 1, phase: 'Failed' },
  { observedGeneration: 1, startTime: 't' },
  {
    observedGeneration: 1,
    replicas: 1,
    readyReplicas: 1,
    updatedReplicas: 1,
    availableReplicas: 1,
    conditions: [
      { type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable' },
      { type: 'Available', status: 'True' },
    ],
    currentRevision: 'a',
    updateRevision: 'b',
  },
]);

describe('util/readiness/status-paths', () => {
  for (const [apiVersion, kind] of kinds) {
    test(`of a ${kind} readiness reads nothing else of the status`, () => {
      const named = statusPathsOfReadiness(gvkOf(apiVersion, kind)).map((path) => {
        assert.equal(path[0], 'status');
        return path[1];
      });
      const read = new Set<string>();
      for (const status of statuses) {
        const spec = { type: 'LoadBalancer', minReadySeconds: 1 };
        const object = { apiVersion, kind, metadata: { name: 'x', generation: 1 }, spec };
        readinessOf({ ...object, status: recordingStatus(status, read) } as KubeObject);
      }
      assert.deepEqual([...read].sort(), [...named].sort());
    });
  }

  test('versions of a kind share a rule, groups do not', () => {
    const paths = (apiVersion: string) => statusPathsOfReadiness(gvkOf(apiVersion, 'Deployment'));
    assert.deepEqual(paths('apps/v2'), paths('apps/v1'));
    assert.deepEqual(paths('example.com/v1'), [
      ['status', 'observedGeneration'],
      ['status', 'conditions'],
    ]);
  });
});
