/** Group, version and kind: the full name of a kind. The core group is the empty string. */
export interface Gvk {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** A kind without its version. */
export type GroupKind = Omit<Gvk, 'version'>;

/** Whether both are the same kind, in any version. */
export function isSameKind(a: GroupKind, b: GroupKind): boolean {
  return a.group === b.group && a.kind === b.kind;
}

/** Splits `apps/v1` or `v1` and joins it with a kind. Does not validate. */
export function gvkOf(apiVersion: string, kind: string): Gvk {
  const slash = apiVersion.indexOf('/');
  return slash < 0
    ? { group: '', version: apiVersion, kind }
    : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1), kind };
}

/** `apps/v1`, or `v1` for the core group. */
export function apiVersionOf(gvk: Pick<Gvk, 'group' | 'version'>): string {
  return gvk.group === '' ? gvk.version : `${gvk.group}/${gvk.version}`;
}

/** A map key for a kind: `apps/v1/Deployment`, `v1/Pod`. */
export function gvkKey(gvk: Gvk): string {
  return `${apiVersionOf(gvk)}/${gvk.kind}`;
}

/** A map key for a kind without its version: `apps/Deployment`, `/Pod`. */
export function groupKindKey({ group, kind }: GroupKind): string {
  return `${group}/${kind}`;
}
