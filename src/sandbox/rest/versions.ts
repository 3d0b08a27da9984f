import type { JsonObject } from '../../util/json.ts';
import { withField } from '../json-fields.ts';
import type { ServedKind } from '../kinds/index.ts';
import type { StoredObject } from '../store/index.ts';

/** A stored object in the version of a request. Versions convert by name only. */
export function inVersion(kind: ServedKind, stored: StoredObject): JsonObject {
  const { object } = stored;
  return object.apiVersion === kind.apiVersion
    ? object
    : withField(object, 'apiVersion', kind.apiVersion);
}

/** An object in the version that it is stored in. */
export function inStorageVersion(kind: ServedKind, object: JsonObject): JsonObject {
  return kind.apiVersion === kind.storageApiVersion
    ? object
    : withField(object, 'apiVersion', kind.storageApiVersion);
}
