const maxStrings = 20_000;

/** Gives one string for all equal ones, so that what repeats in thousands of objects is held once. Bounded. */
export class StringPool {
  readonly #strings = new Map<string, string>();

  intern(text: string): string {
    const known = this.#strings.get(text);
    if (known !== undefined) return known;
    // Unique values would fill it for ever; starting anew costs no more than some doubles.
    if (this.#strings.size >= maxStrings) this.#strings.clear();
    this.#strings.set(text, text);
    return text;
  }

  /** The same fields, with values of the pool. */
  internValues(fields: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    const copy: Record<string, string> = {};
    for (const [name, value] of Object.entries(fields)) copy[name] = this.intern(value);
    return copy;
  }
}
