import type { Clock } from '../../util/clock.ts';

/** A source that vanishes for a moment, and comes back broken, finds what it had. */
const patienceMs = 600_000;

export interface AbsentNamesOptions {
  readonly clock: Clock;
  /** Is everything known that there is? While it is not, nothing counts as gone. */
  readonly mayForget: () => boolean;
  readonly onGone: (name: string) => void;
}

/** Names that were there once and are not any more; after a while they count as gone. */
export class AbsentNames {
  readonly #options: AbsentNamesOptions;
  #present: ReadonlySet<string> | undefined;
  /** How to stop waiting. */
  readonly #waiting = new Map<string, () => void>();
  readonly #gone = new Set<string>();

  constructor(options: AbsentNamesOptions) {
    this.#options = options;
  }

  /** These names are there, and no others. */
  present(names: Iterable<string>): void {
    const before = this.#present ?? new Set();
    const now = new Set(names);
    this.#present = now;
    for (const name of now) {
      this.#waiting.get(name)?.();
      this.#waiting.delete(name);
      this.#gone.delete(name);
    }
    for (const name of before) this.exists(name);
  }

  /** There is something of this name that goes with it. */
  exists(name: string): void {
    if (this.#present?.has(name) !== false || this.#waiting.has(name) || this.#gone.has(name))
      return;
    this.#wait(name);
  }

  isGone(name: string): boolean {
    return this.#gone.has(name);
  }

  stop(): void {
    for (const cancel of this.#waiting.values()) cancel();
    this.#waiting.clear();
  }

  #wait(name: string): void {
    const { clock, mayForget, onGone } = this.#options;
    const cancel = clock.after(patienceMs, () => {
      if (!mayForget()) return this.#wait(name);
      this.#waiting.delete(name);
      this.#gone.add(name);
      onGone(name);
    });
    this.#waiting.set(name, cancel);
  }
}
