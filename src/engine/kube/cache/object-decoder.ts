import { uidIn } from '#util/foreign-text.ts';
import { isNamespaceName } from '#util/glob.ts';
import { apiVersionOf, type Gvk } from '#util/gvk.ts';
import { freezeDeep, isJsonObject, type JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { objectNamePattern } from '#util/object-name.ts';
import { KubeError } from '../kube-error.ts';
import type { StoredObject } from '../roles.ts';

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';
const ourManagers = 'homeostat/';
/** Upper bound of interned manager lists. */
const maxManagerLists = 10_000;

/**
 * Converts parsed JSON to a cached object, which shares all but its metadata: records our field managers, then drops
 * `managedFields` and the last-applied annotation (59 % of the heap). `gvk` is the requested kind: list items do not
 * contain it.
 * @throws KubeError `unexpected` if it is not a Kubernetes object.
 */
export type ObjectDecoder = (decoded: unknown, gvk: Gvk) => StoredObject;

interface ObjectDecoderOptions {
  /** Freezes every object, so that tests detect mutations. @default false */
  readonly freeze?: boolean;
  /** The server is not trusted: what identifies an object is checked. @default false */
  readonly isForeign?: boolean;
}

/** Creates an {@link ObjectDecoder}. Share it: equal strings and manager lists are stored once. */
export function createObjectDecoder({
  freeze = false,
  isForeign = false,
}: ObjectDecoderOptions = {}): ObjectDecoder {
  const pool = new StringPool();
  const managerLists = new Map<string, readonly string[]>();
  return (decoded, gvk) => {
    if (!isDecodedObject(decoded)) throw notAnObject(gvk);
    if (isForeign && !isIdentified(decoded.metadata)) throw notIdentified(gvk);
    // Copied, because objects with deleted properties are slow to read.
    const { managedFields, ...metadata } = decoded.metadata;
    const object = {
      apiVersion: apiVersionOf(gvk),
      kind: gvk.kind,
      ...decoded,
      metadata: { ...metadata, ...slimmed(metadata, pool) },
    };
    const appliedBy = interned(managerLists, ourApplyManagers(managedFields));
    const stored: StoredObject = { object, cluster: undefined, appliedBy };
    return freeze ? freezeDeep(stored) : stored;
  };
}

/** Required fields are checked; the server has validated the rest. */
type Decoded = JsonObject & { readonly metadata: KubeObject['metadata'] & JsonObject };

function isDecodedObject(decoded: unknown): decoded is Decoded {
  if (!isJsonObject(decoded) || !isJsonObject(decoded.metadata)) return false;
  const { name, uid, resourceVersion } = decoded.metadata;
  return typeof name === 'string' && typeof uid === 'string' && typeof resourceVersion === 'string';
}

const versionText = /^[\x21-\x7e]{1,64}$/;

/** Whether a text can be a resourceVersion: it becomes a part of a URL. */
export function isVersion(text: string): boolean {
  return versionText.test(text);
}

/** Whether the texts that identify an object are those of an API server: they become keys, paths and messages. */
function isIdentified({ name, namespace, uid, resourceVersion }: Decoded['metadata']): boolean {
  const isInPlace =
    namespace === undefined || (typeof namespace === 'string' && isNamespaceName(namespace));
  const hasVersion = isVersion(String(resourceVersion));
  return objectNamePattern.test(name) && isInPlace && uidIn(uid) !== undefined && hasVersion;
}

function notIdentified({ kind }: Gvk): KubeError {
  const message = `Expected an object of kind "${kind}" with a valid name, namespace, uid and resourceVersion, found others`;
  return new KubeError('unexpected', message, { status: 200 });
}

function notAnObject({ kind }: Gvk): KubeError {
  const message = `Expected an object of kind "${kind}" with name, uid and resourceVersion, found another value`;
  return new KubeError('unexpected', message, { status: 200 });
}

/** Our managers with an Apply entry on the main resource. A status apply does not count. */
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
  // Other clients can use such names too. Clearing the map only costs some duplicates.
  if (lists.size >= maxManagerLists) lists.clear();
  lists.set(key, list);
  return list;
}

/** The metadata fields that are reduced or interned. */
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

const maxStrings = 20_000;

/** Interns strings, so that repeated values are stored once. Bounded. */
class StringPool {
  readonly #strings = new Map<string, string>();

  intern(text: string): string {
    const known = this.#strings.get(text);
    if (known !== undefined) return known;
    // Unique values would fill the pool. Clearing it only costs some duplicates.
    if (this.#strings.size >= maxStrings) this.#strings.clear();
    this.#strings.set(text, text);
    return text;
  }

  /** The same fields with interned values. */
  internValues(fields: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    const copy: Record<string, string> = {};
    for (const [name, value] of Object.entries(fields)) copy[name] = this.intern(value);
    return copy;
  }
}
