import { isJsonObject, type JsonObject } from '../../util/json.ts';
import { listField } from '../json-fields.ts';

/** What a status says under `conditions`. */
export function conditionsOf(status: JsonObject): readonly JsonObject[] {
  return listField(status, 'conditions').filter(isJsonObject);
}

export function conditionOf(
  conditions: readonly JsonObject[],
  type: string,
): JsonObject | undefined {
  return conditions.find((condition) => condition.type === type);
}

export interface SaidCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

/**
 * The conditions of a Deployment with one said anew, as its last. One with this status and reason stays as it is, with
 * its message; another status is a transition.
 */
export function withCondition(
  conditions: readonly JsonObject[],
  said: SaidCondition,
  now: string,
): readonly JsonObject[] {
  const before = conditionOf(conditions, said.type);
  if (before?.status === said.status && before.reason === said.reason) return conditions;
  const others = conditions.filter(({ type }) => type !== said.type);
  const since = before?.status === said.status ? (before.lastTransitionTime ?? now) : now;
  return [...others, { ...said, lastUpdateTime: now, lastTransitionTime: since }];
}
