/** Which requests on which keys are under way. Numbers rise with the time of their begin. */
export class InFlight {
  readonly #byKey = new Map<string, Set<number>>();
  #last = 0;

  /** The number of the latest request that began. */
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

  count(key: string): number {
    return this.#byKey.get(key)?.size ?? 0;
  }

  /** Is a request on the key under way that had begun by then? */
  hasSince(key: string, number: number): boolean {
    // A set keeps the order of insertion: the first is the oldest.
    const [oldest] = this.#byKey.get(key) ?? [];
    return oldest !== undefined && oldest <= number;
  }
}
