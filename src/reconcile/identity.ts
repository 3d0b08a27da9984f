import type { ObjectRef } from '../kube/roles.ts';
import { type GroupKind, type Gvk, gvkKey, gvkOf } from '../util/gvk.ts';
import { type KubeObject, keyOf } from '../util/kube-object.ts';
import { memberOf } from '../util/member-cluster.ts';
import { childLabel } from './names.ts';

/** The id of the child by the object's own label; empty if there is none. */
export function childIdOf({ metadata }: Pick<KubeObject, 'metadata'>): string {
  return metadata.labels?.[childLabel] ?? '';
}

/** The part of a topic or identity that names the member cluster; empty on the hub. */
function placeOf(cluster: string | undefined): string {
  return cluster === undefined ? '' : `${cluster}:`;
}

/** The topic of a desired object in {@link DependencyIndex}, with the version of its informer. */
export function topicOf(
  gvk: Gvk,
  namespace: string | undefined,
  name: string,
  cluster?: string,
): string {
  return `${placeOf(cluster)}${gvkKey(gvk)}|${keyOf(namespace, name)}`;
}

/**
 * Identifies an object in every version of its kind (docs/definition/children.md#identity). Inventories store it:
 * `Secret team-a/db`, `rbac.authorization.k8s.io/ClusterRole reader`, `paris-1:Secret team-a/db`.
 */
export function identityOf(
  kind: GroupKind,
  namespace: string | undefined,
  name: string,
  cluster?: string,
): string {
  const place = namespace === undefined ? name : keyOf(namespace, name);
  return `${placeOf(cluster)}${kindText(kind)} ${place}`;
}

/** The parts of an {@link identityOf}. */
export interface ObjectIdentity {
  readonly kind: GroupKind;
  readonly namespace: string | undefined;
  readonly name: string;
  /** The member cluster. @default undefined: the cluster of the resource */
  readonly cluster?: string;
}

/** The reverse of {@link identityOf}; undefined: the text is not one. */
export function parseIdentity(text: unknown): ObjectIdentity | undefined {
  const [, cluster, kind = '', namespace, name = ''] =
    (typeof text === 'string' && /^(?:([a-z0-9-]+):)?(\S+) (?:([^/]+)\/)?([^/]+)$/.exec(text)) ||
    [];
  if (name === '') return undefined;
  return { kind: parseKind(kind), namespace, name, ...(cluster === undefined ? {} : { cluster }) };
}

/** `Secret`, `apps/Deployment`. */
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
export function topicOfRef({ gvk, namespace, name, cluster }: ObjectRef): string {
  return topicOf(gvk, namespace, name, cluster);
}

/** Like {@link identityOf}, for a reference. */
export function identityOfRef({ gvk, namespace, name, cluster }: ObjectRef): string {
  return identityOf(gvk, namespace, name, cluster);
}

/** A reference to an object. */
export function refTo(
  gvk: Gvk,
  namespace: string | undefined,
  name: string,
  cluster?: string,
): ObjectRef {
  return {
    gvk,
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(cluster === undefined ? {} : { cluster }),
  };
}

/** A reference to an observed object. */
export function refOfStored(object: KubeObject): ObjectRef {
  const { apiVersion, kind, metadata } = object;
  const { name, namespace } = metadata;
  return refTo(gvkOf(apiVersion, kind), namespace, name, memberOf(object));
}

/** Like {@link identityOf}, for an object. */
export function identityOfObject(object: KubeObject): string {
  const { apiVersion, kind, metadata } = object;
  return identityOf(gvkOf(apiVersion, kind), metadata.namespace, metadata.name, memberOf(object));
}

/**
 * Stored objects by cluster (the hub first), group, kind, namespace and name: the status lists them, and the order of the cache differs after
 * a restart.
 */
export function inFixedOrder<Stored extends { readonly object: KubeObject }>(
  objects: Iterable<Stored>,
): readonly Stored[] {
  const placeOf = ({ object }: Stored) => {
    const { apiVersion, kind, metadata } = object;
    const { group } = gvkOf(apiVersion, kind);
    // The separator sorts before all characters of names.
    return [memberOf(object), group, kind, metadata.namespace, metadata.name].join('\0');
  };
  const places = Array.from(objects, (stored) => ({ stored, place: placeOf(stored) }));
  return places.sort((a, b) => (a.place < b.place ? -1 : 1)).map(({ stored }) => stored);
}
