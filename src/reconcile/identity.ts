import type { ObjectRef } from '../kube/roles.ts';
import { type Gvk, gvkKey, gvkOf } from '../util/gvk.ts';
import type { KubeObject } from '../util/kube-object.ts';
import { keyOf } from '../util/object-key.ts';
import { childLabel } from './names.ts';

/** The id of the child that an object is of, as it says itself; empty when it does not. */
export function childIdOf({ metadata }: Pick<KubeObject, 'metadata'>): string {
  return metadata.labels?.[childLabel] ?? '';
}

/** The topic of an object that a resource wants: what an informer of its version has. */
export function topicOf(gvk: Gvk, namespace: string | undefined, name: string): string {
  return `${gvkKey(gvk)}|${keyOf(namespace, name)}`;
}

/** What makes an object the same in every version of its kind: group, kind, namespace and name (definition.md section 4). */
export function identityOf({ group, kind }: Gvk, namespace: string | undefined, name: string) {
  return `${group}/${kind}|${keyOf(namespace, name)}`;
}

/** The topic of an object in {@link DependencyIndex}. */
export function topicOfRef({ gvk, namespace, name }: ObjectRef): string {
  return topicOf(gvk, namespace, name);
}

/** Names an object that was seen. */
export function refOfStored({ apiVersion, kind, metadata }: KubeObject): ObjectRef {
  const { name, namespace } = metadata;
  return { gvk: gvkOf(apiVersion, kind), name, ...(namespace === undefined ? {} : { namespace }) };
}

/** As {@link identityOf}, of an object. */
export function identityOfObject({ apiVersion, kind, metadata }: KubeObject): string {
  return identityOf(gvkOf(apiVersion, kind), metadata.namespace, metadata.name);
}
