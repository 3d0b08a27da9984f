import { isJsonObject } from '../json.ts';
import type { KubeObject } from '../kube-object.ts';

/** A failed child, as `status.children` of its resource lists it. */
export interface ChildFailure {
  /** Type and name only. The name is the child's ID if its resource does not list a name. */
  readonly object: KubeObject;
  readonly message: string;
}

/** The failed children of a resource. None for an object that does not list children as Homeostat does. */
export function failedChildren({ status }: KubeObject): readonly ChildFailure[] {
  const children = isJsonObject(status) ? status.children : undefined;
  return Array.isArray(children) ? children.flatMap(failureOf) : [];
}

function failureOf(child: unknown): readonly ChildFailure[] {
  if (!isJsonObject(child)) return [];
  const { id, apiVersion, kind, namespace, name, state, message } = child;
  if (state !== 'Failed') return [];
  const metadata = {
    name: textOf(name) || textOf(id),
    ...(textOf(namespace) !== '' && { namespace: textOf(namespace) }),
  };
  const object = { apiVersion: textOf(apiVersion), kind: textOf(kind), metadata };
  return [{ object, message: textOf(message) }];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
