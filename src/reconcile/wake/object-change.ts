import type { FieldPath, ReadPlan } from '../../compile/index.ts';
import type { StoredObject } from '../../kube/roles.ts';
import { deepEqual } from '../../util/deep-equal.ts';
import { isJsonObject } from '../../util/json.ts';
import type { KubeObject } from '../../util/kube-object.ts';

/** What of `metadata` says who an object is and whose. The rest is bookkeeping of the server. */
const meaningful = [
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

/** Did an object come, go, or give way to another of its name? */
export function isReplaced({ old, current }: Change): boolean {
  return old?.object.metadata.uid !== current?.object.metadata.uid;
}

/** Did anything but status and bookkeeping change, or one of these paths? */
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

/** Did labels, annotations, finalizers, owners or the deletion time change? */
export function metadataChanged(before: KubeObject, after: KubeObject): boolean {
  return meaningful.some((field) => !deepEqual(before.metadata[field], after.metadata[field]));
}

/** Did anything but metadata and status change? */
export function contentChanged(before: KubeObject, after: KubeObject): boolean {
  const fields = new Set([...Object.keys(before), ...Object.keys(after)]);
  fields.delete('metadata');
  fields.delete('status');
  for (const field of fields) {
    if (!deepEqual(before[field], after[field])) return true;
  }
  return false;
}

/** What a pass has seen of a read. */
export interface ReadSight {
  readonly plan: Pick<ReadPlan, 'pathsRead'>;
  /** As they were when the pass looked. */
  readonly objects: readonly StoredObject[];
  /** False: its informer has not synced, is forbidden or has no such kind. Never to be taken for absent. */
  readonly isKnown: boolean;
}

/** The first path at which what was read differs; the empty one: something came or went. Undefined: nothing. */
export function readChanged(before: ReadSight, after: ReadSight): FieldPath | undefined {
  if (before.isKnown !== after.isKnown) return [];
  return objectsChanged(before.objects, after.objects, before.plan.pathsRead);
}

/** The same of a list of objects. */
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

/** The value at a path; a list on the way gives the list of what its items have there. */
export function valueAt(object: unknown, path: FieldPath): unknown {
  let value = object;
  for (const [index, step] of path.entries()) {
    // Lists within lists are given whole: they may be nested as deep as JSON can be.
    if (Array.isArray(value)) {
      const rest = path.slice(index);
      return value.map((item) => (Array.isArray(item) ? item : valueAt(item, rest)));
    }
    if (!isJsonObject(value)) return undefined;
    value = value[step];
  }
  return value;
}

/** The first of the paths at which two objects differ; undefined when they agree on all of them. */
export function differingPath(
  before: unknown,
  after: unknown,
  paths: readonly FieldPath[],
): FieldPath | undefined {
  if (before === after) return undefined;
  return paths.find((path) => !deepEqual(valueAt(before, path), valueAt(after, path)));
}
