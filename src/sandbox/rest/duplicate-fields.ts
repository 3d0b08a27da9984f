/**
 * The paths of fields that a JSON text has twice: `spec.x`, `spec.list[0].y`. JSON.parse keeps the
 * last and tells nobody. The text must be valid JSON.
 */
export function findDuplicateFields(text: string): readonly string[] {
  return new DuplicateScan(text).run();
}

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

  /** The text between the quotes, escapes and all. */
  #string(): string {
    const start = this.#at + 1;
    this.#at = start;
    while (this.#text[this.#at] !== '"' && this.#at < this.#text.length)
      this.#at += this.#text[this.#at] === '\\' ? 2 : 1;
    this.#at++;
    return this.#text.slice(start, this.#at - 1);
  }

  #space(): void {
    while (' \n\r\t'.includes(this.#text[this.#at] ?? 'x')) this.#at++;
  }
}
