/**
 * How long a CRD's kinds are served as they are: from one change of it to the next. What was stored
 * before is read anew, and watches of before end.
 */
export class ServedLife {
  /** The version of the store at its beginning. */
  readonly since: number;
  readonly #listeners = new Set<() => void>();
  #takesNew = true;

  constructor(since: number) {
    this.since = since;
  }

  /** May objects be made? Not while the CRD waits for the end of those that are there. */
  get takesNew(): boolean {
    return this.#takesNew;
  }

  close(): void {
    this.#takesNew = false;
  }

  /** Calls the listener when the kinds are replaced or gone; returns a function that takes that back. */
  onEnd(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  end(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}
