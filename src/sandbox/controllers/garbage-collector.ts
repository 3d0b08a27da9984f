import { isJsonObject } from '#util/json.ts';
import { listField, objectField } from '../json-fields.ts';
import { withMetadata } from '../kinds/generation.ts';
import { stringsOf } from '../metadata/validate-metadata.ts';
import type { StoreEvent } from '../store/object-store.ts';
import { type StoredObject, storeKey } from '../store/stored-object.ts';
import type { ControllerClient, ObjectKey } from './controller-client.ts';
import { isTerminating, type Owner, OwnerIndex, ownersOf, uidOf } from './owner-index.ts';

const foreground = 'foregroundDeletion';
const orphan = 'orphan';

/**
 * Deletes objects whose owners are all deleted, and completes foreground and orphan deletions of owners. Runs within the write
 * that causes it, so that intermediate states are rarely visible.
 */
export class GarbageCollector {
  readonly #client: ControllerClient;
  readonly #index = new OwnerIndex();

  constructor(client: ControllerClient) {
    this.#client = client;
  }

  /** Subscribes to the store; returns the unsubscribe function. */
  start(): () => void {
    // The index must contain all dependents before an owner is deleted.
    for (const event of this.#client.currentObjects()) this.#index.update(event);
    return this.#client.subscribe((event) => this.#onEvent(event));
  }

  #onEvent(event: StoreEvent): void {
    this.#index.update(event);
    const { collection, before, last } = event;
    const place = { collection, key: last.key };
    const current = this.#client.find(place);
    if (current !== undefined && uidOf(current) === uidOf(last)) this.#onChanged(place, current);
    else this.#onDeleted(last);
    // Former owners may have waited for this object to be deleted.
    for (const owner of before === undefined ? [] : ownersOf(before.object)) {
      const waiting = this.#findOwner(owner, last.namespace);
      if (waiting !== 'unknown' && waiting !== undefined) this.#finishForeground(waiting);
    }
  }

  #onChanged(place: ObjectKey, stored: StoredObject): void {
    const finalizers = stringsOf(objectField(stored.object, 'metadata') ?? {}, 'finalizers');
    if (!isTerminating(stored)) this.#collectIfOrphaned(place, stored);
    else if (finalizers.includes(orphan)) this.#orphanDependents(place, stored);
    else if (finalizers.includes(foreground)) {
      this.#deleteDependents(stored);
      this.#finishForeground(place);
    }
  }

  #onDeleted(stored: StoredObject): void {
    for (const place of this.#index.dependentsOf(uidOf(stored))) {
      const dependent = this.#client.find(place);
      if (dependent !== undefined && !isTerminating(dependent))
        this.#collectIfOrphaned(place, dependent);
    }
  }

  /** Deletes an object when none of its owners exists; otherwise removes references to missing owners. */
  #collectIfOrphaned(place: ObjectKey, stored: StoredObject): void {
    const owners = ownersOf(stored.object);
    if (owners.length === 0) return;
    const found = owners.map((owner) => this.#findOwner(owner, stored.namespace));
    if (found.includes('unknown')) return;
    const missing = new Set(
      owners.filter((_, at) => found[at] === undefined).map(({ uid }) => uid),
    );
    if (missing.size === 0) return;
    if (found.every((owner) => owner === undefined))
      this.#client.delete(place, { propagation: 'Background' });
    else this.#dropOwners(place, missing);
  }

  #deleteDependents(owner: StoredObject): void {
    for (const place of this.#index.dependentsOf(uidOf(owner))) {
      const dependent = this.#client.find(place);
      if (dependent === undefined || isTerminating(dependent)) continue;
      const others = ownersOf(dependent.object).filter(({ uid }) => uid !== uidOf(owner));
      const hasFinalizer = others.some(
        (other) => this.#findOwner(other, dependent.namespace) !== undefined,
      );
      if (hasFinalizer) this.#dropOwners(place, new Set([uidOf(owner)]));
      else
        this.#client.delete(place, {
          propagation: this.#hasDependents(dependent) ? 'Foreground' : 'Background',
        });
    }
  }

  #hasDependents(stored: StoredObject): boolean {
    return this.#index.dependentsOf(uidOf(stored)).length > 0;
  }

  /** Deletes an owner whose blocking dependents are deleted. */
  #finishForeground(place: ObjectKey): void {
    const owner = this.#client.find(place);
    if (owner === undefined || !isTerminating(owner)) return;
    const finalizers = stringsOf(objectField(owner.object, 'metadata') ?? {}, 'finalizers');
    if (!finalizers.includes(foreground)) return;
    const isBlocked = this.#index.dependentsOf(uidOf(owner)).some((dependent) => {
      const stored = this.#client.find(dependent);
      return stored !== undefined && this.#blocks(stored, owner);
    });
    if (!isBlocked) this.#dropFinalizer(place, foreground);
  }

  #blocks(dependent: StoredObject, owner: StoredObject): boolean {
    return ownersOf(dependent.object).some(
      ({ uid, blocksDeletion }) => uid === uidOf(owner) && blocksDeletion,
    );
  }

  #orphanDependents(place: ObjectKey, owner: StoredObject): void {
    for (const dependent of this.#index.dependentsOf(uidOf(owner)))
      this.#dropOwners(dependent, new Set([uidOf(owner)]));
    this.#dropFinalizer(place, orphan);
  }

  #dropFinalizer(place: ObjectKey, finalizer: string): void {
    this.#client.update(place, (object) => {
      const finalizers = stringsOf(objectField(object, 'metadata') ?? {}, 'finalizers');
      const others = finalizers.filter((name) => name !== finalizer);
      return withMetadata(object, 'finalizers', others.length === 0 ? undefined : others);
    });
  }

  #dropOwners(place: ObjectKey, uids: ReadonlySet<string>): void {
    this.#client.update(place, (object) => {
      const owners = listField(objectField(object, 'metadata') ?? {}, 'ownerReferences');
      const others = owners.filter((owner) => !isJsonObject(owner) || !uids.has(String(owner.uid)));
      return withMetadata(object, 'ownerReferences', others.length === 0 ? undefined : others);
    });
  }

  /** Undefined = the owner does not exist; `unknown` = its kind is not served. */
  #findOwner(owner: Owner, namespace: string): ObjectKey | undefined | 'unknown' {
    const { apiVersion, kind, name, uid } = owner;
    const served = this.#client
      .kinds()
      .find((one) => one.apiVersion === apiVersion && one.names.kind === kind);
    if (served === undefined) return 'unknown';
    const key = storeKey(served.names.namespaced ? namespace : '', name);
    const stored = this.#client.find({ collection: served.collection, key });
    if (stored === undefined || uidOf(stored) !== uid) return undefined;
    return { collection: served.collection, key };
  }
}
