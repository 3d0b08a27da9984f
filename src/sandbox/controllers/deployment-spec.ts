import type { Json, JsonObject } from '#util/json.ts';
import { fieldOf, objectField, stringField } from '../json-fields.ts';
import type { StoredObject } from '../store/stored-object.ts';
import { numberOf, partOf } from './controller-client.ts';
import { templateHash } from './revisions.ts';

export const hashLabel = 'pod-template-hash';
const noDeadline = 2_147_483_647;

/** The fields of a Deployment's spec, and the relation to its ReplicaSets. */
export function desiredReplicas(deployment: StoredObject): number {
  return numberOf(partOf(deployment, 'spec'), 'replicas', 1);
}

export function specReplicas(set: StoredObject): number {
  return numberOf(partOf(set, 'spec'), 'replicas', 1);
}

export function statusCount(set: StoredObject | undefined, name = 'replicas'): number {
  return set === undefined ? 0 : numberOf(partOf(set, 'status'), name, 0);
}

export function sum(
  sets: readonly StoredObject[],
  count: (set: StoredObject) => number = specReplicas,
): number {
  return sets.reduce((total, set) => total + count(set), 0);
}

export function isPaused(deployment: StoredObject): boolean {
  return partOf(deployment, 'spec').paused === true;
}

export function isRecreate(deployment: StoredObject): boolean {
  return objectField(partOf(deployment, 'spec'), 'strategy')?.type === 'Recreate';
}

/** Undefined when there is no deadline. */
export function deadlineSeconds(deployment: StoredObject): number | undefined {
  const seconds = numberOf(partOf(deployment, 'spec'), 'progressDeadlineSeconds', 600);
  return seconds === noDeadline ? undefined : seconds;
}

export function surgeOf(deployment: StoredObject): number {
  return isRecreate(deployment) ? 0 : shareOf(deployment, 'maxSurge', Math.ceil);
}

/** At least 1 when maxSurge is 0: otherwise no rollout could progress. */
export function maxUnavailableOf(deployment: StoredObject): number {
  if (isRecreate(deployment)) return 0;
  const unavailable = shareOf(deployment, 'maxUnavailable', Math.floor);
  const least = unavailable === 0 && surgeOf(deployment) === 0 ? 1 : unavailable;
  return Math.min(least, desiredReplicas(deployment));
}

function shareOf(
  deployment: StoredObject,
  name: 'maxSurge' | 'maxUnavailable',
  round: (value: number) => number,
): number {
  const strategy = objectField(partOf(deployment, 'spec'), 'strategy') ?? {};
  const value: Json = fieldOf(objectField(strategy, 'rollingUpdate') ?? {}, name) ?? '25%';
  if (typeof value === 'number') return value;
  return round((Number.parseInt(String(value), 10) * desiredReplicas(deployment)) / 100);
}

export function templateOf(deployment: StoredObject): JsonObject {
  return objectField(partOf(deployment, 'spec'), 'template') ?? {};
}

/** Returns whether the ReplicaSet has the Deployment's template, ignoring the hash label. */
export function hasTemplateOf(set: StoredObject, deployment: StoredObject): boolean {
  const labels = objectField(partOf(set, 'metadata'), 'labels') ?? {};
  return labels[hashLabel] === templateHash(templateOf(deployment));
}

/** The oldest first. */
export function byAge(sets: readonly StoredObject[]): readonly StoredObject[] {
  const creationTime = (set: StoredObject) =>
    stringField(partOf(set, 'metadata'), 'creationTimestamp') ?? '';
  return sets.toSorted((a, b) =>
    creationTime(a) === creationTime(b)
      ? a.name < b.name
        ? -1
        : 1
      : creationTime(a) < creationTime(b)
        ? -1
        : 1,
  );
}
