import type { JsonObject } from '../json.ts';
import type { KubeObject } from '../kube-object.ts';
import { maxLabelValue, nameLimits } from '../name-limits.ts';
import {
  conditionOf,
  conditionText,
  failed,
  numberAt,
  objectAt,
  progressing,
  type Readiness,
  ready,
  specOf,
  statusOf,
} from './status-reader.ts';

/** Value of the API for "no deadline". */
const noDeadlineSeconds = 2_147_483_647;

export function deploymentReadiness(object: KubeObject): Readiness {
  const progress = conditionOf(object, 'Progressing');
  // Its controller sets the condition and not `observedGeneration`.
  if (progress?.reason === 'ReplicaSetCreateError')
    return impossibleRevision(object, 'ReplicaSet') ?? progressing(conditionText(progress));
  const notObservedYet = notObserved(object);
  if (notObservedYet !== undefined) return notObservedYet;
  const [spec, status] = [specOf(object), statusOf(object)];
  if (progress?.reason === 'ProgressDeadlineExceeded')
    return failed('The rollout exceeded its deadline');
  const desired = numberAt(spec, 'replicas', 1);
  const updated = numberAt(status, 'updatedReplicas');
  return (
    podCreationFailure(object) ??
    shortOf({ have: updated, desired, what: 'replicas are updated' }) ??
    surplus(numberAt(status, 'replicas') - updated, 'replicas') ??
    shortOf({ have: numberAt(status, 'readyReplicas'), desired, what: 'replicas are ready' }) ??
    shortOf({
      have: numberAt(status, 'availableReplicas'),
      desired,
      what: 'replicas are available',
    }) ??
    unfinishedRollout(spec, progress?.reason) ??
    unavailable(object) ??
    allReady(desired, 'replicas')
  );
}

/** Set last by the controller: before, the counts may belong to the previous revision. */
function unfinishedRollout(spec: JsonObject, reason: string | undefined): Readiness | undefined {
  const deadline = numberAt(spec, 'progressDeadlineSeconds', noDeadlineSeconds);
  const reportsProgress = deadline !== noDeadlineSeconds && spec.paused !== true;
  return reportsProgress && reason !== 'NewReplicaSetAvailable'
    ? progressing('The rollout is not complete')
    : undefined;
}

function unavailable(object: KubeObject): Readiness | undefined {
  const available = conditionOf(object, 'Available');
  if (available?.status === 'True') return undefined;
  return progressing(
    available ? conditionText(available) : 'The condition Available is not set yet',
  );
}

export function statefulSetReadiness(object: KubeObject): Readiness {
  const notObservedYet = notObserved(object);
  if (notObservedYet !== undefined) return notObservedYet;
  const [spec, status] = [specOf(object), statusOf(object)];
  const desired = numberAt(spec, 'replicas', 1);
  return (
    impossiblePods(status, desired) ??
    shortOf({ have: numberAt(status, 'readyReplicas'), desired, what: 'replicas are ready' }) ??
    notAvailableFor(spec, status, desired) ??
    surplus(numberAt(status, 'replicas') - desired, 'replicas') ??
    outdatedReplicas(spec, status, desired) ??
    allReady(desired, 'replicas')
  );
}

/**
 * Its Pods have the name of the revision as a label: the name of the set and a hash of up to ten characters. Nothing in the status says that
 * the server rejects them, only an Event.
 */
function impossiblePods(status: JsonObject, desired: number): Readiness | undefined {
  const { updateRevision } = status;
  if (numberAt(status, 'replicas') >= desired || typeof updateRevision !== 'string')
    return undefined;
  if (updateRevision.length <= maxLabelValue) return undefined;
  return failed(
    `No Pod can be created: its label "controller-revision-hash" would have more than ${maxLabelValue} characters; the name of a StatefulSet may have ${nameLimits.statefulSet}`,
  );
}

/** Older servers do not set `availableReplicas` if `minReadySeconds` is 0. */
function notAvailableFor(
  spec: JsonObject,
  status: JsonObject,
  desired: number,
): Readiness | undefined {
  if (numberAt(spec, 'minReadySeconds') === 0) return undefined;
  const have = numberAt(status, 'availableReplicas');
  return shortOf({ have, desired, what: 'replicas are available' });
}

