import { conditionsOf } from '../conditions-of.ts';
import { isJsonObject, type JsonObject } from '../json.ts';
import type { KubeObject } from '../kube-object.ts';

/** One entry of `status.conditions`. */
export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
}

const nothing: JsonObject = {};

/** A field that holds an object, or an empty one. */
export function objectAt(parent: unknown, field: string): JsonObject {
  const value = isJsonObject(parent) ? parent[field] : undefined;
  return isJsonObject(value) ? value : nothing;
}

/** A field that holds a list of objects, or an empty one. */
export function objectsAt(parent: unknown, field: string): readonly JsonObject[] {
  const value = isJsonObject(parent) ? parent[field] : undefined;
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** A number, or the default: servers leave out counts of zero. */
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

/** `Available is False (MinimumReplicasUnavailable)`. Conditions' own messages may hold times and random names. */
export function conditionText({ type, status, reason }: Condition): string {
  return `${type} is ${status}${reason === undefined ? '' : ` (${reason})`}`;
}
