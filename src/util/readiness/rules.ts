import type { KubeObject } from '../kube-object.ts';
import { apiServiceReadiness, crdReadiness } from './api-readiness.ts';
import { jobReadiness, podReadiness } from './pod-readiness.ts';
import { claimReadiness, serviceReadiness } from './provision-readiness.ts';
import type { Readiness } from './verdict.ts';
import {
  daemonSetReadiness,
  deploymentReadiness,
  replicaSetReadiness,
  statefulSetReadiness,
} from './workload-readiness.ts';

/** The readiness rule of a kind. */
export interface ReadinessRule {
  readonly of: (object: KubeObject) => Readiness;
  /** The fields of `status` that it looks at, besides those that are looked at for every kind. */
  readonly statusFields: readonly string[];
}

const replicaFields = ['replicas', 'readyReplicas', 'availableReplicas'];

/** By `group/kind`: versions of a kind agree in their status. */
export const readinessRules: ReadonlyMap<string, ReadinessRule> = new Map([
  [
    'apps/Deployment',
    { of: deploymentReadiness, statusFields: [...replicaFields, 'updatedReplicas'] },
  ],
  [
    'apps/StatefulSet',
    {
      of: statefulSetReadiness,
      statusFields: [...replicaFields, 'updatedReplicas', 'currentRevision', 'updateRevision'],
    },
  ],
  [
    'apps/DaemonSet',
    {
      of: daemonSetReadiness,
      statusFields: [
        'desiredNumberScheduled',
        'updatedNumberScheduled',
        'numberReady',
        'numberAvailable',
      ],
    },
  ],
  ['apps/ReplicaSet', { of: replicaSetReadiness, statusFields: replicaFields }],
  ['/ReplicationController', { of: replicaSetReadiness, statusFields: replicaFields }],
  ['batch/Job', { of: jobReadiness, statusFields: ['startTime', 'succeeded'] }],
  [
    '/Pod',
    {
      of: podReadiness,
      statusFields: ['phase', 'reason', 'containerStatuses', 'initContainerStatuses'],
    },
  ],
  ['/PersistentVolumeClaim', { of: claimReadiness, statusFields: ['phase'] }],
  ['/Service', { of: serviceReadiness, statusFields: ['loadBalancer'] }],
  ['apiextensions.k8s.io/CustomResourceDefinition', { of: crdReadiness, statusFields: [] }],
  ['apiregistration.k8s.io/APIService', { of: apiServiceReadiness, statusFields: [] }],
]);
