import { isJsonObject, type JsonObject } from './json.ts';

/** What stands in `status.conditions`. None where there is no list: the first event of a CRD has null. */
export function conditionsOf(object: unknown): readonly JsonObject[] {
  const status = isJsonObject(object) ? object.status : undefined;
  const conditions = isJsonObject(status) ? status.conditions : undefined;
  return Array.isArray(conditions) ? conditions.filter(isJsonObject) : [];
}
