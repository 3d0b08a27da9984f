import { deepEqual } from '../../util/deep-equal.ts';
import { invariant } from '../../util/invariant.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { keyOf } from '../../util/object-key.ts';
import type { CacheEvent, CacheIndex, PassToken, StoredObject } from '../roles.ts';
import { AnsweredDeletions } from './answered-deletions.ts';
import { Departures } from './departures.ts';
import { EventFeed } from './event-feed.ts';
import { HeldEvents } from './held-events.ts';
import type { ListFacts } from './list-facts.ts';
import { isAfter, isNews, isOrdered } from './resource-version.ts';
import type { Keep } from './slim-object.ts';
import { StoreIndex } from './store-index.ts';
import { isDeleting, keyOfStored, uidOf, versionOf } from './stored-object.ts';

export interface ObjectStoreOptions {
  /** Does the informer's selector select this object? Asked of answers only: lists and watches come selected. */
  readonly selects: (object: KubeObject) => boolean;
  /** What is held of an object. @default all of it */
  readonly keep?: Keep;
  /** A listener threw. */
  readonly onFault: (error: unknown) => void;
}

/** One list being stored, page by page. Every page is of one snapshot, which the server names by a version. */
export interface Listing {
  add(version: string, page: readonly StoredObject[]): void;
  /** The last page was added: what is not in the list leaves. A list that is not finished has done no harm. */
  finish(): void;
}

/** What the store knew of a key when a request about it began. */
export interface AnswerTicket {
  readonly key: string;
  readonly uid: string | undefined;
  readonly request: number;
  readonly hold: number;
}

interface Cause {
  readonly initial: boolean;
  readonly pass?: PassToken | undefined;
  /** Told by list or watch: it may be the work of a request whose answer is still to come. */
  readonly mayBeOurs?: boolean;
}

const fromServer: Cause = { initial: false, mayBeOurs: true };

/**
 * The objects of one informer, and the rules by which lists, watch events and answers of requests, arriving in any
 * order, become one consistent picture (README.md). Pure: no I/O, no time.
 */
export class ObjectStore {
  readonly #selects: (object: KubeObject) => boolean;
  readonly #keep: Keep;
  readonly #objects = new Map<string, StoredObject>();
  readonly #deletions = new AnsweredDeletions();
  readonly #departures = new Departures();
  readonly #indexes = new Map<string, StoreIndex>();
  readonly #feed: EventFeed;
  readonly #held: HeldEvents;
  /** Everything up to here has been told by list and watch. */
  #progress: string | undefined;
  /** The latest version seen anywhere, answers included. */
  #highest = '0';
  #listing = 0;
  #listed = false;

  constructor(options: ObjectStoreOptions) {
    this.#selects = options.selects;
    this.#keep = options.keep ?? ((stored) => stored);
    this.#feed = new EventFeed(options.onFault);
    this.#held = new HeldEvents(this.#feed);
  }

  get size(): number {
    return this.#objects.size;
  }

  /** The version to watch from; undefined before the first list. */
  get progress(): string | undefined {
    return this.#progress;
  }

