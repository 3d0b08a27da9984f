import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '../kube-object.ts';
import { readinessOf } from './readiness-of.ts';
import type { Readiness } from './verdict.ts';

function objectOf(kind: string, fields: object): KubeObject {
  const [apiVersion = '', name = ''] = kind.split(' ');
  const metadata = { name: 'x', generation: 2 };
  return { apiVersion, kind: name, metadata, ...fields } as KubeObject;
}

function table(
  kind: string,
  rows: readonly (readonly [string, object, Readiness['state'], string])[],
): void {
  describe(kind, () => {
    for (const [what, fields, state, message] of rows) {
      test(`${what}: ${state}`, () => {
        assert.deepEqual(readinessOf(objectOf(kind, fields)), { state, message });
      });
    }
  });
}

function condition(type: string, status: string, reason?: string): object {
  return { type, status, reason, message: 'at 12:00', lastTransitionTime: '2026-01-01T00:00:00Z' };
}

/** A status seen at the present generation. */
function seen(status: object, conditions: readonly object[] = []): { readonly status: object } {
  return { status: { observedGeneration: 2, ...status, conditions } };
}

const rolledOut = [
  condition('Progressing', 'True', 'NewReplicaSetAvailable'),
  condition('Available', 'True', 'MinimumReplicasAvailable'),
];
const three = { replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3 };
const deployment = { spec: { replicas: 3, progressDeadlineSeconds: 600 } };

