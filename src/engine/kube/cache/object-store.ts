import { deepEqual } from '#util/deep-equal.ts';
import { invariant } from '#util/homeostat-error.ts';
import { type KubeObject, keyOf } from '#util/kube-object.ts';
import { isNewer, isOrdered, mayBeNewer } from '#util/resource-version.ts';
import type { CacheEvent, CacheIndex, PassToken, StoredObject } from '../roles.ts';
import { EventFeed } from './event-feed.ts';
import { HeldEvents } from './held-events.ts';
import { PendingDeletions } from './pending-deletions.ts';
import { Removals } from './removals.ts';
import { StoreIndex } from './store-index.ts';
import {
  isDeleting,
  keyOfStored,
  type ListSnapshot,
  type RetainFields,
  uidOf,
  versionOf,
} from './stored-object.ts';

export interface ObjectStoreOptions {
  /** Whether the informer selects this object. Used for responses only: lists and watches are filtered by the server. */
  readonly selects: (object: KubeObject) => boolean;
  /** Returns the object with the fields to cache. @default the whole object */
  readonly retainFields?: RetainFields;
  /** A listener threw. */
  readonly onFault: (error: unknown) => void;
  /** A list, or an object in it, is older than what was seen before: called before the objects are stored. @default nothing */
  readonly onRollback?: () => void;
}

/** A list that is being stored page by page. All pages belong to one snapshot, which has a version. */
export interface Listing {
  add(version: string, page: readonly StoredObject[]): void;
  /** Number of different objects so far. */
  readonly size: number;
  /** Finishes the list: removes the objects that it does not contain. An unfinished list removes nothing. */
  finish(): void;
}

/** State of a key when a request about it started. */
export interface RequestTicket {
  readonly key: string;
  readonly uid: string | undefined;
  readonly request: number;
  /** Number of the request for {@link HeldEvents}. Changes when its events are held again. */
  hold: number;
}

interface Cause {
  readonly initial: boolean;
  readonly pass?: PassToken | undefined;
  /** From a list or watch: may be caused by a request whose response is pending. */
  readonly mayBeOwnWrite?: boolean;
}

const fromServer: Cause = { initial: false, mayBeOwnWrite: true };

/**
 * The objects of one informer. Merges lists, watch events and responses, which arrive in any order, into a consistent
 * state (`kube/README.md`). Pure: no I/O, no time.
 */
export class ObjectStore {
  readonly #selects: (object: KubeObject) => boolean;
  readonly #keep: RetainFields;
  readonly #objects = new Map<string, StoredObject>();
  readonly #deletions = new PendingDeletions();
  readonly #removals = new Removals();
  readonly #indexes = new Map<string, StoreIndex>();
  readonly #onRollback: () => void;
  readonly #feed: EventFeed;
  readonly #held: HeldEvents;
  /** The version up to which list and watch have delivered all changes. */
  #progress: string | undefined;
  /** The latest version seen, responses included. */
  #highest = '0';
  #listing = 0;
  #listed = false;

  constructor(options: ObjectStoreOptions) {
    this.#selects = options.selects;
    this.#keep = options.retainFields ?? ((stored) => stored);
    this.#onRollback = options.onRollback ?? (() => {});
    this.#feed = new EventFeed(options.onFault);
    this.#held = new HeldEvents(this.#feed);
  }

  get size(): number {
    return this.#objects.size;
  }

  /** The version to watch from. Undefined before the first list. */
  get progress(): string | undefined {
    return this.#progress;
  }

  /** Number of keys removed ahead of the watch and still remembered. For tests and memory monitoring. */
  get rememberedRemovals(): number {
    return this.#removals.size;
  }

  get(namespace: string | undefined, name: string): StoredObject | undefined {
    return this.#objects.get(keyOf(namespace, name));
  }

  list(): Iterable<StoredObject> {
    return this.#objects.values();
  }

