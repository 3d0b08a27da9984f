import type { StoredObject } from '../roles.ts';
import type { ListFacts } from './list-facts.ts';
import { isDeleting, uidOf, withDeletion } from './stored-object.ts';

/** A DELETE was answered: when, and in which list's time we heard of it. */
interface Dying {
  readonly uid: string;
  readonly since: string;
  readonly listing: number;
  /** The entry, if it is our copy with a deletion time that the server has not shown yet. */
  copy: StoredObject | undefined;
}

/** Deletions that were answered, until they are seen: until then the objects are shown as what they are, on their way out. */
export class AnsweredDeletions {
  readonly #dying = new Map<string, Dying>();

  /** `since`: an RFC 3339 time. `listing`: the number of the last list. */
  add(key: string, told: Pick<Dying, 'uid' | 'since' | 'listing'>): void {
    this.#dying.set(key, { ...told, copy: this.#dying.get(key)?.copy });
  }

  /** The object as it is to be seen: an answered DELETE holds for every state of that object that does not show it yet. */
  marked(key: string, stored: StoredObject): StoredObject {
    const dying = this.#dying.get(key);
    if (dying === undefined) return stored;
    if (dying.uid !== uidOf(stored) || isDeleting(stored)) return stored;
    return withDeletion(stored, dying.since);
  }

  /** `current` is in the store now: what {@link marked} has made of `stored`. */
  stored(key: string, stored: StoredObject, current: StoredObject): void {
    const dying = this.#dying.get(key);
    if (dying !== undefined && dying.uid !== uidOf(stored)) this.#dying.delete(key);
    else if (dying !== undefined) dying.copy = current === stored ? undefined : current;
  }

  /** The object has left the store. */
  left(key: string): void {
    this.#dying.delete(key);
  }

  /** The list shows what came of a DELETE that was answered before it was asked for. */
  shownBy(key: string, list: ListFacts): void {
    if (this.#isBefore(key, list)) this.#dying.delete(key);
  }

  /** A deletion that neither this list nor a later state shows was undone: etcd was restored from a backup. */
  isDisproved(key: string, old: StoredObject | undefined, list: ListFacts): boolean {
    return this.#isBefore(key, list) && old !== undefined && this.#dying.get(key)?.copy === old;
  }

  /** Was a DELETE of this key answered before the list was asked for? */
  #isBefore(key: string, list: ListFacts): boolean {
    const dying = this.#dying.get(key);
    return dying !== undefined && dying.listing < list.number;
  }
}
