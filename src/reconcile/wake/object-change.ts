import type { FieldPath } from '../../compile/index.ts';
import type { StoredObject } from '../../kube/roles.ts';
import { deepEqual } from '../../util/deep-equal.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { differingPath } from './field-values.ts';

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