describe('util/readiness', () => {
  table('apps/v1 Deployment', [
    [
      'rolled out',
      { ...deployment, ...seen(three, rolledOut) },
      'Ready',
      '3 of 3 replicas are ready',
    ],
    [
      'scaled to nothing',
      { spec: { replicas: 0 }, ...seen({}, rolledOut) },
      'Ready',
      '0 of 0 replicas are ready',
    ],
    [
      'one replica by default',
      { spec: {}, ...seen({}, rolledOut) },
      'Progressing',
      '0 of 1 replicas are updated',
    ],
    ['no status yet', deployment, 'Progressing', 'Its controller has not looked at it yet'],
    [
      'an older generation',
      { ...deployment, status: { ...three, observedGeneration: 1, conditions: rolledOut } },
      'Progressing',
      'Its controller has not looked at the last change yet',
    ],
    [
      'being updated',
      { ...deployment, ...seen({ ...three, updatedReplicas: 1 }, rolledOut) },
      'Progressing',
      '1 of 3 replicas are updated',
    ],
    [
      'old replicas left',
      { ...deployment, ...seen({ ...three, replicas: 4 }, rolledOut) },
      'Progressing',
      'Old replicas are still to go: 1',
    ],
    [
      'not all ready',
      { ...deployment, ...seen({ ...three, readyReplicas: 2 }, rolledOut) },
      'Progressing',
      '2 of 3 replicas are ready',
    ],
    [
      'not all available',
      { ...deployment, ...seen({ ...three, availableReplicas: 2 }, rolledOut) },
      'Progressing',
      '2 of 3 replicas are available',
    ],
    [
      'not said to be complete',
      {
        ...deployment,
        ...seen(three, [
          condition('Progressing', 'True', 'ReplicaSetUpdated'),
          condition('Available', 'True'),
        ]),
      },
      'Progressing',
      'The rollout is not complete',
    ],
    [
      'without a deadline nothing tells the progress',
      { spec: { replicas: 3 }, ...seen(three, [condition('Available', 'True')]) },
      'Ready',
      '3 of 3 replicas are ready',
    ],
    [
      'not available',
      {
        ...deployment,
        ...seen(three, [
          condition('Progressing', 'True', 'NewReplicaSetAvailable'),
          condition('Available', 'False', 'MinimumReplicasUnavailable'),
        ]),
      },
      'Progressing',
      'Available is False (MinimumReplicasUnavailable)',
    ],
    [
      'not allowed to make Pods',
      { ...deployment, ...seen({}, [condition('ReplicaFailure', 'True', 'FailedCreate')]) },
      'Progressing',
      'ReplicaFailure is True (FailedCreate)',
    ],
    [
      'past its deadline',
      {
        ...deployment,
        ...seen(three, [condition('Progressing', 'False', 'ProgressDeadlineExceeded')]),
      },
      'Failed',
      'The rollout exceeded its deadline',
    ],
  ]);

  const same = { currentRevision: 'a', updateRevision: 'a' };
  const moving = { currentRevision: 'a', updateRevision: 'b' };
  table('apps/v1 StatefulSet', [
    [
      'all ready',
      { spec: { replicas: 3 }, ...seen({ ...three, ...same }) },
      'Ready',
      '3 of 3 replicas are ready',
    ],
    [
      'not all ready',
      { spec: { replicas: 3 }, ...seen({ ...three, ...same, readyReplicas: 1 }) },
      'Progressing',
      '1 of 3 replicas are ready',
    ],
    [
      'too many',
      { spec: { replicas: 2 }, ...seen({ ...three, ...same }) },
      'Progressing',
      'Old replicas are still to go: 1',
    ],
    [
      'being updated',
      { spec: { replicas: 3 }, ...seen({ ...three, ...moving, updatedReplicas: 1 }) },
      'Progressing',
      '1 of 3 replicas are updated',
    ],
    [
      'updated, not yet said',
      { spec: { replicas: 3 }, ...seen({ ...three, ...moving }) },
      'Progressing',
      'The rollout is not complete',
    ],
    [
      'updated down to its partition',
      {
        spec: { replicas: 3, updateStrategy: { rollingUpdate: { partition: 2 } } },
        ...seen({ ...three, ...moving, updatedReplicas: 1 }),
      },
      'Ready',
      '3 of 3 replicas are ready',
    ],
    [
      'not yet down to its partition',
      {
        spec: { replicas: 3, updateStrategy: { rollingUpdate: { partition: 1 } } },
        ...seen({ ...three, ...moving, updatedReplicas: 1 }),
      },
      'Progressing',
      '1 of 2 replicas are updated',
    ],
    [
      'updated by hand',
      {
        spec: { replicas: 3, updateStrategy: { type: 'OnDelete' } },
        ...seen({ ...three, ...moving, updatedReplicas: 0 }),
      },
      'Ready',
      '3 of 3 replicas are ready',
    ],
    [
      'ready too short',
      {
        spec: { replicas: 3, minReadySeconds: 5 },
        ...seen({ ...three, ...same, availableReplicas: 2 }),
      },
      'Progressing',
      '2 of 3 replicas are available',
    ],
    [
      'no status yet',
      { spec: { replicas: 0 } },
      'Progressing',
      'Its controller has not looked at it yet',
    ],
  ]);

  const onTwo = {
    desiredNumberScheduled: 2,
    updatedNumberScheduled: 2,
    numberReady: 2,
    numberAvailable: 2,
  };
  table('apps/v1 DaemonSet', [
    ['all ready', seen(onTwo), 'Ready', '2 of 2 Pods are ready'],
    ['no node for it', seen({ desiredNumberScheduled: 0 }), 'Ready', '0 of 0 Pods are ready'],
    [
      'being updated',
      seen({ ...onTwo, updatedNumberScheduled: 1 }),
      'Progressing',
      '1 of 2 Pods are updated',
    ],
    [
      'updated by hand',
      {
        spec: { updateStrategy: { type: 'OnDelete' } },
        ...seen({ ...onTwo, updatedNumberScheduled: 0 }),
      },
      'Ready',
      '2 of 2 Pods are ready',
    ],
    ['not all ready', seen({ ...onTwo, numberReady: 0 }), 'Progressing', '0 of 2 Pods are ready'],
    [
      'not all available',
      seen({ ...onTwo, numberAvailable: 1 }),
      'Progressing',
      '1 of 2 Pods are available',
    ],
    ['no status yet', {}, 'Progressing', 'Its controller has not looked at it yet'],
  ]);

  table('apps/v1 ReplicaSet', [
    ['all ready', { spec: { replicas: 3 }, ...seen(three) }, 'Ready', '3 of 3 replicas are ready'],
    [
      'not all available',
      { spec: { replicas: 3 }, ...seen({ ...three, availableReplicas: 0 }) },
      'Progressing',
      '0 of 3 replicas are available',
    ],
    [
      'too many',
      { spec: { replicas: 1 }, ...seen(three) },
      'Progressing',
      'Old replicas are still to go: 2',
    ],
    [
      'not allowed to make Pods',
      { spec: { replicas: 3 }, ...seen({}, [condition('ReplicaFailure', 'True', 'FailedCreate')]) },
      'Progressing',
      'ReplicaFailure is True (FailedCreate)',
    ],
  ]);

  table('batch/v1 Job', [
    ['complete', { status: { conditions: [condition('Complete', 'True')] } }, 'Ready', 'Completed'],
    [
      'failed',
      { status: { conditions: [condition('Failed', 'True', 'BackoffLimitExceeded')] } },
      'Failed',
      'The Job failed (BackoffLimitExceeded)',
    ],
    [
      'running',
      { spec: { completions: 3 }, status: { startTime: 't', succeeded: 1 } },
      'Progressing',
      '1 of 3 Pods have completed',
    ],
    [
      'running one Pod',
      { spec: {}, status: { startTime: 't' } },
      'Progressing',
      '0 of 1 Pods have completed',
    ],
    ['suspended', { spec: { suspend: true } }, 'Progressing', 'The Job is suspended'],
    ['not started', {}, 'Progressing', 'The Job has not started'],
  ]);

  const waiting = (reason: string) => [{ name: 'c', ready: false, state: { waiting: { reason } } }];
  table('v1 Pod', [
    [
      'ready',
      { status: { phase: 'Running', conditions: [condition('Ready', 'True')] } },
      'Ready',
      'Running and ready',
    ],
    [
      'not ready',
      { status: { phase: 'Running', containerStatuses: [{ ready: true }, { ready: false }] } },
      'Progressing',
      '1 of 2 containers are ready',
    ],
    [
      'crashing',
      { status: { phase: 'Running', containerStatuses: waiting('CrashLoopBackOff') } },
      'Failed',
      'Container "c" crashes again and again',
    ],
    [
      'crashing at its start',
      { status: { phase: 'Pending', initContainerStatuses: waiting('CrashLoopBackOff') } },
      'Failed',
      'Container "c" crashes again and again',
    ],
    [
      'an image that is not there',
      { status: { phase: 'Pending', containerStatuses: waiting('ErrImagePull') } },
      'Progressing',
      'Container "c" cannot pull its image',
    ],
    [
      'an image that is still not there',
      { status: { phase: 'Pending', containerStatuses: waiting('ImagePullBackOff') } },
      'Progressing',
      'Container "c" cannot pull its image',
    ],
    [
      'a Secret that is not there',
      { status: { phase: 'Pending', containerStatuses: waiting('CreateContainerConfigError') } },
      'Progressing',
      'Container "c" lacks its configuration',
    ],
    [
      'not scheduled',
      {
        status: {
          phase: 'Pending',
          conditions: [condition('PodScheduled', 'False', 'Unschedulable')],
        },
      },
      'Progressing',
      'The Pod is not scheduled (Unschedulable)',
    ],
    ['new', {}, 'Progressing', 'The Pod is pending'],
    ['succeeded', { status: { phase: 'Succeeded' } }, 'Ready', 'Completed'],
    [
      'failed',
      { status: { phase: 'Failed', reason: 'Evicted' } },
      'Failed',
      'The Pod failed (Evicted)',
    ],
  ]);

  const claim = { spec: { storageClassName: 'fast' }, status: { phase: 'Pending' } };
  const provisioning = { 'volume.kubernetes.io/storage-provisioner': 'p' };
  table('v1 PersistentVolumeClaim', [
    ['bound', { status: { phase: 'Bound' } }, 'Ready', 'Bound'],
    ['lost', { status: { phase: 'Lost' } }, 'Failed', 'The volume is lost'],
    ['waiting for a consumer', claim, 'Ready', 'Waits for its first consumer'],
    [
      'being provisioned',
      { ...claim, metadata: { name: 'x', annotations: provisioning } },
      'Progressing',
      'The volume is being provisioned',
    ],
    [
      'without a class',
      { spec: {}, status: { phase: 'Pending' } },
      'Progressing',
      'Waits for a volume: no storage class makes one',
    ],
    [
      'for a certain volume',
      { spec: { storageClassName: 'fast', volumeName: 'v' }, status: { phase: 'Pending' } },
      'Progressing',
      'Waits for its volume',
    ],
  ]);

  table('v1 Service', [
    ['inside the cluster', { spec: { type: 'ClusterIP' } }, 'Ready', 'Available'],
    [
      'with an address',
      {
        spec: { type: 'LoadBalancer' },
        status: { loadBalancer: { ingress: [{ hostname: 'h' }] } },
      },
      'Ready',
      'The load balancer has an address',
    ],
    [
      'without an address',
      { spec: { type: 'LoadBalancer' }, status: { loadBalancer: { ingress: [{}] } } },
      'Progressing',
      'The load balancer has no address yet',
    ],
  ]);

  table('apiextensions.k8s.io/v1 CustomResourceDefinition', [
    [
      'established',
      {
        status: {
          conditions: [condition('NamesAccepted', 'True'), condition('Established', 'True')],
        },
      },
      'Ready',
      'Established',
    ],
    [
      'installing',
      { status: { conditions: [condition('Established', 'False', 'Installing')] } },
      'Progressing',
      'The kind is not established yet',
    ],
    [
      'names taken',
      { status: { conditions: [condition('NamesAccepted', 'False', 'ListKindConflict')] } },
      'Failed',
      'NamesAccepted is False (ListKindConflict)',
    ],
    [
      'not to be established',
      { status: { conditions: [condition('Established', 'False', 'NotAccepted')] } },
      'Failed',
      'Established is False (NotAccepted)',
    ],
    ['new', {}, 'Progressing', 'The kind is not established yet'],
  ]);

  table('apiregistration.k8s.io/v1 APIService', [
    [
      'available',
      { status: { conditions: [condition('Available', 'True')] } },
      'Ready',
      'Available',
    ],
    [
      'not available',
      { status: { conditions: [condition('Available', 'False', 'MissingEndpoints')] } },
      'Progressing',
      'Available is False (MissingEndpoints)',
    ],
    ['new', {}, 'Progressing', 'Availability is not known yet'],
  ]);

  table('example.com/v1 PodSet', [
    ['nothing said', {}, 'Ready', 'Current'],
    ['ready', seen({}, [condition('Ready', 'True')]), 'Ready', 'Ready'],
    [
      'not ready',
      seen({}, [condition('Ready', 'False', 'Waiting')]),
      'Progressing',
      'Ready is False (Waiting)',
    ],
    ['not known', seen({}, [condition('Ready', 'Unknown')]), 'Progressing', 'Ready is Unknown'],
    [
      'an older generation',
      { status: { observedGeneration: 1, conditions: [condition('Ready', 'True')] } },
      'Progressing',
      'Its controller has not looked at the last change yet',
    ],
    [
      'a generation that the object does not have',
      { metadata: { name: 'x' }, status: { observedGeneration: 1 } },
      'Ready',
      'Current',
    ],
    [
      'reconciling',
      seen({}, [condition('Ready', 'True'), condition('Reconciling', 'True', 'Unstable')]),
      'Progressing',
      'Reconciling is True (Unstable)',
    ],
    [
      'stalled',
      seen({}, [condition('Reconciling', 'True'), condition('Stalled', 'True', 'Broken')]),
      'Failed',
      'Stalled is True (Broken)',
    ],
    [
      'being deleted',
      { metadata: { name: 'x', deletionTimestamp: 't' } },
      'Progressing',
      'It is being deleted',
    ],
    ['a status of another shape', { status: { conditions: { Ready: true } } }, 'Ready', 'Current'],
  ]);

  table('v1 ConfigMap', [['there', { data: {} }, 'Ready', 'Current']]);
});
