import type { Clock } from '../../util/clock.ts';

/** A watch that nobody needs any more ends after this time: resources that go one after the other share it. */
const lingerMs = 60_000;

export interface BorrowedKindsOptions {
  readonly clock: Clock;
  /** Nobody has needed the kind for a while. */
  readonly onUnused: (kind: string) => void;
}

/** Kinds that are watched only because resources say that they have children of them, and which resources these are. */
export class BorrowedKinds {
  readonly #options: BorrowedKindsOptions;
  /** Keys of resources by kind. */
  readonly #users = new Map<string, Set<string>>();
  /** How to keep those that will end. */
  readonly #lingering = new Map<string, () => void>();

  constructor(options: BorrowedKindsOptions) {
    this.#options = options;
  }

  has(kind: string): boolean {
    return this.#users.has(kind);
  }

  isFor(kind: string, key: string): boolean {
    return this.#users.get(kind)?.has(key) === true;
  }

  /** A resource needs these kinds and no others any more. */
  retain(key: string, kinds: ReadonlySet<string>): void {
    for (const kind of kinds) {
      this.#keep(kind);
      const users = this.#users.get(kind) ?? new Set();
      this.#users.set(kind, users.add(key));
    }
    for (const [kind, users] of this.#users) {
      if (!kinds.has(kind) && users.delete(key) && users.size === 0) this.#linger(kind);
    }
  }

  stop(): void {
    for (const cancel of this.#lingering.values()) cancel();
    this.#lingering.clear();
    this.#users.clear();
  }

  #keep(kind: string): void {
    this.#lingering.get(kind)?.();
    this.#lingering.delete(kind);
  }

  #linger(kind: string): void {
    const end = () => {
      this.#lingering.delete(kind);
      this.#users.delete(kind);
      this.#options.onUnused(kind);
    };
    this.#lingering.set(kind, this.#options.clock.after(lingerMs, end));
  }
}
