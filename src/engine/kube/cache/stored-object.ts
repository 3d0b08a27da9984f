import { type KubeObject, keyOf } from '#util/kube-object.ts';
import { matchesSelector } from '#util/label-selector.ts';
import type { FullObjectSelector, StoredObject } from '../roles.ts';

export function keyOfStored(stored: StoredObject): string {
  return keyOf(stored.object.metadata.namespace, stored.object.metadata.name);
}

export function versionOf(stored: StoredObject): string {
  return stored.object.metadata.resourceVersion ?? '';
}

export function uidOf(stored: StoredObject): string {
  return stored.object.metadata.uid ?? '';
}

export function isDeleting(stored: StoredObject): boolean {
  return stored.object.metadata.deletionTimestamp !== undefined;
}

export function withDeletion(stored: StoredObject, deletionTimestamp: string): StoredObject {
  const { object } = stored;
  return { ...stored, object: { ...object, metadata: { ...object.metadata, deletionTimestamp } } };
}

/** Properties of a list that is being stored. */
export interface ListSnapshot {
  readonly number: number;
  readonly version: string;
  /** The list is older than the known state (etcd was restored): it replaces everything. */
  readonly rewritten: boolean;
}

/** Returns the object with the fields to cache. Depends only on the object, so that equal versions give equal results. */
export type RetainFields = (stored: StoredObject) => StoredObject;

/** Keeps selected objects in full, and of all others kind and metadata. */
export function createRetainFields(fullObjects: FullObjectSelector): RetainFields {
  return (stored) => {
    const { object, ...rest } = stored;
    if (isSelected(object, fullObjects)) return stored;
    const { apiVersion, kind, metadata } = object;
    return { ...rest, object: { apiVersion, kind, metadata } };
  };
}

function isSelected(
  { metadata }: KubeObject,
  { labels, annotations, finalizer }: FullObjectSelector,
): boolean {
  if (metadata.finalizers?.includes(finalizer) === true) return true;
  return (
    (labels === undefined || matchesSelector(labels, metadata.labels)) &&
    (annotations === undefined || matchesSelector(annotations, metadata.annotations))
  );
}
