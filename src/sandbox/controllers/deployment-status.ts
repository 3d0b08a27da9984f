import type { JsonObject } from '../../util/json.ts';
import { stringField } from '../json-fields.ts';
import type { StoredObject } from '../store/index.ts';
import { conditionOf, conditionsOf, withCondition } from './conditions.ts';
import { numberOf, partOf } from './controller-world.ts';
import type { Rollout } from './deployment-sizes.ts';
import {
  deadlineSeconds,
  maxUnavailableOf,
  statusCount,
  sum,
  wantedReplicas,
} from './deployment-spec.ts';

/** What there is of a Deployment, as its status tells it; of its progress nothing new. */
export function statusOf({ deployment, newest, others }: Rollout, now: string): JsonObject {
  const sets = newest === undefined ? others : [...others, newest];
  const count = (name: string) => sum(sets, (set) => statusCount(set, name));
  const available = count('availableReplicas');
  const isAvailable = available >= wantedReplicas(deployment) - maxUnavailableOf(deployment);
  const old = partOf(deployment, 'status');
  const { collisionCount } = old;
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
      conditionsOf(old),
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

/** The status with what it says of the progress of a rollout. */
export function withProgress(
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
  const who =
    newest === undefined ? `Deployment "${deployment.name}"` : `ReplicaSet "${newest.name}"`;
  const say = (
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
        message: `${who} ${does}.`,
      },
      now,
    ),
  });
  if (isComplete(deployment, status))
    return say(conditions, true, ['NewReplicaSetAvailable', 'has successfully progressed']);
  if (hasProgressed(partOf(deployment, 'status'), status)) {
    // Said again also with the same reason: from each step on the time runs anew.
    const others = conditions.filter(({ type }) => type !== 'Progressing');
    const said = say(others, true, ['ReplicaSetUpdated', 'is progressing']);
    return before?.status === 'True' ? withTransition(said, before) : said;
  }
  if (isLate(deployment, before, now))
    return say(conditions, false, ['ProgressDeadlineExceeded', 'has timed out progressing']);
  return status;
}

function withTransition(status: JsonObject, { lastTransitionTime = null }: JsonObject): JsonObject {
  const conditions = conditionsOf(status).map((condition) =>
    condition.type === 'Progressing' ? { ...condition, lastTransitionTime } : condition,
  );
  return { ...status, conditions };
}

/** Do all replicas run the newest template? */
export function isComplete(deployment: StoredObject, status: JsonObject): boolean {
  const wanted = wantedReplicas(deployment);
  return (
    ['replicas', 'updatedReplicas', 'availableReplicas'].every(
      (name) => numberOf(status, name, 0) === wanted,
    ) &&
    numberOf(status, 'observedGeneration', 0) >=
      numberOf(partOf(deployment, 'metadata'), 'generation', 1)
  );
}

function hasProgressed(before: JsonObject, after: JsonObject): boolean {
  const old = (status: JsonObject) =>
    numberOf(status, 'replicas', 0) - numberOf(status, 'updatedReplicas', 0);
  const grew = (name: string) => numberOf(after, name, 0) > numberOf(before, name, 0);
  return (
    old(after) < old(before) || ['updatedReplicas', 'readyReplicas', 'availableReplicas'].some(grew)
  );
}

/** When a rollout that does not come on is late, in ms since the epoch; undefined when it is done, or late already. */
export function lateAtMs(deployment: StoredObject, status: JsonObject): number | undefined {
  const progress = conditionOf(conditionsOf(status), 'Progressing');
  const seconds = deadlineSeconds(deployment);
  const reason = progress?.reason;
  if (progress === undefined || seconds === undefined) return undefined;
  if (reason === 'NewReplicaSetAvailable' || reason === 'ProgressDeadlineExceeded')
    return undefined;
  return Date.parse(stringField(progress, 'lastUpdateTime') ?? '') + seconds * 1_000;
}

function isLate(deployment: StoredObject, progress: JsonObject | undefined, now: string): boolean {
  if (progress?.reason === 'ProgressDeadlineExceeded') return true;
  const late = lateAtMs(deployment, { conditions: progress === undefined ? [] : [progress] });
  return late !== undefined && late < Date.parse(now);
}
