import { deepEqual } from '../../util/deep-equal.ts';
import { isJsonObject, type JsonObject } from '../../util/json.ts';
import { listField, objectField, withField } from '../json-fields.ts';
import { withMetadata } from '../kinds/index.ts';

/**
 * An update that changes nothing but the times of managedFields changes nothing: then the times stay.
 */
export function withOldTimesIfSame(next: JsonObject, before: JsonObject): JsonObject {
  const [fields, old] = [managedFields(next), managedFields(before)];
  if (fields.length !== old.length || old.length === 0) return next;
  if (!deepEqual(fields.map(withoutTime), old.map(withoutTime))) return next;
  const restored = withMetadata(next, 'managedFields', old);
  return deepEqual(restored, before) ? restored : next;
}

function managedFields(object: JsonObject) {
  return listField(objectField(object, 'metadata') ?? {}, 'managedFields');
}

function withoutTime(entry: unknown): unknown {
  return isJsonObject(entry) ? withField(entry, 'time', undefined) : entry;
}
