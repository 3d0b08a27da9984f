import { type KubeObject, keyOf } from '../../util/kube-object.ts';
import { matchesSelector } from '../../util/label-selector.ts';
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
    const { object, appliedBy } = stored;
    if (isSelected(object, fullObjects)) return stored;
    const { apiVersion, kind, metadata } = object;
    return { object: { apiVersion, kind, metadata }, appliedBy };
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

const decimal = /^(?:0|[1-9]\d*)$/;

/**
 * Compares two resourceVersions of one kind, as a comparator. Versions are decimal strings of any length (KEP-5504).
 * Undefined if one is not decimal: then only equality is known.
 */
export function compareVersions(a: string, b: string): number | undefined {
  if (a === b) return 0;
  if (!decimal.test(a) || !decimal.test(b)) return undefined;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : 1;
}

/** Whether `a` is certainly later than `b`. */
export function isNewer(a: string, b: string): boolean {
  return (compareVersions(a, b) ?? 0) > 0;
}

/** Whether `a` may be later than `b`. True for versions without an order: streams deliver those in order. */
export function mayBeNewer(a: string, b: string): boolean {
  return (compareVersions(a, b) ?? 1) > 0;
}

/** Whether this version can be compared with others. */
export function isOrdered(version: string): boolean {
  return decimal.test(version);
}
