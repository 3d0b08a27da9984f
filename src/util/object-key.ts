/** Where an object lives within its kind. `namespace` is empty for cluster-scoped objects. */
export interface ObjectKey {
  readonly namespace: string;
  readonly name: string;
}

/** The work-queue and map key: `namespace/name`, `/name` for cluster-scoped objects. */
export function keyOf(namespace: string | undefined, name: string): string {
  return `${namespace ?? ''}/${name}`;
}

/** The reverse of {@link keyOf}. */
export function parseKey(key: string): ObjectKey {
  const slash = key.indexOf('/');
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
