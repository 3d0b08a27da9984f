import { describe } from 'node:test';
import { testReadiness } from '../../../test/support/readiness-cases.ts';

describe('util/readiness', () => {
  const claim = { spec: { storageClassName: 'fast' }, status: { phase: 'Pending' } };
  const provisioning = { 'volume.kubernetes.io/storage-provisioner': 'p' };

  testReadiness('v1 PersistentVolumeClaim', [
    ['bound', { status: { phase: 'Bound' } }, 'Ready', 'Bound'],
    ['lost', { status: { phase: 'Lost' } }, 'Failed', 'The volume is lost'],
    ['waiting for a consumer', claim, 'Ready', 'Waiting for its first consumer'],
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
      'Waiting for a volume: no storage class provisions one',
    ],
    [
      'for a certain volume',
      { spec: { storageClassName: 'fast', volumeName: 'v' }, status: { phase: 'Pending' } },
      'Progressing',
      'Waiting for its volume',
    ],
  ]);

  testReadiness('v1 Service', [
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
});
