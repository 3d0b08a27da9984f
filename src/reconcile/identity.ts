import type { ObjectRef } from '../kube/roles.ts';
import { type Gvk, gvkKey, gvkOf } from '../util/gvk.ts';
import { type KubeObject, keyOf } from '../util/kube-object.ts';
import { childLabel } from './names.ts';

/** The id of the child by the object's own label; empty if there is none. */
export function childIdOf({ metadata }: Pick<KubeObject, 'metadata'>): string {
  return metadata.labels?.[childLabel] ?? '';
}

/** The topic of a desired object in {@link DependencyIndex}, with the version of its informer. */
export function topicOf(gvk: Gvk, namespace: string | undefined, name: string): string {
  return `${gvkKey(gvk)}|${keyOf(namespace, name)}`;
}

/** Identifies an object in every version of its kind: group, kind, namespace and name (docs/definition/children.md#identity). */
export function identityOf({ group, kind }: Gvk, namespace: string | undefined, name: string) {
  return `${group}/${kind}|${keyOf(namespace, name)}`;
}

/** The topic of an object in {@link DependencyIndex}. */
export function topicOfRef({ gvk, namespace, name }: ObjectRef): string {
  return topicOf(gvk, namespace, name);
}

/** A reference to an observed object. */
export function refOfStored({ apiVersion, kind, metadata }: KubeObject): ObjectRef {
  const { name, namespace } = metadata;
  return { gvk: gvkOf(apiVersion, kind), name, ...(namespace === undefined ? {} : { namespace }) };
}

/** Like {@link identityOf}, for an object. */
export function identityOfObject({ apiVersion, kind, metadata }: KubeObject): string {
  return identityOf(gvkOf(apiVersion, kind), metadata.namespace, metadata.name);
}

/** Stored objects in an order that does not depend on the cache, whose order differs after a restart: the status lists them. */
export function inFixedOrder<Stored extends { readonly object: KubeObject }>(
  objects: Iterable<Stored>,
): readonly Stored[] {
  const keyed = [...objects].map((stored) => ({ stored, key: identityOfObject(stored.object) }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ stored }) => stored);
}
