import { isJsonObject, type JsonObject } from './json.ts';
/** A reference from a dependent to its owner. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** The part of `metadata` that the engine uses. Servers may send more. */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
}

/** Any Kubernetes object. Readonly: cached objects are shared (and frozen in tests). Copy before changing. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
}

/** The entries of `status.conditions`. Empty without a list: the first event of a CRD has null. */
export function conditionsOf(object: unknown): readonly JsonObject[] {
  const status = isJsonObject(object) ? object.status : undefined;
  const conditions = isJsonObject(status) ? status.conditions : undefined;
  return Array.isArray(conditions) ? conditions.filter(isJsonObject) : [];
}

/** Key of an object within its kind. `namespace` is empty for cluster-scoped objects. */
interface ObjectKey {
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

/** Whether this label or annotation key is reserved for Homeostat (`homeostat.dev/child`, `inventory.homeostat.dev/thing`). */
export function isHomeostatKey(key: string): boolean {
  return /^(?:[a-z0-9.-]+\.)?homeostat\.dev\//.test(key);
}
