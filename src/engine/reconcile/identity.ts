import type { GroupKindAt, KindAt, ObjectRef, RefAt, StoredObject } from '#kube/roles.ts';
import { type GroupKind, type Gvk, gvkKey, gvkOf } from '#util/gvk.ts';
import { type KubeObject, keyOf } from '#util/kube-object.ts';
import { childLabel } from '#util/stored-names.ts';

/** The id of the child by the object's own label; empty if there is none. */
export function childIdOf({ metadata }: Pick<KubeObject, 'metadata'>): string {
  return metadata.labels?.[childLabel] ?? '';
}

/** The kind in a cluster; undefined: in that of the resources. */
export function kindAt({ group, version, kind }: Gvk, cluster: string | undefined): KindAt {
  return { group, version, kind, cluster };
}

/** A map key for a kind in one cluster: `apps/v1/Deployment`, `paris-1:v1/Pod`. */
export function kindKey(kind: KindAt): string {
  return kind.cluster === undefined ? gvkKey(kind) : `${kind.cluster}:${gvkKey(kind)}`;
}

/** The topic of a desired object in {@link DependencyIndex}, with the version of its informer. */
export function topicOf(gvk: KindAt, namespace: string | undefined, name: string): string {
  return `${kindKey(gvk)}|${keyOf(namespace, name)}`;
}

/**
 * Identifies an object in every version of its kind (docs/definition/children.md#identity). Inventories store it:
 * `Secret team-a/db`, `rbac.authorization.k8s.io/ClusterRole reader`, `paris-1:Secret team-a/db`.
 */
export function identityOf(kind: GroupKindAt, namespace: string | undefined, name: string): string {
  const place = namespace === undefined ? name : keyOf(namespace, name);
  const identity = `${kindText(kind)} ${place}`;
  return kind.cluster === undefined ? identity : `${kind.cluster}:${identity}`;
}

/** The parts of an {@link identityOf}. */
export interface ObjectIdentity {
  readonly kind: GroupKindAt;
  readonly namespace: string | undefined;
  readonly name: string;
}

/** The reverse of {@link identityOf}; undefined: the text is not one. */
export function parseIdentity(text: unknown): ObjectIdentity | undefined {
  const [, cluster, kind = '', namespace, name = ''] =
    (typeof text === 'string' && /^(?:([a-z0-9-]+):)?(\S+) (?:([^/]+)\/)?([^/]+)$/.exec(text)) ||
    [];
  if (name === '') return undefined;
  return { kind: { ...parseKind(kind), cluster }, namespace, name };
}

/** `Secret`, `apps/Deployment`, in any cluster. */
export function kindText({ group, kind }: GroupKind): string {
  return group === '' ? kind : `${group}/${kind}`;
}

/** The reverse of {@link kindText}. */
function parseKind(text: string): GroupKind {
  const slash = text.lastIndexOf('/');
  const group = slash < 0 ? '' : text.slice(0, slash).trim();
  return { group, kind: text.slice(slash + 1).trim() };
}

/** The kinds in an annotation: `Secret,apps/Deployment`. Invalid entries are skipped: people edit annotations. */
export function parseKinds(text: string | undefined): readonly GroupKind[] {
  return (text ?? '')
    .split(',')
    .map((part) => parseKind(part.trim()))
    .filter(({ kind }) => kind !== '');
}

/** Kinds by {@link kindText}. */
export function kindsByText(kinds: Iterable<GroupKind>): ReadonlyMap<string, GroupKind> {
  return new Map(
    Array.from(kinds, ({ group, kind }) => [kindText({ group, kind }), { group, kind }]),
  );
}

/** Like {@link topicOf}, for a reference. */
export function topicOfRef({ gvk, namespace, name }: RefAt): string {
  return topicOf(gvk, namespace, name);
}

/** Like {@link identityOf}, for a reference. */
export function identityOfRef({ gvk, namespace, name }: RefAt): string {
  return identityOf(gvk, namespace, name);
}

/** A reference to an object. */
export function refTo<Kind extends Gvk>(
  gvk: Kind,
  namespace: string | undefined,
  name: string,
): ObjectRef<Kind> {
  return { gvk, name, ...(namespace === undefined ? {} : { namespace }) };
}

/** An object and its cluster. */
export type ObjectAt = Pick<StoredObject, 'object' | 'cluster'>;

/** The kind of an observed object, in its cluster. */
export function kindOf({ object, cluster }: ObjectAt): KindAt {
  return kindAt(gvkOf(object.apiVersion, object.kind), cluster);
}

/** A reference to an observed object. */
export function refOfStored(stored: ObjectAt): RefAt {
  const { name, namespace } = stored.object.metadata;
  return refTo(kindOf(stored), namespace, name);
}

/** A reference to an object in the cluster of the resources. */
export function refOfObject(object: KubeObject): RefAt {
  return refOfStored({ object, cluster: undefined });
}

/** Like {@link identityOf}, for an object. */
export function identityOfObject(stored: ObjectAt): string {
  const { name, namespace } = stored.object.metadata;
  return identityOf(kindOf(stored), namespace, name);
}

/**
 * Stored objects by cluster (the hub first), group, kind, namespace and name: the status lists them, and the order of the cache differs after
 * a restart.
 */
export function inFixedOrder<Stored extends ObjectAt>(
  objects: Iterable<Stored>,
): readonly Stored[] {
  const placeOf = (stored: Stored) => {
    const { cluster, group, kind } = kindOf(stored);
    const { name, namespace } = stored.object.metadata;
    // The separator sorts before all characters of names.
    return [cluster, group, kind, namespace, name].join('\0');
  };
  const places = Array.from(objects, (stored) => ({ stored, place: placeOf(stored) }));
  return places.sort((a, b) => (a.place < b.place ? -1 : 1)).map(({ stored }) => stored);
}
