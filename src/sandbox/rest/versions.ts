import type { JsonObject } from '../../util/json.ts';
import { withField } from '../json-fields.ts';
import type { Readable, ServedKind } from '../kinds/index.ts';

/** A stored object in the version of a request, as it is read today. */
export function inVersion(kind: ServedKind, stored: Readable): JsonObject {
  const { object } = stored;
  if (object.apiVersion === kind.apiVersion) return kind.read(stored, object);
  const converted = kind.conversion?.fromStored(object) ?? object;
  return kind.read(stored, withField(converted, 'apiVersion', kind.apiVersion));
}

/** An object in the version that it is stored in. */
export function inStorageVersion(kind: ServedKind, object: JsonObject): JsonObject {
  if (kind.apiVersion === kind.storageApiVersion) return object;
  const converted = kind.conversion?.toStored(object) ?? object;
  return withField(converted, 'apiVersion', kind.storageApiVersion);
}

/** The group whose rules objects are checked by: of Events in their new form, that of the old one. */
export function storageGroup({ storageApiVersion }: ServedKind): string {
  const slash = storageApiVersion.indexOf('/');
  return storageApiVersion.slice(0, Math.max(slash, 0));
}
