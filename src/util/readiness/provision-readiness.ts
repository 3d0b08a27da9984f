import type { KubeObject } from '../kube-object.ts';
import { objectAt, objectsAt, specOf, statusOf } from './status-reader.ts';
import { failed, progressing, type Readiness, ready } from './verdict.ts';

/** Set when a volume is being made: at once, or when the first consumer has got a node. */
const provisioningAnnotations = [
  'volume.kubernetes.io/selected-node',
  'volume.kubernetes.io/storage-provisioner',
  'volume.beta.kubernetes.io/storage-provisioner',
];

/**
 * A claim does not say whether its class waits for the first consumer. One that has a class and is not being provisioned
 * is taken for waiting, hence ready: what comes `after` it may be that consumer, and would wait for ever.
 */
export function claimReadiness(object: KubeObject): Readiness {
  const { phase } = statusOf(object);
  if (phase === 'Bound') return ready('Bound');
  if (phase === 'Lost') return failed('The volume is lost');
  const { storageClassName, volumeName } = specOf(object);
  if (volumeName !== undefined && volumeName !== '') return progressing('Waits for its volume');
  if (storageClassName === undefined || storageClassName === '')
    return progressing('Waits for a volume: no storage class makes one');
  const annotations = object.metadata.annotations ?? {};
  return provisioningAnnotations.some((annotation) => annotation in annotations)
    ? progressing('The volume is being provisioned')
    : ready('Waits for its first consumer');
}

export function serviceReadiness(object: KubeObject): Readiness {
  if (specOf(object).type !== 'LoadBalancer') return ready('Available');
  const addresses = objectsAt(objectAt(statusOf(object), 'loadBalancer'), 'ingress');
  return addresses.some(({ ip, hostname }) => Boolean(ip) || Boolean(hostname))
    ? ready('The load balancer has an address')
    : progressing('The load balancer has no address yet');
}
