import type { StoredObject } from '../roles.ts';
import { isDeleting, type ListSnapshot, uidOf, withDeletion } from './stored-object.ts';

/** A DELETE that the server accepted and the watch has not shown yet. */
interface PendingDeletion {
  readonly uid: string;
  readonly since: string;
  readonly listing: number;
  /** The cached copy with a deletion time that the server has not shown yet. */
  copy: StoredObject | undefined;
}

/** Accepted deletions that list and watch have not shown yet. Until then the cached objects are marked as deleting. */
export class PendingDeletions {
  readonly #deletion = new Map<string, PendingDeletion>();

  /** `since`: an RFC 3339 time. `listing`: the number of the last list. */
  add(key: string, deletion: Pick<PendingDeletion, 'uid' | 'since' | 'listing'>): void {
    this.#deletion.set(key, { ...deletion, copy: this.#deletion.get(key)?.copy });
  }

  /** The object as it enters the cache: with a deletion time if a DELETE of it was accepted. */
  marked(key: string, stored: StoredObject): StoredObject {
    const deletion = this.#deletion.get(key);
    if (deletion === undefined) return stored;
    if (deletion.uid !== uidOf(stored) || isDeleting(stored)) return stored;
    return withDeletion(stored, deletion.since);
  }

  /** `current`, the result of {@link marked} for `stored`, is in the store now. */
  stored(key: string, stored: StoredObject, current: StoredObject): void {
    const deletion = this.#deletion.get(key);
    if (deletion !== undefined && deletion.uid !== uidOf(stored)) this.#deletion.delete(key);
    else if (deletion !== undefined) deletion.copy = current === stored ? undefined : current;
  }

  /** The object was removed from the store. */
  left(key: string): void {
    this.#deletion.delete(key);
  }

  /** The list shows the result of a DELETE that was accepted before the list was requested. */
  shownBy(key: string, list: ListSnapshot): void {
    if (this.#isBefore(key, list)) this.#deletion.delete(key);
  }

  /** Whether the deletion was undone: neither this list nor a later state shows it. etcd was restored from a backup. */
  isReverted(key: string, old: StoredObject | undefined, list: ListSnapshot): boolean {
    return this.#isBefore(key, list) && old !== undefined && this.#deletion.get(key)?.copy === old;
  }

  /** Whether a DELETE of this key was accepted before the list was requested. */
  #isBefore(key: string, list: ListSnapshot): boolean {
    const deletion = this.#deletion.get(key);
    return deletion !== undefined && deletion.listing < list.number;
  }
}
