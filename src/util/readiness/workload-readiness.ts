import type { JsonObject } from '../json.ts';
import type { KubeObject } from '../kube-object.ts';
import {
  conditionOf,
  conditionText,
  numberAt,
  objectAt,
  specOf,
  statusOf,
} from './status-reader.ts';
import { failed, progressing, type Readiness, ready } from './verdict.ts';

/** As far as the API can say "no deadline". */
const noDeadlineSeconds = 2_147_483_647;

export function deploymentReadiness(object: KubeObject): Readiness {
  const unseen = notSeen(object);
  if (unseen !== undefined) return unseen;
  const [spec, status] = [specOf(object), statusOf(object)];
  const progress = conditionOf(object, 'Progressing');
  if (progress?.reason === 'ProgressDeadlineExceeded')
    return failed('The rollout exceeded its deadline');
  const wanted = numberAt(spec, 'replicas', 1);
  const updated = numberAt(status, 'updatedReplicas');
  return (
    cannotMakePods(object) ??
    shortOf({ have: updated, wanted, what: 'replicas are updated' }) ??
    surplus(numberAt(status, 'replicas') - updated, 'replicas') ??
    shortOf({ have: numberAt(status, 'readyReplicas'), wanted, what: 'replicas are ready' }) ??
    shortOf({
      have: numberAt(status, 'availableReplicas'),
      wanted,
      what: 'replicas are available',
    }) ??
    unfinishedRollout(spec, progress?.reason) ??
    unavailable(object) ??
    allReady(wanted, 'replicas')
  );
}

/** The controller says so last of all: counts may still be those of the version before. */
function unfinishedRollout(spec: JsonObject, reason: string | undefined): Readiness | undefined {
  const deadline = numberAt(spec, 'progressDeadlineSeconds', noDeadlineSeconds);
  const tellsProgress = deadline !== noDeadlineSeconds && spec.paused !== true;
  return tellsProgress && reason !== 'NewReplicaSetAvailable'
    ? progressing('The rollout is not complete')
    : undefined;
}

function unavailable(object: KubeObject): Readiness | undefined {
  const available = conditionOf(object, 'Available');
  if (available?.status === 'True') return undefined;
  return progressing(available ? conditionText(available) : 'Availability is not known yet');
}

export function statefulSetReadiness(object: KubeObject): Readiness {
  const unseen = notSeen(object);
  if (unseen !== undefined) return unseen;
  const [spec, status] = [specOf(object), statusOf(object)];
  const wanted = numberAt(spec, 'replicas', 1);
  return (
    shortOf({ have: numberAt(status, 'readyReplicas'), wanted, what: 'replicas are ready' }) ??
    notAvailableFor(spec, status, wanted) ??
    surplus(numberAt(status, 'replicas') - wanted, 'replicas') ??
    outdatedReplicas(spec, status, wanted) ??
    allReady(wanted, 'replicas')
  );
}

/** Older servers count no available replicas where ready is enough. */
function notAvailableFor(
  spec: JsonObject,
  status: JsonObject,
  wanted: number,
): Readiness | undefined {
  if (numberAt(spec, 'minReadySeconds') === 0) return undefined;
  const have = numberAt(status, 'availableReplicas');
  return shortOf({ have, wanted, what: 'replicas are available' });
}

function outdatedReplicas(
  spec: JsonObject,
  status: JsonObject,
  replicas: number,
): Readiness | undefined {
  const strategy = objectAt(spec, 'updateStrategy');
  // The user updates by deleting Pods, or status has just converged: nothing to wait for.
  if (strategy.type === 'OnDelete' || status.currentRevision === status.updateRevision)
    return undefined;
  const partition = numberAt(objectAt(strategy, 'rollingUpdate'), 'partition');
  const wanted = Math.max(0, replicas - partition);
  const have = numberAt(status, 'updatedReplicas');
  const short = shortOf({ have, wanted, what: 'replicas are updated' });
  if (short !== undefined || partition > 0) return short;
  return progressing('The rollout is not complete');
}

export function daemonSetReadiness(object: KubeObject): Readiness {
  const unseen = notSeen(object);
  if (unseen !== undefined) return unseen;
  const status = statusOf(object);
  const wanted = numberAt(status, 'desiredNumberScheduled');
  const isUpdatedByHand = objectAt(specOf(object), 'updateStrategy').type === 'OnDelete';
  const updated = isUpdatedByHand ? wanted : numberAt(status, 'updatedNumberScheduled');
  return (
    shortOf({ have: updated, wanted, what: 'Pods are updated' }) ??
    shortOf({ have: numberAt(status, 'numberReady'), wanted, what: 'Pods are ready' }) ??
    shortOf({ have: numberAt(status, 'numberAvailable'), wanted, what: 'Pods are available' }) ??
    allReady(wanted, 'Pods')
  );
}

/** Of ReplicationControllers too. */
export function replicaSetReadiness(object: KubeObject): Readiness {
  const unseen = notSeen(object);
  if (unseen !== undefined) return unseen;
  const status = statusOf(object);
  const wanted = numberAt(specOf(object), 'replicas', 1);
  return (
    cannotMakePods(object) ??
    shortOf({ have: numberAt(status, 'readyReplicas'), wanted, what: 'replicas are ready' }) ??
    shortOf({
      have: numberAt(status, 'availableReplicas'),
      wanted,
      what: 'replicas are available',
    }) ??
    surplus(numberAt(status, 'replicas') - wanted, 'replicas') ??
    allReady(wanted, 'replicas')
  );
}

/** A quota, an admission webhook: more to the point than the counts. */
function cannotMakePods(object: KubeObject): Readiness | undefined {
  const failure = conditionOf(object, 'ReplicaFailure');
  return failure?.status === 'True' ? progressing(conditionText(failure)) : undefined;
}

/** Without `observedGeneration` no controller has looked at it: counts of zero then mean nothing. */
function notSeen(object: KubeObject): Readiness | undefined {
  return typeof statusOf(object).observedGeneration === 'number'
    ? undefined
    : progressing('Its controller has not looked at it yet');
}

interface Count {
  readonly have: number;
  readonly wanted: number;
  readonly what: string;
}

function shortOf({ have, wanted, what }: Count): Readiness | undefined {
  return have < wanted ? progressing(`${have} of ${wanted} ${what}`) : undefined;
}

function surplus(count: number, what: string): Readiness | undefined {
  return count > 0 ? progressing(`Old ${what} are still to go: ${count}`) : undefined;
}

function allReady(wanted: number, what: string): Readiness {
  return ready(`${wanted} of ${wanted} ${what} are ready`);
}
