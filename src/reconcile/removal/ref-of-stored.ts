import type { ObjectRef } from '../../kube/roles.ts';
import { gvkOf } from '../../util/gvk.ts';
import type { KubeObject } from '../../util/kube-object.ts';

/** Names an object that was seen. */
export function refOfStored({ apiVersion, kind, metadata }: KubeObject): ObjectRef {
  const { name, namespace } = metadata;
  return { gvk: gvkOf(apiVersion, kind), name, ...(namespace === undefined ? {} : { namespace }) };
}
