/** What one server that is not trusted takes of a {@link SharedBudget}. */
export interface BudgetShare {
  /** Adds to what it takes; a negative number is released. In characters or bytes, with 64 for each map and list. */
  add(length: number): void;
  /** Releases all of it. Later calls have no effect. */
  close(): void;
}

interface OpenShare {
  length: number;
  /** It was ended, and releases what it takes soon. */
  isEnding: boolean;
  readonly onExceeded: () => void;
}

/**
 * How much memory all servers that are not trusted may take together: cached objects, and incomplete lines of watches. When it is exceeded,
 * the server that takes most is ended, not the one that asked last.
 */
export class SharedBudget {
  readonly #maxLength: number;
  readonly #open = new Set<OpenShare>();
  /** Of all shares that are not ending. */
  #length = 0;

  /** @param maxLength In characters or bytes, with 64 for each map and list. */
  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  /** @param onExceeded Called once, when this share is ended. The caller closes the server's connections and the share. */
  open(onExceeded: () => void): BudgetShare {
    const share: OpenShare = { length: 0, isEnding: false, onExceeded };
    this.#open.add(share);
    return {
      add: (length) => {
        if (!this.#open.has(share)) return;
        share.length += length;
        if (share.isEnding) return;
        this.#length += length;
        if (length > 0) this.#endLargest();
      },
      close: () => {
        if (this.#open.delete(share) && !share.isEnding) this.#length -= share.length;
      },
    };
  }

  /** What an ending share still takes does not count, or others would be ended in its place. */
  #endLargest(): void {
    while (this.#length > this.#maxLength) {
      const open = [...this.#open].filter(({ isEnding }) => !isEnding);
      const largest = open.reduce((a, b) => (b.length > a.length ? b : a));
      largest.isEnding = true;
      this.#length -= largest.length;
      largest.onExceeded();
    }
  }
}
