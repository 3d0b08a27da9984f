/**
 * The paths of duplicate fields in a JSON text: `spec.x`, `spec.list[0].y`. JSON.parse keeps the last one without an error. The
 * text must be valid JSON.
 */
export function findDuplicateFields(text: string): readonly string[] {
  return new DuplicateScan(text).run();
}

const [backslash, blank] = [0x5c, 0x20];

class DuplicateScan {
  readonly #text: string;
  readonly #found: string[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  run(): readonly string[] {
    this.#value('');
    return this.#found;
  }

  #value(path: string): void {
    this.#space();
    switch (this.#text[this.#at]) {
      case '{':
        this.#object(path);
        return;
      case '[':
        this.#list(path);
        return;
      case '"':
        this.#string();
        return;
      default:
        while (this.#at < this.#text.length && !',]} \n\r\t'.includes(this.#text[this.#at] ?? ''))
          this.#at++;
    }
  }

  #object(path: string): void {
    const seen = new Set<string>();
    this.#at++;
    for (this.#space(); this.#text[this.#at] === '"'; this.#space()) {
      const raw = this.#string();
      const name: string = raw.includes('\\') ? JSON.parse(`"${raw}"`) : raw;
      const at = path === '' ? name : `${path}.${name}`;
      if (seen.has(name)) this.#found.push(at);
      seen.add(name);
      this.#space();
      this.#at++;
      this.#value(at);
      this.#space();
      if (this.#text[this.#at] === ',') this.#at++;
    }
    this.#at++;
  }

  #list(path: string): void {
    this.#at++;
    this.#space();
    for (let index = 0; this.#at < this.#text.length && this.#text[this.#at] !== ']'; index++) {
      this.#value(`${path}[${index}]`);
      this.#space();
      if (this.#text[this.#at] === ',') this.#at++;
      this.#space();
    }
    this.#at++;
  }

  /** The text between the quotes, including escapes. */
  #string(): string {
    const start = this.#at + 1;
    let end = this.#text.indexOf('"', start);
    while (end >= 0 && this.#isEscaped(end, start)) end = this.#text.indexOf('"', end + 1);
    this.#at = (end < 0 ? this.#text.length : end) + 1;
    return this.#text.slice(start, this.#at - 1);
  }

  /** An odd number of backslashes precedes it. */
  #isEscaped(at: number, start: number): boolean {
    let first = at;
    while (first > start && this.#text.charCodeAt(first - 1) === backslash) first--;
    return (at - first) % 2 === 1;
  }

  #space(): void {
    // JSON whitespace has codes up to 32, and no other character between tokens has; at the end the code is NaN.
    while (this.#text.charCodeAt(this.#at) <= blank) this.#at++;
  }
}
