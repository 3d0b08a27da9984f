import { isJsonObject, type JsonObject } from '#util/json.ts';
import { listField, objectField, stringField } from '../json-fields.ts';
import type { StoreEvent } from '../store/object-store.ts';
import type { StoredObject } from '../store/stored-object.ts';
import type { ObjectKey } from './controller-client.ts';

export interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly blocksDeletion: boolean;
}

/** The dependents of owners, by uid of the owner. */
export class OwnerIndex {
  readonly #dependents = new Map<string, Map<string, ObjectKey>>();

  /** Updates the index with a change. */
  update({ collection, before, after }: StoreEvent): void {
    for (const { uid } of before === undefined ? [] : ownersOf(before.object)) {
      const places = this.#dependents.get(uid);
      places?.delete(`${collection} ${before?.key}`);
      if (places?.size === 0) this.#dependents.delete(uid);
    }
    for (const { uid } of after === undefined ? [] : ownersOf(after.object)) {
      if (after === undefined) continue;
      const places = this.#dependents.get(uid) ?? new Map<string, ObjectKey>();
      this.#dependents.set(uid, places);
      places.set(`${collection} ${after.key}`, { collection, key: after.key });
    }
  }

  /** The objects that have this uid in their owner references. */
  dependentsOf(uid: string): readonly ObjectKey[] {
    return [...(this.#dependents.get(uid)?.values() ?? [])];
  }
}

export function ownersOf(object: JsonObject): readonly Owner[] {
  return listField(objectField(object, 'metadata') ?? {}, 'ownerReferences')
    .filter(isJsonObject)
    .map((owner) => ({
      apiVersion: stringField(owner, 'apiVersion') ?? '',
      kind: stringField(owner, 'kind') ?? '',
      name: stringField(owner, 'name') ?? '',
      uid: stringField(owner, 'uid') ?? '',
      blocksDeletion: owner.blockOwnerDeletion === true,
    }));
}

export function uidOf({ object }: StoredObject): string {
  return stringField(objectField(object, 'metadata') ?? {}, 'uid') ?? '';
}

export function isTerminating({ object }: StoredObject): boolean {
  return objectField(object, 'metadata')?.deletionTimestamp !== undefined;
}
