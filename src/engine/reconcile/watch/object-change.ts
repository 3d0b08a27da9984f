import type { FieldPath, ReadPlan } from '#compile';
import type { StoredObject } from '#kube/roles.ts';
import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';

/** Fields of `metadata` with a meaning for reconciles. The server maintains the others. */
const identityFields = [
  'labels',
  'annotations',
  'finalizers',
  'ownerReferences',
  'deletionTimestamp',
] as const;

/** One change of one key. */
export interface Change {
  readonly old?: StoredObject | undefined;
  readonly current?: StoredObject | undefined;
}

/** Whether an object was created, deleted or replaced by another one with its name. */
export function isReplaced({ old, current }: Change): boolean {
  return old?.object.metadata.uid !== current?.object.metadata.uid;
}

/** Whether a field outside status and server-maintained metadata changed, or one of these paths. */
export function isChanged(change: Change, paths: readonly FieldPath[]): boolean {
  if (isReplaced(change)) return true;
  const before = change.old?.object;
  const after = change.current?.object;
  if (before === undefined || after === undefined) return false;
  return (
    metadataChanged(before, after) ||
    contentChanged(before, after) ||
    differingPath(before, after, paths) !== undefined
  );
}

/** Whether labels, annotations, finalizers, owner references or the deletion time changed. */
export function metadataChanged(before: KubeObject, after: KubeObject): boolean {
  return identityFields.some((field) => !deepEqual(before.metadata[field], after.metadata[field]));
}

/** Whether a field outside metadata and status changed. */
export function contentChanged(before: KubeObject, after: KubeObject): boolean {
  const fields = new Set([...Object.keys(before), ...Object.keys(after)]);
  fields.delete('metadata');
  fields.delete('status');
  for (const field of fields) {
    if (!deepEqual(before[field], after[field])) return true;
  }
  return false;
}

/** The objects of a read, as a reconcile saw them. */
export interface ReadObservation {
  readonly plan: Pick<ReadPlan, 'pathsRead'>;
  /** As they were at the time of the read. */
  readonly objects: readonly StoredObject[];
  /** False: the informer has not synced, is denied, or the kind is not served. Not the same as absent. */
  readonly isKnown: boolean;
}

/** The first path at which a read differs. Empty: an object was created or deleted. Undefined: no difference. */
export function readChanged(
  before: ReadObservation,
  after: ReadObservation,
): FieldPath | undefined {
  if (before.isKnown !== after.isKnown) return [];
  return objectsChanged(before.objects, after.objects, before.plan.pathsRead);
}

/** Like {@link readChanged}, for lists of objects. */
export function objectsChanged(
  before: readonly StoredObject[] | undefined,
  after: readonly StoredObject[] | undefined,
  paths: readonly FieldPath[],
): FieldPath | undefined {
  if (before?.length !== after?.length) return [];
  for (const [index, { object }] of (before ?? []).entries()) {
    const current = after?.[index]?.object;
    if (current?.metadata.uid !== object.metadata.uid) return [];
    const path = differingPath(object, current, paths);
    if (path !== undefined) return path;
  }
  return undefined;
}

/** The value at a path. For a list on the path: the list of its items' values. */
export function valueAt(object: unknown, path: FieldPath): unknown {
  let value = object;
  for (const [index, step] of path.entries()) {
    // Nested lists are returned as a whole: their depth is not limited.
    if (Array.isArray(value)) {
      const rest = path.slice(index);
      return value.map((item) => (Array.isArray(item) ? item : valueAt(item, rest)));
    }
    if (!isJsonObject(value)) return undefined;
    value = value[step];
  }
  return value;
}

/** The first path at which two objects differ. Undefined: none. */
export function differingPath(
  before: unknown,
  after: unknown,
  paths: readonly FieldPath[],
): FieldPath | undefined {
  if (before === after) return undefined;
  return paths.find((path) => !deepEqual(valueAt(before, path), valueAt(after, path)));
}
