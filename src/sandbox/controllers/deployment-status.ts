import { isJsonObject, type JsonObject } from '#util/json.ts';
import { listField, stringField } from '../json-fields.ts';
import type { StoredObject } from '../store/stored-object.ts';
import { numberOf, partOf } from './controller-client.ts';
import type { Rollout } from './deployment-sizes.ts';
import {
  deadlineSeconds,
  desiredReplicas,
  maxUnavailableOf,
  statusCount,
  sum,
} from './deployment-spec.ts';

/** The status of a Deployment; leaves the Progressing condition unchanged. */
export function statusOf({ deployment, newest, old: others }: Rollout, now: string): JsonObject {
  const sets = newest === undefined ? others : [...others, newest];
  const count = (name: string) => sum(sets, (set) => statusCount(set, name));
  const available = count('availableReplicas');
  const isAvailable = available >= desiredReplicas(deployment) - maxUnavailableOf(deployment);
  const previous = partOf(deployment, 'status');
  const { collisionCount } = previous;
  return {
    observedGeneration: numberOf(partOf(deployment, 'metadata'), 'generation', 1),
    replicas: count('replicas'),
    updatedReplicas: statusCount(newest),
    readyReplicas: count('readyReplicas'),
    availableReplicas: available,
    terminatingReplicas: count('terminatingReplicas'),
    unavailableReplicas: Math.max(sum(sets) - available, 0),
    ...(collisionCount === undefined ? {} : { collisionCount }),
    conditions: withCondition(
      conditionsOf(previous),
      isAvailable
        ? {
            type: 'Available',
            status: 'True',
            reason: 'MinimumReplicasAvailable',
            message: 'Deployment has minimum availability.',
          }
        : {
            type: 'Available',
            status: 'False',
            reason: 'MinimumReplicasUnavailable',
            message: 'Deployment does not have minimum availability.',
          },
      now,
    ),
  };
}

/** The status with an updated Progressing condition. */
export function withProgressCondition(
  status: JsonObject,
  { deployment, newest }: Rollout,
  now: string,
): JsonObject {
  const conditions = conditionsOf(status);
  if (deadlineSeconds(deployment) === undefined)
    return { ...status, conditions: conditions.filter(({ type }) => type !== 'Progressing') };
  const before = conditionOf(conditions, 'Progressing');
  const isDone =
    before?.reason === 'NewReplicaSetAvailable' && status.replicas === status.updatedReplicas;
  if (isDone) return status;
  const subject =
    newest === undefined ? `Deployment "${deployment.name}"` : `ReplicaSet "${newest.name}"`;
  const withProgressing = (
    known: readonly JsonObject[],
    isTrue: boolean,
    [reason, does]: readonly [string, string],
  ) => ({
    ...status,
    conditions: withCondition(
      known,
      {
        type: 'Progressing',
        status: isTrue ? 'True' : 'False',
        reason,
        message: `${subject} ${does}.`,
      },
      now,
    ),
  });
  if (isComplete(deployment, status))
    return withProgressing(conditions, true, [
      'NewReplicaSetAvailable',
      'has successfully progressed',
    ]);
  if (hasProgressed(partOf(deployment, 'status'), status)) {
    // Also written when the reason is the same: each step restarts the deadline.
    const others = conditions.filter(({ type }) => type !== 'Progressing');
    const updated = withProgressing(others, true, ['ReplicaSetUpdated', 'is progressing']);
    return before?.status === 'True' ? withTransition(updated, before) : updated;
  }
  if (isPastDeadline(deployment, before, now))
    return withProgressing(conditions, false, [
      'ProgressDeadlineExceeded',
      'has timed out progressing',
    ]);
  return status;
}

function withTransition(status: JsonObject, { lastTransitionTime = null }: JsonObject): JsonObject {
  const conditions = conditionsOf(status).map((condition) =>
    condition.type === 'Progressing' ? { ...condition, lastTransitionTime } : condition,
  );
  return { ...status, conditions };
}

/** Returns whether all replicas run the newest template. */
export function isComplete(deployment: StoredObject, status: JsonObject): boolean {
  const desired = desiredReplicas(deployment);
  return (
    ['replicas', 'updatedReplicas', 'availableReplicas'].every(
      (name) => numberOf(status, name, 0) === desired,
    ) &&
    numberOf(status, 'observedGeneration', 0) >=
      numberOf(partOf(deployment, 'metadata'), 'generation', 1)
  );
}

function hasProgressed(before: JsonObject, after: JsonObject): boolean {
  const previous = (status: JsonObject) =>
    numberOf(status, 'replicas', 0) - numberOf(status, 'updatedReplicas', 0);
  const grew = (name: string) => numberOf(after, name, 0) > numberOf(before, name, 0);
  return (
    previous(after) < previous(before) ||
    ['updatedReplicas', 'readyReplicas', 'availableReplicas'].some(grew)
  );
}

/**
 * The time at which a rollout without progress exceeds its deadline, in ms since the epoch; undefined when it is complete or
 * late already.
 */
export function progressDeadlineMs(
  deployment: StoredObject,
  status: JsonObject,
): number | undefined {
  const progress = conditionOf(conditionsOf(status), 'Progressing');
  const seconds = deadlineSeconds(deployment);
  const reason = progress?.reason;
  if (progress === undefined || seconds === undefined) return undefined;
  if (reason === 'NewReplicaSetAvailable' || reason === 'ProgressDeadlineExceeded')
    return undefined;
  return Date.parse(stringField(progress, 'lastUpdateTime') ?? '') + seconds * 1_000;
}

function isPastDeadline(
  deployment: StoredObject,
  progress: JsonObject | undefined,
  now: string,
): boolean {
  if (progress?.reason === 'ProgressDeadlineExceeded') return true;
  const deadlineMs = progressDeadlineMs(deployment, {
    conditions: progress === undefined ? [] : [progress],
  });
  return deadlineMs !== undefined && deadlineMs < Date.parse(now);
}

/** The `conditions` of a status. */
export function conditionsOf(status: JsonObject): readonly JsonObject[] {
  return listField(status, 'conditions').filter(isJsonObject);
}

export function conditionOf(
  conditions: readonly JsonObject[],
  type: string,
): JsonObject | undefined {
  return conditions.find((condition) => condition.type === type);
}

export interface NewCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

/**
 * The conditions of a Deployment with one replaced, as the last one. A condition with the same status and reason keeps its
 * message; another status changes lastTransitionTime.
 */
export function withCondition(
  conditions: readonly JsonObject[],
  updated: NewCondition,
  now: string,
): readonly JsonObject[] {
  const before = conditionOf(conditions, updated.type);
  if (before?.status === updated.status && before.reason === updated.reason) return conditions;
  const others = conditions.filter(({ type }) => type !== updated.type);
  const since = before?.status === updated.status ? (before.lastTransitionTime ?? now) : now;
  return [...others, { ...updated, lastUpdateTime: now, lastTransitionTime: since }];
}

/** Reconciles an object again after a time. */
export type RequeueAfter = (key: string, ms: number) => void;
