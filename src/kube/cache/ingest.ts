import { freezeDeep } from '../../util/freeze-deep.ts';
import { apiVersionOf, type Gvk } from '../../util/gvk.ts';
import { isJsonObject, type JsonObject } from '../../util/json.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { KubeError } from '../kube-error.ts';
import type { StoredObject } from '../roles.ts';
import { StringPool } from './string-pool.ts';

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';
const ourManagers = 'homeostat/';
/** A few for each definition. */
const maxManagerLists = 10_000;

/**
 * Turns decoded JSON into an object of the cache, which shares all but its metadata with it: notes which managers of
 * ours applied it, then leaves out the `managedFields` and the last-applied annotation (59 % of the heap).
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
    if (!isDecodedObject(decoded)) throw notAnObject(gvk);
    // Copied rather than deleted from: an object that lost a property is slow to read ever after.
    const { managedFields, ...metadata } = decoded.metadata;
    const object = {
      apiVersion: apiVersionOf(gvk),
      kind: gvk.kind,
      ...decoded,
      metadata: { ...metadata, ...slimmed(metadata, pool) },
    };
    const appliedBy = interned(managerLists, ourApplyManagers(managedFields));
    const stored: StoredObject = { object, appliedBy };
    return freeze ? freezeDeep(stored) : stored;
  };
}

/** What must be there is looked at; the rest of the metadata is as the server checked it. */
type Decoded = JsonObject & { readonly metadata: KubeObject['metadata'] & JsonObject };

function isDecodedObject(decoded: unknown): decoded is Decoded {
  if (!isJsonObject(decoded) || !isJsonObject(decoded.metadata)) return false;
  const { name, uid, resourceVersion } = decoded.metadata;
  return typeof name === 'string' && typeof uid === 'string' && typeof resourceVersion === 'string';
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
  // Anyone may apply under such a name: starting anew costs no more than some doubles.
  if (lists.size >= maxManagerLists) lists.clear();
  lists.set(key, list);
  return list;
}

/** The parts of the metadata that are held otherwise than they came: less of them, and equal strings once. */
function slimmed(
  metadata: KubeObject['metadata'],
  pool: StringPool,
): Partial<KubeObject['metadata']> {
  const { namespace, labels, annotations } = metadata;
  return {
    ...(namespace === undefined ? {} : { namespace: pool.intern(namespace) }),
    ...(labels === undefined ? {} : { labels: pool.internValues(labels) }),
    ...(annotations === undefined ? {} : { annotations: withoutLastApplied(annotations) }),
  };
}

function withoutLastApplied(
  annotations: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  if (!Object.hasOwn(annotations, lastApplied)) return annotations;
  const { [lastApplied]: _, ...others } = annotations;
  return others;
}
