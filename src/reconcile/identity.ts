import type { ObjectRef } from '../kube/roles.ts';
import { type Gvk, gvkKey, gvkOf } from '../util/gvk.ts';
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
 * Identifies an object in every version of its kind: member cluster, group, kind, namespace and name
 * (docs/definition/children.md#identity).
 */
export function identityOf(
  { group, kind }: Pick<Gvk, 'group' | 'kind'>,
  namespace: string | undefined,
  name: string,
  cluster?: string,
): string {
  return `${placeOf(cluster)}${group}/${kind}|${keyOf(namespace, name)}`;
}

/** Like {@link topicOf}, for a reference. */
export function topicOfRef({ gvk, namespace, name, cluster }: ObjectRef): string {
  return topicOf(gvk, namespace, name, cluster);
}

/** Like {@link identityOf}, for a reference. */
export function identityOfRef({ gvk, namespace, name, cluster }: ObjectRef): string {
  return identityOf(gvk, namespace, name, cluster);
}

/** A reference to an observed object. */
export function refOfStored(object: KubeObject): ObjectRef {
  const { apiVersion, kind, metadata } = object;
  const { name, namespace } = metadata;
  const cluster = memberOf(object);
  return {
    gvk: gvkOf(apiVersion, kind),
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(cluster === undefined ? {} : { cluster }),
  };
}

/** Like {@link identityOf}, for an object. */
export function identityOfObject(object: KubeObject): string {
  return identityOfRef(refOfStored(object));
}

/** Stored objects in an order that does not depend on the cache, whose order differs after a restart: the status lists them. */
export function inFixedOrder<Stored extends { readonly object: KubeObject }>(
  objects: Iterable<Stored>,
): readonly Stored[] {
  const keyed = [...objects].map((stored) => ({ stored, key: identityOfObject(stored.object) }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ stored }) => stored);
}
