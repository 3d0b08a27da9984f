import { keyOf } from '../../util/object-key.ts';
import type { StoredObject } from '../roles.ts';

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
