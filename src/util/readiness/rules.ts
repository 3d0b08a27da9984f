import type { Gvk } from '../gvk.ts';
import type { KubeObject } from '../kube-object.ts';
import { jobReadiness, podReadiness } from './pod-readiness.ts';
import {
  conditionOf,
  conditionText,
  failed,
  objectAt,
  objectsAt,
  progressing,
  type Readiness,
  ready,
  specOf,
  statusOf,
} from './status-reader.ts';
import {
  daemonSetReadiness,
  deploymentReadiness,
  replicaSetReadiness,
  statefulSetReadiness,
} from './workload-readiness.ts';

/** The readiness rule of a kind. */
export interface ReadinessRule {
  readonly of: (object: KubeObject) => Readiness;
  /** The fields of `status` that it reads, besides those read for every kind. */
  readonly statusFields: readonly string[];
}

const replicaFields = ['replicas', 'readyReplicas', 'availableReplicas'];

/** By `group/kind`: all versions of a kind share one status. */
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

/** Read for every kind. */
const commonStatusFields = ['observedGeneration', 'conditions'];

/** The paths below `status` that `readinessOf` reads. Other status changes cannot change the readiness. */
export function statusPathsOfReadiness({ group, kind }: Gvk): readonly (readonly string[])[] {
  const own = readinessRules.get(`${group}/${kind}`)?.statusFields ?? [];
  return [...commonStatusFields, ...own].map((field) => ['status', field]);
}

function crdReadiness(object: KubeObject): Readiness {
  const names = conditionOf(object, 'NamesAccepted');
  if (names?.status === 'False') return failed(conditionText(names));
  const established = conditionOf(object, 'Established');
  if (established?.status === 'True') return ready('Established');
  if (established?.status === 'False' && established.reason !== 'Installing')
    return failed(conditionText(established));
  return progressing('The kind is not established yet');
}

function apiServiceReadiness(object: KubeObject): Readiness {
  const available = conditionOf(object, 'Available');
  if (available?.status === 'True') return ready('Available');
  return progressing(
    available ? conditionText(available) : 'The condition Available is not set yet',
  );
}

/** Kinds without a rule: by their condition Ready. */
export function conditionReadiness(object: KubeObject): Readiness {
  const condition = conditionOf(object, 'Ready');
  if (condition === undefined) return ready('Current');
  return condition.status === 'True' ? ready('Ready') : progressing(conditionText(condition));
}

/** Set while a volume is provisioned: at once, or when the first consumer is scheduled. */
const provisioningAnnotations = [
  'volume.kubernetes.io/selected-node',
  'volume.kubernetes.io/storage-provisioner',
  'volume.beta.kubernetes.io/storage-provisioner',
];

/**
 * A claim does not show whether its storage class waits for the first consumer. A claim with a class that is not
 * being provisioned counts as waiting and hence as ready: the consumer may be ordered `after` it, which would be a
 * deadlock.
 */
function claimReadiness(object: KubeObject): Readiness {
  const { phase } = statusOf(object);
  if (phase === 'Bound') return ready('Bound');
  if (phase === 'Lost') return failed('The volume is lost');
  const { storageClassName, volumeName } = specOf(object);
  if (volumeName !== undefined && volumeName !== '') return progressing('Waiting for its volume');
  if (storageClassName === undefined || storageClassName === '')
    return progressing('Waiting for a volume: no storage class provisions one');
  const annotations = object.metadata.annotations ?? {};
  return provisioningAnnotations.some((annotation) => annotation in annotations)
    ? progressing('The volume is being provisioned')
    : ready('Waiting for its first consumer');
}

function serviceReadiness(object: KubeObject): Readiness {
  if (specOf(object).type !== 'LoadBalancer') return ready('Available');
  const addresses = objectsAt(objectAt(statusOf(object), 'loadBalancer'), 'ingress');
  return addresses.some(({ ip, hostname }) => Boolean(ip) || Boolean(hostname))
    ? ready('The load balancer has an address')
    : progressing('The load balancer has no address yet');
}
