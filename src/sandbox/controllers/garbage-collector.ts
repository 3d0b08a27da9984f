import { isJsonObject } from '../../util/json.ts';
import { listField, objectField } from '../json-fields.ts';
import { withMetadata } from '../kinds/index.ts';
import { textsOf } from '../metadata/index.ts';
import type { StoredObject, StoreEvent } from '../store/index.ts';
import { storeKey } from '../store/index.ts';
import type { ControllerWorld, ObjectPlace } from './controller-world.ts';
import { isTerminating, type Owner, OwnerIndex, ownersOf, uidOf } from './owner-index.ts';

const foreground = 'foregroundDeletion';
const orphan = 'orphan';

/**
 * Deletes what has lost all its owners, and lets owners go that wait for their dependents or leave them
 * behind. Works within the write that gives it something to do: nobody sees a state in between for long.
 */
export class GarbageCollector {
  readonly #world: ControllerWorld;
  readonly #index = new OwnerIndex();

  constructor(world: ControllerWorld) {
    this.#world = world;
  }

  /** Begins to follow the store; returns a function that ends it. */
  start(): () => void {
    // An owner that goes must find all that belongs to it.
    for (const event of this.#world.present()) this.#index.update(event);
    return this.#world.follow((event) => this.#onEvent(event));
  }

  #onEvent(event: StoreEvent): void {
    this.#index.update(event);
    const { collection, before, last } = event;
    const place = { collection, key: last.key };
    const current = this.#world.find(place);
    if (current !== undefined && uidOf(current) === uidOf(last)) this.#onPresent(place, current);
    else this.#onGone(last);
    // Those that an object belonged to may have waited for it.
    for (const owner of before === undefined ? [] : ownersOf(before.object)) {
      const waiting = this.#findOwner(owner, last.namespace);
      if (waiting !== 'unknown' && waiting !== undefined) this.#finishForeground(waiting);
    }
  }

  #onPresent(place: ObjectPlace, stored: StoredObject): void {
    const finalizers = textsOf(objectField(stored.object, 'metadata') ?? {}, 'finalizers');
    if (!isTerminating(stored)) this.#collectIfOrphaned(place, stored);
    else if (finalizers.includes(orphan)) this.#leaveDependents(place, stored);
    else if (finalizers.includes(foreground)) {
      this.#deleteDependents(stored);
      this.#finishForeground(place);
    }
  }

  #onGone(stored: StoredObject): void {
    for (const place of this.#index.dependentsOf(uidOf(stored))) {
      const dependent = this.#world.find(place);
      if (dependent !== undefined && !isTerminating(dependent))
        this.#collectIfOrphaned(place, dependent);
    }
  }

  /** An object with owners is deleted when none of them is there; references to missing ones beside others are removed. */
  #collectIfOrphaned(place: ObjectPlace, stored: StoredObject): void {
    const owners = ownersOf(stored.object);
    if (owners.length === 0) return;
    const found = owners.map((owner) => this.#findOwner(owner, stored.namespace));
    if (found.includes('unknown')) return;
    const missing = new Set(
      owners.filter((_, at) => found[at] === undefined).map(({ uid }) => uid),
    );
    if (missing.size === 0) return;
    if (found.every((owner) => owner === undefined))
      this.#world.delete(place, { propagation: 'Background' });
    else this.#dropOwners(place, missing);
  }

  #deleteDependents(owner: StoredObject): void {
    for (const place of this.#index.dependentsOf(uidOf(owner))) {
      const dependent = this.#world.find(place);
      if (dependent === undefined || isTerminating(dependent)) continue;
      const others = ownersOf(dependent.object).filter(({ uid }) => uid !== uidOf(owner));
      const isHeld = others.some(
        (other) => this.#findOwner(other, dependent.namespace) !== undefined,
      );
      if (isHeld) this.#dropOwners(place, new Set([uidOf(owner)]));
      else
        this.#world.delete(place, {
          propagation: this.#hasDependents(dependent) ? 'Foreground' : 'Background',
        });
    }
  }

  #hasDependents(stored: StoredObject): boolean {
    return this.#index.dependentsOf(uidOf(stored)).length > 0;
  }

  /** Lets an owner go whose blocking dependents are gone. */
  #finishForeground(place: ObjectPlace): void {
    const owner = this.#world.find(place);
    if (owner === undefined || !isTerminating(owner)) return;
    const finalizers = textsOf(objectField(owner.object, 'metadata') ?? {}, 'finalizers');
    if (!finalizers.includes(foreground)) return;
    const isBlocked = this.#index.dependentsOf(uidOf(owner)).some((dependent) => {
      const stored = this.#world.find(dependent);
      return stored !== undefined && this.#blocks(stored, owner);
    });
    if (!isBlocked) this.#dropFinalizer(place, foreground);
  }

  #blocks(dependent: StoredObject, owner: StoredObject): boolean {
    return ownersOf(dependent.object).some(
      ({ uid, blocksDeletion }) => uid === uidOf(owner) && blocksDeletion,
    );
  }

  #leaveDependents(place: ObjectPlace, owner: StoredObject): void {
    for (const dependent of this.#index.dependentsOf(uidOf(owner)))
      this.#dropOwners(dependent, new Set([uidOf(owner)]));
    this.#dropFinalizer(place, orphan);
  }

  #dropFinalizer(place: ObjectPlace, finalizer: string): void {
    this.#world.change(place, (object) => {
      const finalizers = textsOf(objectField(object, 'metadata') ?? {}, 'finalizers');
      const others = finalizers.filter((name) => name !== finalizer);
      return withMetadata(object, 'finalizers', others.length === 0 ? undefined : others);
    });
  }

  #dropOwners(place: ObjectPlace, uids: ReadonlySet<string>): void {
    this.#world.change(place, (object) => {
      const owners = listField(objectField(object, 'metadata') ?? {}, 'ownerReferences');
      const others = owners.filter((owner) => !isJsonObject(owner) || !uids.has(String(owner.uid)));
      return withMetadata(object, 'ownerReferences', others.length === 0 ? undefined : others);
    });
  }

  /** Undefined = not there; `unknown` = its kind is not served, so nobody can tell. */
  #findOwner(owner: Owner, namespace: string): ObjectPlace | undefined | 'unknown' {
    const { apiVersion, kind, name, uid } = owner;
    const served = this.#world
      .kinds()
      .find((one) => one.apiVersion === apiVersion && one.names.kind === kind);
    if (served === undefined) return 'unknown';
    const key = storeKey(served.names.namespaced ? namespace : '', name);
    const stored = this.#world.find({ collection: served.collection, key: key });
    if (stored === undefined || uidOf(stored) !== uid) return undefined;
    return { collection: served.collection, key };
  }
}
