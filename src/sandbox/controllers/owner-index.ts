import { isJsonObject, type JsonObject } from '../../util/json.ts';
import { listField, objectField, stringField } from '../json-fields.ts';
import type { StoredObject, StoreEvent } from '../store/index.ts';
import type { ObjectPlace } from './controller-world.ts';

export interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly blocksDeletion: boolean;
}

/** Who is owned by whom, by uid of the owner. */
export class OwnerIndex {
  readonly #dependents = new Map<string, Map<string, ObjectPlace>>();

  /** Takes note of a change. */
  update({ collection, before, after }: StoreEvent): void {
    for (const { uid } of before === undefined ? [] : ownersOf(before.object)) {
      const places = this.#dependents.get(uid);
      places?.delete(`${collection} ${before?.key}`);
      if (places?.size === 0) this.#dependents.delete(uid);
    }
    for (const { uid } of after === undefined ? [] : ownersOf(after.object)) {
      if (after === undefined) continue;
      const places = this.#dependents.get(uid) ?? new Map<string, ObjectPlace>();
      this.#dependents.set(uid, places);
      places.set(`${collection} ${after.key}`, { collection, key: after.key });
    }
  }

  /** What names this uid as an owner. */
  dependentsOf(uid: string): readonly ObjectPlace[] {
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