function outdatedReplicas(
  spec: JsonObject,
  status: JsonObject,
  replicas: number,
): Readiness | undefined {
  const strategy = objectAt(spec, 'updateStrategy');
  // The user updates by deleting Pods, or the status has just converged: nothing to wait for.
  if (strategy.type === 'OnDelete' || status.currentRevision === status.updateRevision)
    return undefined;
  const partition = numberAt(objectAt(strategy, 'rollingUpdate'), 'partition');
  const desired = Math.max(0, replicas - partition);
  const have = numberAt(status, 'updatedReplicas');
  const short = shortOf({ have, desired, what: 'replicas are updated' });
  if (short !== undefined || partition > 0) return short;
  return progressing('The rollout is not complete');
}

export function daemonSetReadiness(object: KubeObject): Readiness {
  const notObservedYet = notObserved(object);
  if (notObservedYet !== undefined)
    return impossibleRevision(object, 'ControllerRevision') ?? notObservedYet;
  const status = statusOf(object);
  const desired = numberAt(status, 'desiredNumberScheduled');
  const isUpdatedByHand = objectAt(specOf(object), 'updateStrategy').type === 'OnDelete';
  const updated = isUpdatedByHand ? desired : numberAt(status, 'updatedNumberScheduled');
  return (
    shortOf({ have: updated, desired, what: 'Pods are updated' }) ??
    shortOf({ have: numberAt(status, 'numberReady'), desired, what: 'Pods are ready' }) ??
    shortOf({ have: numberAt(status, 'numberAvailable'), desired, what: 'Pods are available' }) ??
    allReady(desired, 'Pods')
  );
}

/**
 * The server rejects the revision of its template. The controller of DaemonSets reports that neither in a status nor in an Event.
 * @param revision The kind of the revision
 */
function impossibleRevision(
  { kind, metadata }: KubeObject,
  revision: string,
): Readiness | undefined {
  if (metadata.name.length <= nameLimits.revised) return undefined;
  return failed(
    `No Pod can be created: the name of its ${revision} would have more than 253 characters; the name of a ${kind} may have ${nameLimits.revised}`,
  );
}

/** Also for ReplicationControllers. */
export function replicaSetReadiness(object: KubeObject): Readiness {
  const notObservedYet = notObserved(object);
  if (notObservedYet !== undefined) return notObservedYet;
  const status = statusOf(object);
  const desired = numberAt(specOf(object), 'replicas', 1);
  return (
    podCreationFailure(object) ??
    shortOf({ have: numberAt(status, 'readyReplicas'), desired, what: 'replicas are ready' }) ??
    shortOf({
      have: numberAt(status, 'availableReplicas'),
      desired,
      what: 'replicas are available',
    }) ??
    surplus(numberAt(status, 'replicas') - desired, 'replicas') ??
    allReady(desired, 'replicas')
  );
}

/** A quota or an admission webhook: more precise than the counts. */
function podCreationFailure(object: KubeObject): Readiness | undefined {
  const failure = conditionOf(object, 'ReplicaFailure');
  return failure?.status === 'True' ? progressing(conditionText(failure)) : undefined;
}

/** Without `observedGeneration` no controller has observed the object: counts of zero mean nothing. */
function notObserved(object: KubeObject): Readiness | undefined {
  return typeof statusOf(object).observedGeneration === 'number'
    ? undefined
    : progressing('Its controller has not observed it yet');
}

interface Count {
  readonly have: number;
  readonly desired: number;
  readonly what: string;
}

function shortOf({ have, desired, what }: Count): Readiness | undefined {
  return have < desired ? progressing(`${have} of ${desired} ${what}`) : undefined;
}

function surplus(count: number, what: string): Readiness | undefined {
  return count > 0 ? progressing(`Old ${what} are still to be deleted: ${count}`) : undefined;
}

function allReady(desired: number, what: string): Readiness {
  return ready(`${desired} of ${desired} ${what} are ready`);
}
