import { freezeDeep } from '../../util/freeze-deep.ts';
import { apiVersionOf, type Gvk } from '../../util/gvk.ts';
import { isJsonObject, type JsonObject } from '../../util/json.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { KubeError } from '../kube-error.ts';
import type { StoredObject } from '../roles.ts';
import { StringPool } from './string-pool.ts';

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';
const ourManagers = 'homeostat/';

/**
 * Turns decoded JSON, which nobody else may hold, into objects of the cache: notes which managers of ours applied it,
 * then drops the `managedFields` and the last-applied annotation (59 % of the heap).
 * `gvk` is what was asked for: the entries of a list do not say their kind.
 * @throws KubeError `unexpected` for what is no object of Kubernetes.
 */
export type Ingest = (decoded: unknown, gvk: Gvk) => StoredObject;

export interface IngestOptions {
  /** Freezes every object, so that a test sees who changes one. @default false */
  readonly freeze?: boolean;
}

/** Makes an {@link Ingest}. Share it: equal strings and manager lists of all that it makes are held once. */
export function createIngest({ freeze = false }: IngestOptions = {}): Ingest {
  const pool = new StringPool();
  const managerLists = new Map<string, readonly string[]>();
  return (decoded, gvk) => {
    const object = asObject(decoded, gvk);
    const appliedBy = interned(managerLists, ourApplyManagers(object.metadata.managedFields));
    Reflect.deleteProperty(object.metadata, 'managedFields');
    dropLastApplied(object.metadata);
    internStrings(object.metadata, pool);
    const stored: StoredObject = { object: object as unknown as KubeObject, appliedBy };
    return freeze ? freezeDeep(stored) : stored;
  };
}

type Decoded = JsonObject & { readonly metadata: JsonObject };

function asObject(decoded: unknown, gvk: Gvk): Decoded {
  if (!isDecodedObject(decoded)) throw notAnObject(gvk);
  const isWhole = typeof decoded.kind === 'string' && typeof decoded.apiVersion === 'string';
  return isWhole ? decoded : { kind: gvk.kind, apiVersion: apiVersionOf(gvk), ...decoded };
}

function isDecodedObject(decoded: unknown): decoded is Decoded {
  if (!isJsonObject(decoded) || !isJsonObject(decoded.metadata)) return false;
  const { name, uid, resourceVersion } = decoded.metadata;
  return [name, uid, resourceVersion].every((value) => typeof value === 'string');
}

function notAnObject({ kind }: Gvk): KubeError {
  const message = `Expected an object of kind "${kind}" with name, uid and resourceVersion, found something else`;
  return new KubeError('unexpected', message, { status: 200 });
}

/** Our managers with an Apply entry on the main resource: a status apply does not make an object ours. */
function ourApplyManagers(managedFields: unknown): readonly string[] {
  if (!Array.isArray(managedFields)) return [];
  return managedFields.filter(isOurApplyEntry).map(({ manager }) => manager);
}

function isOurApplyEntry(entry: unknown): entry is { readonly manager: string } {
  if (!isJsonObject(entry) || entry.operation !== 'Apply') return false;
  const isMain = entry.subresource === undefined || entry.subresource === '';
  return isMain && typeof entry.manager === 'string' && entry.manager.startsWith(ourManagers);
}

function interned(
  lists: Map<string, readonly string[]>,
  managers: readonly string[],
): readonly string[] {
  const key = managers.join('\n');
  const known = lists.get(key);
  if (known !== undefined) return known;
  const list = Object.freeze([...managers].sort());
  lists.set(key, list);
  return list;
}

function dropLastApplied(metadata: JsonObject): void {
  const { annotations } = metadata;
  if (!isJsonObject(annotations) || !Object.hasOwn(annotations, lastApplied)) return;
  Reflect.deleteProperty(annotations, lastApplied);
  if (Object.keys(annotations).length === 0) Reflect.deleteProperty(metadata, 'annotations');
}

/** The values that repeat most; the engine of JavaScript holds equal keys once by itself. */
function internStrings(metadata: JsonObject, pool: StringPool): void {
  internFields(metadata, ['namespace'], pool);
  if (isJsonObject(metadata.labels))
    internFields(metadata.labels, Object.keys(metadata.labels), pool);
  if (!Array.isArray(metadata.ownerReferences)) return;
  for (const owner of metadata.ownerReferences) {
    if (isJsonObject(owner)) internFields(owner, ['apiVersion', 'kind', 'name', 'uid'], pool);
  }
}

function internFields(fields: JsonObject, names: readonly string[], pool: StringPool): void {
  for (const name of names) {
    const value = fields[name];
    if (typeof value === 'string') Reflect.set(fields, name, pool.intern(value));
  }
}
