import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { isJsonList, objectField, stringField, withField } from '../json-fields.ts';
import type { FieldsV1Codec } from './fields-v1.ts';
import { compareText } from './path-element.ts';
import { type PathSet, union } from './path-set.ts';

/** A manager: one entry of `metadata.managedFields`. An applier has one entry for all versions, an updater one entry per version. */
interface ManagerName {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  /** Only for updaters. */
  readonly apiVersion?: string;
  readonly subresource?: string;
}

/** A manager as a map key; sorts as the server sorts managers in messages. */
export type ManagerId = string;

export interface ManagedSet {
  readonly set: PathSet;
  /** The version of the paths. */
  readonly apiVersion: string;
  readonly applied: boolean;
  /** The time of the manager's last change: RFC 3339 with seconds. */
  readonly time: string | undefined;
}

export type Managers = ReadonlyMap<ManagerId, ManagedSet>;

export function managerId(name: ManagerName): ManagerId {
  const { manager, operation, apiVersion, subresource } = name;
  // In the server's order of fields: managers are sorted by this text.
  return JSON.stringify({
    ...(manager === '' ? {} : { manager }),
    operation,
    ...(apiVersion === undefined ? {} : { apiVersion }),
    ...(subresource === undefined || subresource === '' ? {} : { subresource }),
  });
}

export function managerName(id: ManagerId): ManagerName {
  return { manager: '', ...JSON.parse(id) };
}

/** Returns whether a written `managedFields` resets all ownership (`[]` or `[{}]`). */
export function isReset(managedFields: Json | undefined): boolean {
  if (!isJsonList(managedFields)) return false;
  const [only, ...others] = managedFields;
  if (only === undefined) return true;
  return others.length === 0 && isJsonObject(only) && Object.keys(only).length === 0;
}

/** Parses `managedFields`; undefined when they are invalid. */
export function readManagers(
  managedFields: Json | undefined,
  codec: FieldsV1Codec,
): Managers | undefined {
  const managers = new Map<ManagerId, ManagedSet>();
  if (!isJsonList(managedFields)) return managers;
  for (const entry of managedFields) {
    if (!isJsonObject(entry)) return undefined;
    const read = readEntry(entry, codec);
    if (read === undefined) return undefined;
    managers.set(...read);
  }
  return managers;
}

function readEntry(entry: JsonObject, codec: FieldsV1Codec): [ManagerId, ManagedSet] | undefined {
  const operation = stringField(entry, 'operation');
  if (operation !== 'Apply' && operation !== 'Update') return undefined;
  if (stringField(entry, 'fieldsType') !== 'FieldsV1') return undefined;
  const apiVersion = stringField(entry, 'apiVersion') ?? '';
  const applied = operation === 'Apply';
  const subresource = stringField(entry, 'subresource') ?? '';
  const id = managerId({
    manager: stringField(entry, 'manager') || 'unknown',
    operation,
    ...(applied ? {} : { apiVersion }),
    ...(subresource === '' ? {} : { subresource }),
  });
  const set = readFields(entry.fieldsV1, codec);
  return set && [id, { set, apiVersion, applied, time: stringField(entry, 'time') }];
}

function readFields(fields: Json | undefined, codec: FieldsV1Codec): PathSet | undefined {
  try {
    return codec.read(fields);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Serialises `managedFields` in the server's order. */
export function writeManagers(managers: Managers, codec: FieldsV1Codec): readonly JsonObject[] {
  return [...managers]
    .map(([id, managed]) => ({ name: managerName(id), managed }))
    .sort(compareEntries)
    .map(({ name, managed }) => writeEntry(name, managed, codec));
}

interface NamedSet {
  readonly name: ManagerName;
  readonly managed: ManagedSet;
}

function compareEntries(a: NamedSet, b: NamedSet): number {
  return (
    compareText(a.name.operation, b.name.operation) ||
    compareText(a.managed.time ?? '', b.managed.time ?? '') ||
    compareText(a.name.manager, b.name.manager) ||
    compareText(a.managed.apiVersion, b.managed.apiVersion) ||
    compareText(a.name.subresource ?? '', b.name.subresource ?? '')
  );
}

function writeEntry(
  { manager, operation, subresource }: ManagerName,
  managed: ManagedSet,
  codec: FieldsV1Codec,
) {
  const { set, apiVersion, time } = managed;
  return {
    ...(manager === '' ? {} : { manager }),
    operation,
    apiVersion,
    ...(time === undefined ? {} : { time }),
    fieldsType: 'FieldsV1',
    fieldsV1: codec.write(set),
    ...(subresource === undefined ? {} : { subresource }),
  };
}

/** The `metadata.managedFields` of an object. */
export function managedFieldsOf(object: JsonObject | undefined): Json | undefined {
  return object && objectField(object, 'metadata')?.managedFields;
}

/** The object with the given managedFields, or without any. */
export function withManagedFields(
  object: JsonObject,
  managedFields: readonly JsonObject[] | undefined,
): JsonObject {
  const metadata = objectField(object, 'metadata');
  if (metadata === undefined && managedFields === undefined) return object;
  if (managedFields === undefined && metadata?.managedFields === undefined) return object;
  return withField(object, 'metadata', withField(metadata ?? {}, 'managedFields', managedFields));
}

/** The maximum number of updaters that an object lists by name. */
const maxUpdaters = 10;

/** Merges the oldest updaters of a version into one entry, `ancient-changes`, when there are too many. */
export function mergeOldUpdaters(managers: Managers): Managers {
  const updaters = [...managers].filter(([, { applied }]) => !applied).sort(compareAge);
  let count = updaters.length;
  if (count <= maxUpdaters) return managers;
  const merged = new Map<ManagerId, ManagedSet>(managers);
  const firstOfVersion = new Map<string, readonly [ManagerId, ManagedSet]>();
  for (const [id, managed] of updaters) {
    if (count <= maxUpdaters) break;
    const { apiVersion } = managed;
    const first = firstOfVersion.get(apiVersion);
    if (first === undefined) {
      firstOfVersion.set(apiVersion, [id, managed]);
      continue;
    }
    const ancient = managerId({ manager: 'ancient-changes', operation: 'Update', apiVersion });
    if (!merged.has(ancient)) {
      merged.delete(first[0]);
      merged.set(ancient, first[1]);
    }
    const set = union(managed.set, merged.get(ancient)?.set ?? managed.set);
    merged.delete(id);
    merged.set(ancient, { ...managed, set });
    count--;
  }
  return merged;
}

type Entry = readonly [ManagerId, ManagedSet];

function compareAge([a, { time: aTime }]: Entry, [b, { time: bTime }]: Entry): number {
  return compareText(aTime ?? '', bTime ?? '') || compareText(a, b);
}
