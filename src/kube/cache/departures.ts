import { isAfter, isNews } from './resource-version.ts';

/** An object left the selector by an answer of this version. */
interface Left {
  readonly version: string;
  /** The number of the last list that had been started by then. */
  readonly listing: number;
}

/** The object with this uid is gone for good. */
interface Gone {
  readonly uid: string;
  /** What was stored of it last. */
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
  readonly #left = new Map<string, Left>();
  readonly #gone = new Map<string, Gone>();
  readonly #inFlight = new Map<string, number>();

  /** How much is remembered. */
  get size(): number {
    return this.#left.size + this.#gone.size;
  }

  /** A request that may change or read the key begins; {@link end} follows. */
  begin(key: string): void {
    this.#inFlight.set(key, (this.#inFlight.get(key) ?? 0) + 1);
  }

  end(key: string): void {
    const others = (this.#inFlight.get(key) ?? 0) - 1;
    if (others > 0) {
      this.#inFlight.set(key, others);
      return;
    }
    this.#inFlight.delete(key);
    if (this.#gone.get(key)?.settled === true) this.#gone.delete(key);
  }

  leftSelector(key: string, left: Left): void {
    this.#left.set(key, left);
  }

  gone(key: string, gone: Omit<Gone, 'settled'>): void {
    this.#gone.set(key, { ...gone, settled: false });
  }

  /** An object is gone that was not stored: only answers in flight besides this one could bring it. */
  goneUnseen(key: string, uid: string, listing: number): void {
    if ((this.#inFlight.get(key) ?? 0) < 2 || this.#gone.has(key)) return;
    this.#gone.set(key, { uid, version: '0', listing, settled: true });
  }

  /** Is this state of an object from before a departure? */
  isFromBefore(key: string, uid: string, version: string): boolean {
    const left = this.#left.get(key);
    if (left !== undefined && !isNews(version, left.version)) return true;
    const gone = this.#gone.get(key);
    return gone !== undefined && (gone.uid === uid || !isNews(version, gone.version));
  }

  /** As {@link isFromBefore}, for an entry of a list: that one knows of what had left when it was asked for. */
  isFromBeforeInList(
    key: string,
    uid: string,
    list: Pick<StoredList, 'number' | 'version'>,
  ): boolean {
    const left = this.#left.get(key);
    const gone = this.#gone.get(key);
    const hasLeft = left?.listing === list.number && isAfter(left.version, list.version);
    if (hasLeft || gone?.listing !== list.number) return hasLeft;
    return gone.uid === uid || isAfter(gone.version, list.version);
  }

  /** A list was stored. What left before it was asked for, or is not in it, is over. */
  listed(list: StoredList): void {
    for (const [key, left] of this.#left) if (left.listing < list.number) this.#left.delete(key);
    for (const [key, gone] of this.#gone) {
      const isTold = list.rewritten || !isAfter(gone.version, list.version);
      if (gone.listing < list.number) this.#gone.delete(key);
      else if (gone.uid !== list.uids.get(key) && isTold) this.#settle(key, gone);
      else if (list.rewritten) this.#gone.set(key, { ...gone, version: '0' });
    }
    this.caughtUp(list.version);
  }

  /** The watch told that this object was deleted, or left the selector, at `version`. */
  deletedByWatch(key: string, uid: string, version: string): void {
    const left = this.#left.get(key);
    if (left !== undefined && !isAfter(left.version, version)) this.#left.delete(key);
    const gone = this.#gone.get(key);
    // Before what was stored last it can only have left the selector, for a time.
    if (gone?.uid === uid && !isAfter(gone.version, version)) this.#settle(key, gone);
  }

  /** The watch has told everything up to `version`. */
  caughtUp(version: string): void {
    for (const [key, left] of this.#left) {
      if (!isAfter(left.version, version)) this.#left.delete(key);
    }
  }

  #settle(key: string, gone: Gone): void {
    // Older versions are no news to the store any more: only the uid counts.
    if (this.#inFlight.has(key)) this.#gone.set(key, { ...gone, version: '0', settled: true });
    else this.#gone.delete(key);
  }
}
