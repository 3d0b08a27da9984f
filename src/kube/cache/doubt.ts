/**
 * How sure an informer is that the server's history is still the one it knows: etcd may have been restored from a backup while
 * nobody was connected. `cut`: the watch ended in another way than agreed. `outage`: the server was asked and did not answer.
 */
export type DoubtLevel = 'none' | 'cut' | 'outage';

const order: Readonly<Record<DoubtLevel, number>> = { none: 0, cut: 1, outage: 2 };

/** The doubt of one informer. A `cut` ends when the server shows no older version, an `outage` only with a new list. */
export class Doubt {
  readonly #onChange: () => void;
  #level: DoubtLevel = 'none';
  /** Outages so far: a list that was asked for before the last one proves nothing. */
  #outages = 0;
  /** An outage was noticed by others while the watch was open, and the watch has delivered nothing since. */
  #isOnTrust = false;

  /** `onChange` is called when {@link isOutdated} changes. */
  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get level(): DoubtLevel {
    return this.#level;
  }

  /** Only a new list can tell what is so now. */
  get isOutdated(): boolean {
    return this.#level === 'outage';
  }

  /** To be given to {@link listed}: what a list proves that is asked for now. */
  get mark(): number {
    return this.#outages;
  }

  raise(level: 'cut' | 'outage'): void {
    if (level === 'outage') this.#outages += 1;
    if (order[level] > order[this.#level]) this.#set(level);
  }

  /** Others have noticed an outage. An open watch may be with a server that lives; or it is dead, and nobody has said so. */
  noteOutage({ isWatching }: { readonly isWatching: boolean }): void {
    if (isWatching) this.#isOnTrust = true;
    else this.raise('outage');
  }

  /** The watch has delivered something. */
  noteEvent(): void {
    this.#isOnTrust = false;
  }

  /** The watch has ended. */
  noteEnd({
    isAsAgreed,
    isLost,
  }: {
    readonly isAsAgreed: boolean;
    readonly isLost: boolean;
  }): void {
    if (this.#isOnTrust || isLost) this.raise('outage');
    else if (!isAsAgreed) this.raise('cut');
    this.#isOnTrust = false;
  }

  /** The server is not older than what it has told. */
  notGoneBack(): void {
    if (this.#level === 'cut') this.#set('none');
  }

  /** A list was stored that was asked for at `mark`. */
  listed(mark: number): void {
    if (mark === this.#outages) this.#set('none');
  }

  #set(level: DoubtLevel): void {
    const wasOutdated = this.isOutdated;
    this.#level = level;
    if (wasOutdated !== this.isOutdated) this.#onChange();
  }
}
