import { isNewer, mayBeNewer } from '#util/resource-version.ts';

/** Version at which the object of a key was removed. Events up to it are stale. */
interface Floor {
  readonly version: string;
  /** Number of the last list started before the removal. */
  readonly listing: number;
}

/** A deleted object. */
interface DeletedObject {
  readonly uid: string;
  /** Last stored version. */
  readonly version: string;
  readonly listing: number;
  /** The watch has confirmed the deletion. Kept only while requests on the key are in flight: their responses may be stale. */
  readonly confirmed: boolean;
}

interface StoredList {
  readonly number: number;
  /** Version of the snapshot. */
  readonly version: string;
  /** The list is older than the known state. */
  readonly rewritten: boolean;
  /** UIDs in the list by key. */
  readonly uids: ReadonlyMap<string, string>;
}

/**
 * Objects that a response removed from the store ahead of the watch. Until the watch catches up, stale events and
 * responses must not restore them.
 */
export class Removals {
  readonly #floors = new Map<string, Floor>();
  readonly #deleted = new Map<string, readonly DeletedObject[]>();
  readonly #inFlight = new InFlight();

  /** Number of remembered keys. */
  get size(): number {
    return this.#floors.size + this.#deleted.size;
  }

  /** A request about the key starts. Returns its number for {@link end}. */
  begin(key: string): number {
    return this.#inFlight.begin(key);
  }

  end(key: string, number: number): void {
    this.#inFlight.end(key, number);
    if (this.#inFlight.count(key) === 0) this.#retainDeleted(key, ({ confirmed }) => !confirmed);
  }

  /** The object no longer matches the selector. */
  leftSelector(key: string, floor: Floor): void {
    this.#floors.set(key, floor);
  }

  /** A stored object was deleted. */
  gone(key: string, { uid, version, listing }: Omit<DeletedObject, 'confirmed'>): void {
    this.#floors.set(key, { version, listing });
    this.#addDeleted(key, { uid, version, listing, confirmed: false });
  }

  /** An object that was not stored was deleted: only other responses in flight could restore it. */
  deletedUncached(key: string, uid: string, listing: number): void {
    const others = this.#inFlight.count(key) - 1;
    if (others < 1 || this.#isDeleted(key, uid)) return;
    this.#addDeleted(key, { uid, version: '0', listing, confirmed: true });
  }

  /** Whether this state of an object precedes its removal. */
  isStale(key: string, uid: string, version: string): boolean {
    const floor = this.#floors.get(key);
    return (
      (floor !== undefined && !mayBeNewer(version, floor.version)) || this.#isDeleted(key, uid)
    );
  }

  /** Like {@link isStale}, for a list item: the list contains removals before its request. */
  isStaleInList(key: string, uid: string, list: Pick<StoredList, 'number' | 'version'>): boolean {
    const floor = this.#floors.get(key);
    if (floor?.listing === list.number && isNewer(floor.version, list.version)) return true;
    const dead = this.#deleted.get(key) ?? [];
    return dead.some((one) => one.uid === uid && one.listing === list.number);
  }

  /** A list was stored. Forgets the removals before its request or confirmed by it. */
  listed(list: StoredList): void {
    for (const [key, floor] of this.#floors) {
      const isOver = list.rewritten || floor.listing < list.number;
      if (isOver || !isNewer(floor.version, list.version)) this.#floors.delete(key);
    }
    for (const key of [...this.#deleted.keys()]) {
      const uid = list.uids.get(key);
      this.#retainDeleted(key, ({ listing }) => listing >= list.number);
      this.#confirm(key, (dead) => {
        return dead.uid !== uid && (list.rewritten || !isNewer(dead.version, list.version));
      });
      if (list.rewritten) this.#forgetVersions(key);
    }
  }

  /** The watch reported that the object was deleted, or no longer matches the selector, at `version`. */
  deletedByWatch(key: string, uid: string, version: string): void {
    const floor = this.#floors.get(key);
    if (floor !== undefined && !isNewer(floor.version, version)) this.#floors.delete(key);
    // A DELETED event before the last stored version was a temporary selector mismatch.
    this.#confirm(key, (dead) => dead.uid === uid && !isNewer(dead.version, version));
  }

  /** The watch has delivered everything up to `version`. */
  caughtUp(version: string): void {
    for (const [key, floor] of this.#floors) {
      if (!isNewer(floor.version, version)) this.#floors.delete(key);
    }
  }

  #isDeleted(key: string, uid: string): boolean {
    return this.#deleted.get(key)?.some((dead) => dead.uid === uid) === true;
  }

  #addDeleted(key: string, dead: DeletedObject): void {
    const others = (this.#deleted.get(key) ?? []).filter(({ uid }) => uid !== dead.uid);
    this.#deleted.set(key, [...others, dead]);
  }

  #retainDeleted(key: string, isKept: (dead: DeletedObject) => boolean): void {
    const kept = this.#deleted.get(key)?.filter(isKept) ?? [];
    if (kept.length > 0) this.#deleted.set(key, kept);
    else this.#deleted.delete(key);
  }

  /** The watch confirmed the deletion. It now matters only for responses in flight. */
  #confirm(key: string, isConfirmed: (dead: DeletedObject) => boolean): void {
    const dead = this.#deleted.get(key);
    if (dead === undefined) return;
    if (this.#inFlight.count(key) === 0) this.#retainDeleted(key, (one) => !isConfirmed(one));
    else
      this.#deleted.set(
        key,
        dead.map((one) => (isConfirmed(one) ? { ...one, confirmed: true } : one)),
      );
  }

  /** After a restore, earlier versions are meaningless. */
  #forgetVersions(key: string): void {
    const dead = this.#deleted.get(key);
    if (dead !== undefined)
      this.#deleted.set(
        key,
        dead.map((one) => ({ ...one, version: '0' })),
      );
  }
}

/** Requests in flight by key. Numbers increase with their start time. */
export class InFlight {
  readonly #byKey = new Map<string, Set<number>>();
  #last = 0;

  /** Number of the last started request. */
  get last(): number {
    return this.#last;
  }

  begin(key: string): number {
    this.#last += 1;
    const numbers = this.#byKey.get(key);
    if (numbers === undefined) this.#byKey.set(key, new Set([this.#last]));
    else numbers.add(this.#last);
    return this.#last;
  }

  end(key: string, number: number): void {
    const numbers = this.#byKey.get(key);
    numbers?.delete(number);
    if (numbers?.size === 0) this.#byKey.delete(key);
  }

  has(key: string, number: number): boolean {
    return this.#byKey.get(key)?.has(number) === true;
  }

  count(key: string): number {
    return this.#byKey.get(key)?.size ?? 0;
  }

  /** Whether a request on the key with this number or a lower one is in flight. */
  hasSince(key: string, number: number): boolean {
    // Sets keep insertion order: the first entry is the oldest.
    const [oldest] = this.#byKey.get(key) ?? [];
    return oldest !== undefined && oldest <= number;
  }
}