  /** Keys that left ahead of the watch and are still remembered. For tests and for watching the memory. */
  get remembered(): number {
    return this.#departures.size;
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

  /** Starts to store a list whose request is about to be sent (not later: its age is judged by what is known now). */
  startList(): Listing {
    this.#listing += 1;
    const number = this.#listing;
    const known = this.#highest;
    const uids = new Map<string, string>();
    let facts: ListFacts | undefined;
    return {
      add: (version, page) => {
        if (facts === undefined) {
          // A list shows at least what was answered before it was asked for. Older: etcd was restored from a backup.
          facts = { number, version, rewritten: isAfter(known, version) };
          this.#noteVersion(version);
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
  changed(told: StoredObject): void {
    const stored = this.#keep(told);
    const key = keyOfStored(stored);
    const version = versionOf(stored);
    const old = this.#objects.get(key);
    const known = old === undefined ? this.#progress : versionOf(old);
    const isOld = known !== undefined && !isNews(version, known);
    if (!isOld && !this.#departures.isFromBefore(key, uidOf(stored), version)) {
      this.#put(key, stored, fromServer);
    }
    this.#advance(version);
  }

  /** A DELETED event: the object was deleted or left the selector. It carries the version of that. */
  deleted(stored: StoredObject): void {
    const key = keyOfStored(stored);
    const version = versionOf(stored);
    const old = this.#objects.get(key);
    if (old !== undefined && !isAfter(versionOf(old), version)) this.#remove(key, fromServer);
    this.#departures.deletedByWatch(key, uidOf(stored), version);
    this.#advance(version);
  }

  /** A BOOKMARK: everything up to `version` has been told. */
  bookmark(version: string): void {
    this.#advance(version);
    if (this.#progress !== undefined) this.#departures.caughtUp(this.#progress);
  }

  /** A request about the key begins, see {@link WriteTicket}. Until its end, events of the key are stored, but not told. */
  begin(namespace: string | undefined, name: string): AnswerTicket {
    const key = keyOf(namespace, name);
    const old = this.#objects.get(key);
    const request = this.#departures.begin(key);
    return { key, uid: old && uidOf(old), request, hold: this.#held.begin(key) };
  }

  /** The request takes too long: what happened to the key is told without waiting for it. */
  stopHolding({ key, hold }: AnswerTicket): void {
    this.#held.end(key, hold);
  }

  end(ticket: AnswerTicket): void {
    this.#departures.end(ticket.key, ticket.request);
    this.stopHolding(ticket);
  }

  /** Stores the object of an answer, unless something later is known, or takes it out if it is not selected any more. */
  answered(answer: StoredObject, pass: PassToken | undefined): void {
    const stored = this.#keep(answer);
    const key = keyOfStored(stored);
    const version = versionOf(stored);
    // Without an order nobody can tell an answer from the past; the watch brings it.
    if (!isOrdered(version)) return;
    this.#noteVersion(version);
    this.#held.attribute(key, version, pass);
    // What list and watch have told up to here is in the store already, or is over.
    if (this.#progress !== undefined && !isNews(version, this.#progress)) return;
    if (this.#departures.isFromBefore(key, uidOf(stored), version)) return;
    const old = this.#objects.get(key);
    if (old !== undefined && !isNews(version, versionOf(old))) return;
    if (this.#selects(stored.object)) {
      this.#put(key, stored, { initial: false, pass });
    } else if (old !== undefined) {
      this.#departures.leftSelector(key, { version, listing: this.#listing });
      this.#remove(key, { initial: false, pass });
    }
  }

  /** A DELETE of the object with this uid was answered at `at` (an RFC 3339 time). */
  deleting(key: string, uid: string, options: { at: string; pass: PassToken | undefined }): void {
    const old = this.#objects.get(key);
    if (old === undefined || uidOf(old) !== uid) return;
    this.#deletions.add(key, { uid, since: options.at, listing: this.#listing });
    if (!isDeleting(old)) this.#put(key, old, { initial: false, pass: options.pass });
  }

  /**
   * The server said that an object is gone: the one with this uid, or, when undefined, whatever was there. Of the latter
   * only what was known before the request is surely gone: what came since may have been created after the answer.
   */
  gone(ticket: AnswerTicket, uid: string | undefined, pass: PassToken | undefined): void {
    const goneUid = uid ?? ticket.uid;
    if (goneUid === undefined) return;
    const { key } = ticket;
    const old = this.#objects.get(key);
    if (old !== undefined && uidOf(old) === goneUid) {
      const version = versionOf(old);
      this.#departures.gone(key, { uid: goneUid, version, listing: this.#listing });
      this.#remove(key, { initial: false, pass });
    } else {
      this.#departures.goneUnseen(key, goneUid, this.#listing);
    }
  }

  #addListed(listed: StoredObject, list: ListFacts): void {
    const stored = this.#keep(listed);
    const key = keyOfStored(stored);
    const old = this.#objects.get(key);
    const isDisproved = this.#deletions.isDisproved(key, old, list);
    this.#deletions.shownBy(key, list);
    if (!isDisproved && !list.rewritten && this.#isLaterThanList(key, stored, list)) return;
    // Compared by content: after a change of the kind's schema the same version reads differently.
    if (old !== undefined && versionOf(old) === versionOf(stored)) {
      if (deepEqual(old.object, this.#deletions.marked(key, stored).object)) return;
    }
    this.#put(key, stored, this.#listed ? fromServer : { initial: true });
  }

  /** Do we know something of this key that is later than the list? */
  #isLaterThanList(key: string, listed: StoredObject, list: ListFacts): boolean {
    if (this.#departures.isFromBeforeInList(key, uidOf(listed), list)) return true;
    const old = this.#objects.get(key);
    return old !== undefined && isAfter(versionOf(old), list.version);
  }

  #finishList(uids: ReadonlyMap<string, string>, list: ListFacts): void {
    const gone: (readonly [string, StoredObject])[] = [];
    for (const [key, old] of this.#objects) {
      if (!uids.has(key) && !this.#outlivesList(key, old, list)) gone.push([key, old]);
    }
    this.#progress = list.version;
    if (list.rewritten) this.#highest = list.version;
    this.#departures.listed({ ...list, uids });
    for (const [key, old] of gone) {
      if (this.#objects.get(key) === old) this.#remove(key, fromServer);
    }
    this.#listed = true;
  }

  /** Is this entry, which the list does not have, from after it? */
  #outlivesList(key: string, old: StoredObject, list: ListFacts): boolean {
    if (list.rewritten || this.#deletions.isDisproved(key, old, list)) return false;
    return isAfter(versionOf(old), list.version);
  }

  #put(key: string, stored: StoredObject, cause: Cause): void {
    const old = this.#objects.get(key);
    const current = this.#deletions.marked(key, stored);
    this.#objects.set(key, current);
    this.#deletions.stored(key, stored, current);
    this.#tell(key, old, current, cause);
  }

  #remove(key: string, cause: Cause): void {
    const old = this.#objects.get(key);
    if (old === undefined) return;
    this.#objects.delete(key);
    this.#deletions.left(key);
    this.#tell(key, old, undefined, cause);
  }

  #tell(
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
    this.#held.tell(key, delivery, cause.mayBeOurs === true);
  }

  #advance(version: string): void {
    if (this.#progress === undefined || isNews(version, this.#progress)) this.#progress = version;
    this.#noteVersion(version);
  }

  #noteVersion(version: string): void {
    if (isAfter(version, this.#highest)) this.#highest = version;
  }
}
