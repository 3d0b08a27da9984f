import { describe } from 'node:test';
import { condition, seen, testReadiness } from '../../../test/support/readiness-cases.ts';

const rolledOut = [
  condition('Progressing', 'True', 'NewReplicaSetAvailable'),
  condition('Available', 'True', 'MinimumReplicasAvailable'),
];
const three = { replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3 };
const deployment = { spec: { replicas: 3, progressDeadlineSeconds: 600 } };

describe('util/readiness', () => {
  testReadiness('apps/v1 Deployment', [
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
    ['no status yet', deployment, 'Progressing', 'Its controller has not observed it yet'],
    [
      'an older generation',
      { ...deployment, status: { ...three, observedGeneration: 1, conditions: rolledOut } },
      'Progressing',
      'Its controller has not observed the last change yet',
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
      'Old replicas are still to be deleted: 1',
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
    [
      'without a ReplicaSet',
      {
        ...deployment,
        status: { conditions: [condition('Progressing', 'False', 'ReplicaSetCreateError')] },
      },
      'Progressing',
      'Progressing is False (ReplicaSetCreateError)',
    ],
    [
      'without a ReplicaSet, because of its name',
      {
        ...deployment,
        metadata: { name: 'n'.repeat(243) },
        status: { conditions: [condition('Progressing', 'False', 'ReplicaSetCreateError')] },
      },
      'Failed',
      'No Pod can be created: the name of its ReplicaSet would have more than 253 characters; the name of a Deployment may have 242',
    ],
  ]);

  const same = { currentRevision: 'a', updateRevision: 'a' };
  const moving = { currentRevision: 'a', updateRevision: 'b' };
  testReadiness('apps/v1 StatefulSet', [
    [
      'its Pods cannot have the label of their revision',
      {
        spec: { replicas: 1 },
        ...seen({ replicas: 0, updateRevision: `${'n'.repeat(54)}-0123456789` }),
      },
      'Failed',
      'No Pod can be created: its label "controller-revision-hash" would have more than 63 characters; the name of a StatefulSet may have 52',
    ],
    [
      'a long name with a short hash',
      {
        spec: { replicas: 1 },
        ...seen({ replicas: 0, updateRevision: `${'n'.repeat(53)}-012345678` }),
      },
      'Progressing',
      '0 of 1 replicas are ready',
    ],
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
      'Old replicas are still to be deleted: 1',
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
      'Its controller has not observed it yet',
    ],
  ]);

  const onTwo = {
    desiredNumberScheduled: 2,
    updatedNumberScheduled: 2,
    numberReady: 2,
    numberAvailable: 2,
  };
  testReadiness('apps/v1 DaemonSet', [
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
    ['no status yet', {}, 'Progressing', 'Its controller has not observed it yet'],
    [
      'a name that leaves no room for its revisions',
      { metadata: { name: 'n'.repeat(243) } },
      'Failed',
      'No Pod can be created: the name of its ControllerRevision would have more than 253 characters; the name of a DaemonSet may have 242',
    ],
    [
      'such a name, with a status',
      { metadata: { name: 'n'.repeat(243) }, ...seen(onTwo) },
      'Ready',
      '2 of 2 Pods are ready',
    ],
  ]);

  testReadiness('apps/v1 ReplicaSet', [
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
      'Old replicas are still to be deleted: 2',
    ],
    [
      'not allowed to make Pods',
      { spec: { replicas: 3 }, ...seen({}, [condition('ReplicaFailure', 'True', 'FailedCreate')]) },
      'Progressing',
      'ReplicaFailure is True (FailedCreate)',
    ],
  ]);
});
