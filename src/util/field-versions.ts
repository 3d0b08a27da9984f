import { isDeeperThan, isJsonObject, type JsonObject } from './json.ts';

/** Fields that are nested deeper belong to no manager afterwards: they could be neither converted nor sent. No schema is as deep. */
const mostLevels = 500;

/**
 * Renames the version of entries of `managedFields`: the API server rejects every apply to an object while an entry has a version that
 * its kind no longer has, and every other update drops all entries. The fields themselves stay as they are: the server never converts them
 * either, and ignores those that its schema does not have. Pure.
 * @param managedFields As sent by the server.
 * @param isOld Whether an API version is to be replaced: `example.com/v1alpha1`.
 * @param to An API version that the kind has.
 * @param convert Returns the fields of an entry in the new version. @default they stay as they are
 * @returns the new entries; undefined if none has such a version
 */
export function withFieldVersion(
  managedFields: unknown,
  isOld: (apiVersion: string) => boolean,
  to: string,
  convert: (fields: JsonObject, apiVersion: string) => JsonObject = (fields) => fields,
): readonly JsonObject[] | undefined {
  if (!Array.isArray(managedFields)) return undefined;
  const entries = managedFields.filter(isJsonObject);
  const isRenamed = ({ apiVersion }: JsonObject) => isOld(String(apiVersion));
  if (!entries.some(isRenamed)) return undefined;
  const byManager = new Map<string, JsonObject>();
  for (const entry of entries) {
    if (isDeeperThan(entry, mostLevels)) continue;
    const renamed = isRenamed(entry) ? inVersion(entry, to, convert) : entry;
    if (renamed === undefined) continue;
    const key = managerKey(renamed);
    const before = byManager.get(key);
    byManager.set(key, before === undefined ? renamed : merged(before, renamed));
  }
  return [...byManager.values()];
}

/** Undefined: nothing of its fields is left. */
function inVersion(
  entry: JsonObject,
  to: string,
  convert: (fields: JsonObject, apiVersion: string) => JsonObject,
): JsonObject | undefined {
  const { fieldsV1 } = entry;
  if (!isJsonObject(fieldsV1)) return { ...entry, apiVersion: to };
  const converted = convert(fieldsV1, String(entry.apiVersion));
  const isLost = Object.keys(converted).length === 0 && Object.keys(fieldsV1).length > 0;
  return isLost ? undefined : { ...entry, apiVersion: to, fieldsV1: converted };
}

/** Identifies a manager as the API server does: with the version for updates, without it for applies. */
function managerKey({ manager, operation, subresource, apiVersion }: JsonObject): string {
  return JSON.stringify([
    manager,
    operation,
    subresource ?? '',
    operation === 'Apply' ? '' : apiVersion,
  ]);
}

/** One manager with the fields of both entries, and the later time. */
function merged(a: JsonObject, b: JsonObject): JsonObject {
  const newer = String(b.time ?? '') > String(a.time ?? '') ? b : a;
  return { ...newer, fieldsV1: unionOf(a.fieldsV1, b.fieldsV1) };
}

function unionOf(a: JsonObject[string] | undefined, b: JsonObject[string] | undefined): JsonObject {
  if (!isJsonObject(a) || !isJsonObject(b)) return isJsonObject(a) ? a : isJsonObject(b) ? b : {};
  const shared = Object.keys(b).filter((key) => Object.hasOwn(a, key));
  return { ...a, ...b, ...Object.fromEntries(shared.map((key) => [key, unionOf(a[key], b[key])])) };
}