  index(name: string, valuesOf: (object: KubeObject) => readonly string[]): CacheIndex {
    const known = this.#indexes.get(name);
    if (known !== undefined) return known;
    const index = new StoreIndex(valuesOf);
    for (const [key, stored] of this.#objects) index.update(key, undefined, stored);
    this.#indexes.set(name, index);
    return index;
  }

  subscribe(listener: (event: CacheEvent) => void): () => void {
    return this.#feed.subscribe(listener, [...this.#objects.values()]);
  }

  /**
   * Starts to store a list. Call it right before its first request: the age of the list is judged by the versions
   * known now.
   */
  startList(): Listing {
    this.#listing += 1;
    const number = this.#listing;
    const known = this.#highest;
    const uids = new Map<string, string>();
    let facts: ListSnapshot | undefined;
    return {
      get size() {
        return uids.size;
      },
      add: (version, page) => {
        if (facts === undefined) {
          // A list contains all responses received before its request. An older list means that etcd was restored
          // from a backup.
          facts = { number, version, rewritten: isNewer(known, version) };
          if (facts.rewritten) this.#onRollback();
          this.#noteVersion(version);
        }
        if (!facts.rewritten && page.some((stored) => this.#hasLost(stored, version))) {
          facts = { ...facts, rewritten: true };
          this.#onRollback();
        }
        for (const stored of page) {
          uids.set(keyOfStored(stored), uidOf(stored));
          this.#addListed(stored, facts);
        }
      },
      finish: () => {
        invariant(facts !== undefined, 'A list has at least one page');
        this.#finishList(uids, facts);
      },
    };
  }

  /** An ADDED or MODIFIED event. */
  changed(received: StoredObject): void {
    const stored = this.#keep(received);
    const key = keyOfStored(stored);
    const version = versionOf(stored);
    const old = this.#objects.get(key);
    const known = old === undefined ? this.#progress : versionOf(old);
    const isOld = known !== undefined && !mayBeNewer(version, known);
    if (!isOld && !this.#removals.isStale(key, uidOf(stored), version)) {
      this.#put(key, stored, fromServer);
    }
    this.#advance(version);
  }

  /** A DELETED event: the object was deleted or no longer matches the selector. Carries the version of that change. */
  deleted(stored: StoredObject): void {
    const key = keyOfStored(stored);
    const version = versionOf(stored);
    const old = this.#objects.get(key);
    if (old !== undefined && !isNewer(versionOf(old), version)) this.#remove(key, fromServer);
    this.#removals.deletedByWatch(key, uidOf(stored), version);
    this.#advance(version);
  }

  /** A BOOKMARK: all changes up to `version` were delivered. */
  bookmark(version: string): void {
    this.#advance(version);
    if (this.#progress !== undefined) this.#removals.caughtUp(this.#progress);
  }

  /**
   * A request about the key starts, see {@link WriteTicket}. Until it ends, events of the key are stored, but not
   * delivered.
   */
  begin(namespace: string | undefined, name: string): RequestTicket {
    const key = keyOf(namespace, name);
    const old = this.#objects.get(key);
    const request = this.#removals.begin(key);
    return { key, uid: old && uidOf(old), request, hold: this.#held.begin(key) };
  }

  /** The request is sent only now: holds the events of the key again if that has stopped. */
  hold(ticket: RequestTicket): void {
    if (!this.#held.isHeldBy(ticket.key, ticket.hold)) ticket.hold = this.#held.begin(ticket.key);
  }

  /** The request takes too long: delivers the held events of the key. */
  stopHolding({ key, hold }: RequestTicket): void {
    this.#held.end(key, hold);
  }

  end(ticket: RequestTicket): void {
    this.#removals.end(ticket.key, ticket.request);
    this.stopHolding(ticket);
  }

  /** Stores the object of a response unless a later one is known, or removes it if it is no longer selected. */
  storeResponse(response: StoredObject, pass: PassToken | undefined): void {
    const stored = this.#keep(response);
    const key = keyOfStored(stored);
    const version = versionOf(stored);
    // Versions without an order do not show whether the response is stale. The watch delivers the object.
    if (!isOrdered(version)) return;
    this.#noteVersion(version);
    this.#held.attribute(key, version, pass);
    // Up to `progress`, the store already contains or supersedes the response.
    if (this.#progress !== undefined && !mayBeNewer(version, this.#progress)) return;
    if (this.#removals.isStale(key, uidOf(stored), version)) return;
    const old = this.#objects.get(key);
    if (old !== undefined && !mayBeNewer(version, versionOf(old))) return;
    if (this.#selects(stored.object)) {
      this.#put(key, stored, { initial: false, pass });
    } else if (old !== undefined) {
      this.#removals.leftSelector(key, { version, listing: this.#listing });
      this.#remove(key, { initial: false, pass });
    }
  }

  /** The server accepted a DELETE of the object with this UID at `at` (an RFC 3339 time). */
  deleting(key: string, uid: string, options: { at: string; pass: PassToken | undefined }): void {
    const old = this.#objects.get(key);
    if (old === undefined || uidOf(old) !== uid) return;
    this.#deletions.add(key, { uid, since: options.at, listing: this.#listing });
    if (!isDeleting(old)) this.#put(key, old, { initial: false, pass: options.pass });
  }

  /**
   * The server responded that an object does not exist: the one with this UID, or any when undefined. In the latter
   * case only the object known before the request is removed: a newer one may have been created after the response.
   */
  gone(ticket: RequestTicket, uid: string | undefined, pass: PassToken | undefined): void {
    const deletedUid = uid ?? ticket.uid;
    if (deletedUid === undefined) return;
    const { key } = ticket;
    const old = this.#objects.get(key);
    if (old !== undefined && uidOf(old) === deletedUid) {
      const version = versionOf(old);
      this.#removals.gone(key, { uid: deletedUid, version, listing: this.#listing });
      this.#remove(key, { initial: false, pass });
    } else {
      this.#removals.deletedUncached(key, deletedUid, this.#listing);
    }
  }

  #addListed(listed: StoredObject, list: ListSnapshot): void {
    const stored = this.#keep(listed);
    const key = keyOfStored(stored);
    const old = this.#objects.get(key);
    const isDisproved = this.#deletions.isReverted(key, old, list);
    this.#deletions.shownBy(key, list);
    if (!isDisproved && !list.rewritten && this.#isLaterThanList(key, stored, list)) return;
    // Compared by content: after a schema change the same version can have other content.
    if (old !== undefined && versionOf(old) === versionOf(stored)) {
      if (deepEqual(old.object, this.#deletions.marked(key, stored).object)) return;
    }
    this.#put(key, stored, this.#listed ? fromServer : { initial: true });
  }

  /**
   * Whether the server has lost a state of the object that is not newer than the list: etcd was restored, and its
   * version has already passed what was seen before.
   */
  #hasLost(listed: StoredObject, listVersion: string): boolean {
    const old = this.#objects.get(keyOfStored(listed));
    if (old === undefined || isNewer(versionOf(old), listVersion)) return false;
    return isNewer(versionOf(old), versionOf(listed));
  }

  /** Whether the store has a later state of this key than the list. */
  #isLaterThanList(key: string, listed: StoredObject, list: ListSnapshot): boolean {
    if (this.#removals.isStaleInList(key, uidOf(listed), list)) return true;
    const old = this.#objects.get(key);
    return old !== undefined && isNewer(versionOf(old), list.version);
  }

  #finishList(uids: ReadonlyMap<string, string>, list: ListSnapshot): void {
    const gone: (readonly [string, StoredObject])[] = [];
    for (const [key, old] of this.#objects) {
      if (!uids.has(key) && !this.#isNewerThanList(key, old, list)) gone.push([key, old]);
    }
    this.#progress = list.version;
    if (list.rewritten) this.#highest = list.version;
    this.#removals.listed({ ...list, uids });
    for (const [key, old] of gone) {
      if (this.#objects.get(key) === old) this.#remove(key, fromServer);
    }
    this.#listed = true;
  }

  /** Whether this entry, which the list does not contain, is newer than the list. */
  #isNewerThanList(key: string, old: StoredObject, list: ListSnapshot): boolean {
    if (list.rewritten || this.#deletions.isReverted(key, old, list)) return false;
    return isNewer(versionOf(old), list.version);
  }

  #put(key: string, stored: StoredObject, cause: Cause): void {
    const old = this.#objects.get(key);
    const current = this.#deletions.marked(key, stored);
    this.#objects.set(key, current);
    this.#deletions.stored(key, stored, current);
    this.#notify(key, old, current, cause);
  }

  #remove(key: string, cause: Cause): void {
    const old = this.#objects.get(key);
    if (old === undefined) return;
    this.#objects.delete(key);
    this.#deletions.left(key);
    this.#notify(key, old, undefined, cause);
  }

  #notify(
    key: string,
    old: StoredObject | undefined,
    current: StoredObject | undefined,
    cause: Cause,
  ): void {
    for (const index of this.#indexes.values()) index.update(key, old, current);
    const metadata = (current ?? old)?.object.metadata;
    if (metadata === undefined) return;
    const delivery = this.#feed.prepare({
      namespace: metadata.namespace ?? '',
      name: metadata.name,
      initial: cause.initial,
      ...(old === undefined ? {} : { old }),
      ...(current === undefined ? {} : { current }),
      ...(cause.pass === undefined ? {} : { pass: cause.pass }),
    });
    this.#held.deliver(key, delivery, cause.mayBeOwnWrite === true);
  }

  #advance(version: string): void {
    if (this.#progress === undefined || mayBeNewer(version, this.#progress))
      this.#progress = version;
    this.#noteVersion(version);
  }

  #noteVersion(version: string): void {
    if (isNewer(version, this.#highest)) this.#highest = version;
  }
}
