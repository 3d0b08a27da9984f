import { isJsonObject, type JsonObject } from '../json.ts';
import { conditionsOf, type KubeObject } from '../kube-object.ts';

/** One entry of `status.conditions`. */
export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
}

const nothing: JsonObject = {};

/** The object in a field, or an empty one. */
export function objectAt(parent: unknown, field: string): JsonObject {
  const value = isJsonObject(parent) ? parent[field] : undefined;
  return isJsonObject(value) ? value : nothing;
}

/** The objects of a list field, or an empty list. */
export function objectsAt(parent: unknown, field: string): readonly JsonObject[] {
  const value = isJsonObject(parent) ? parent[field] : undefined;
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** The number in a field, or the default: servers omit counts of zero. */
export function numberAt(parent: JsonObject, field: string, byDefault = 0): number {
  const value = parent[field];
  return typeof value === 'number' ? value : byDefault;
}

export function textAt(parent: JsonObject, field: string): string | undefined {
  const value = parent[field];
  return typeof value === 'string' ? value : undefined;
}

export function specOf(object: KubeObject): JsonObject {
  return objectAt(object, 'spec');
}

export function statusOf(object: KubeObject): JsonObject {
  return objectAt(object, 'status');
}

/** The condition of that type. */
export function conditionOf(object: KubeObject, type: string): Condition | undefined {
  const found = conditionsOf(object).find((entry) => entry.type === type);
  if (found === undefined) return undefined;
  const reason = textAt(found, 'reason');
  return {
    type,
    status: textAt(found, 'status') ?? 'Unknown',
    ...(reason === undefined || reason === '' ? {} : { reason }),
  };
}

/**
 * `Available is False (MinimumReplicasUnavailable)`. The condition's message is left out: it may contain times and
 * random names.
 */
export function conditionText({ type, status, reason }: Condition): string {
  return `${type} is ${status}${reason === undefined ? '' : ` (${reason})`}`;
}

/** Readiness of an object. The message is stable: no times, random names or resourceVersions. */
export interface Readiness {
  readonly state: 'Ready' | 'Progressing' | 'Failed';
  /** For people, without the object's name: `2 of 3 replicas are ready`. */
  readonly message: string;
}

export function ready(message: string): Readiness {
  return { state: 'Ready', message };
}

export function progressing(message: string): Readiness {
  return { state: 'Progressing', message };
}

export function failed(message: string): Readiness {
  return { state: 'Failed', message };
}
