/**
 * The key under which an object holds the name of its member cluster. A symbol: it is copied with the object, and is not part of its JSON.
 */
const memberCluster: unique symbol = Symbol('member cluster');

/** The name of the member cluster of an object; undefined on the hub. */
export function memberOf(object: object): string | undefined {
  return (object as { readonly [memberCluster]?: string })[memberCluster];
}

/** A copy of an object that names its member cluster. */
export function inMember<T extends object>(object: T, cluster: string): T {
  return { ...object, [memberCluster]: cluster };
}

/** A copy of an object that names no member cluster. */
export function onHub<T extends object>(object: T): T {
  const { [memberCluster]: _, ...rest } = object as T & { readonly [memberCluster]?: string };
  return rest as unknown as T;
}
