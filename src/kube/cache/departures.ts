import { InFlight } from './in-flight.ts';
import { isAfter, isNews } from './resource-version.ts';

/** A key whose object left at this version: what is not newer is from before. */
interface Floor {
  readonly version: string;
  /** The number of the last list that had been started by then. */
  readonly listing: number;
}

/** An object that is gone for good. */
interface Dead {
  readonly uid: string;
  /** Of what was stored of it last. */
  readonly version: string;
  readonly listing: number;
  /** The watch has told it too; kept only because a request on the key is in flight, whose answer may be from before. */
  readonly settled: boolean;
}

interface StoredList {
  readonly number: number;
  /** Of its snapshot. */
  readonly version: string;
  /** It is older than what had been seen before. */
  readonly rewritten: boolean;
  /** The uids in it by key. */
  readonly uids: ReadonlyMap<string, string>;
}

/**
 * Objects that left a store by the answer of a request, which runs ahead of the watch: until the watch has caught up,
 * neither its events nor late answers of other requests may bring them back.
 */
export class Departures {
  readonly #floors = new Map<string, Floor>();
  readonly #dead = new Map<string, readonly Dead[]>();
  readonly #inFlight = new InFlight();

  /** How much is remembered. */
  get size(): number {
    return this.#floors.size + this.#dead.size;
  }

  /** A request that may change or read the key begins. Returns its number, for {@link end}. */
  begin(key: string): number {
    return this.#inFlight.begin(key);
  }

  end(key: string, number: number): void {
    this.#inFlight.end(key, number);
    if (this.#inFlight.count(key) === 0) this.#keepDead(key, ({ settled }) => !settled);
  }

  /** The object left the selector. */
  leftSelector(key: string, floor: Floor): void {
    this.#floors.set(key, floor);
  }

  /** An object that was stored is gone. */
  gone(key: string, { uid, version, listing }: Omit<Dead, 'settled'>): void {
    this.#floors.set(key, { version, listing });
    this.#addDead(key, { uid, version, listing, settled: false });
  }

  /** An object is gone that was not stored: only answers in flight besides this one could bring it. */
  goneUnseen(key: string, uid: string, listing: number): void {
    const others = this.#inFlight.count(key) - 1;
    if (others < 1 || this.#isDead(key, uid)) return;
    this.#addDead(key, { uid, version: '0', listing, settled: true });
  }

  /** Is this state of an object from before a departure? */
  isFromBefore(key: string, uid: string, version: string): boolean {
    const floor = this.#floors.get(key);
    return (floor !== undefined && !isNews(version, floor.version)) || this.#isDead(key, uid);
  }

  /** As {@link isFromBefore}, for an entry of a list: that one knows of what had left when it was asked for. */
  isFromBeforeInList(
    key: string,
    uid: string,
    list: Pick<StoredList, 'number' | 'version'>,
  ): boolean {
    const floor = this.#floors.get(key);
    if (floor?.listing === list.number && isAfter(floor.version, list.version)) return true;
    const dead = this.#dead.get(key) ?? [];
    return dead.some((one) => one.uid === uid && one.listing === list.number);
  }

  /** A list was stored. What left before it was asked for, or is not in it, is over. */
  listed(list: StoredList): void {
    for (const [key, floor] of this.#floors) {
      const isOver = list.rewritten || floor.listing < list.number;
      if (isOver || !isAfter(floor.version, list.version)) this.#floors.delete(key);
    }
    for (const key of [...this.#dead.keys()]) {
      const uid = list.uids.get(key);
      this.#keepDead(key, ({ listing }) => listing >= list.number);
      this.#settle(key, (dead) => {
        return dead.uid !== uid && (list.rewritten || !isAfter(dead.version, list.version));
      });
      if (list.rewritten) this.#forgetVersions(key);
    }
  }

  /** The watch told that this object was deleted, or left the selector, at `version`. */
  deletedByWatch(key: string, uid: string, version: string): void {
    const floor = this.#floors.get(key);
    if (floor !== undefined && !isAfter(floor.version, version)) this.#floors.delete(key);
    // Before what was stored last it can only have left the selector, for a time.
    this.#settle(key, (dead) => dead.uid === uid && !isAfter(dead.version, version));
  }

  /** The watch has told everything up to `version`. */
  caughtUp(version: string): void {
    for (const [key, floor] of this.#floors) {
      if (!isAfter(floor.version, version)) this.#floors.delete(key);
    }
  }

  #isDead(key: string, uid: string): boolean {
    return this.#dead.get(key)?.some((dead) => dead.uid === uid) === true;
  }

  #addDead(key: string, dead: Dead): void {
    const others = (this.#dead.get(key) ?? []).filter(({ uid }) => uid !== dead.uid);
    this.#dead.set(key, [...others, dead]);
  }

  #keepDead(key: string, isKept: (dead: Dead) => boolean): void {
    const kept = this.#dead.get(key)?.filter(isKept) ?? [];
    if (kept.length > 0) this.#dead.set(key, kept);
    else this.#dead.delete(key);
  }

  /** The watch has told it: what matters now are answers that are still in flight. */
  #settle(key: string, isTold: (dead: Dead) => boolean): void {
    const dead = this.#dead.get(key);
    if (dead === undefined) return;
    if (this.#inFlight.count(key) === 0) this.#keepDead(key, (one) => !isTold(one));
    else
      this.#dead.set(
        key,
        dead.map((one) => (isTold(one) ? { ...one, settled: true } : one)),
      );
  }

  /** Versions of a history that was rewritten say nothing. */
  #forgetVersions(key: string): void {
    const dead = this.#dead.get(key);
    if (dead !== undefined)
      this.#dead.set(
        key,
        dead.map((one) => ({ ...one, version: '0' })),
      );
  }
}
