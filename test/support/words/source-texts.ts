/** A string or template literal of a TypeScript source. Expressions in a template are `{}`. */
export interface SourceText {
  readonly text: string;
  /** From 1. */
  readonly line: number;
}

/** A slash after one of these begins a regular expression, after anything else it divides. */
const beforeRegex = /(?:^|[=(,:[!&|?{};+\-*%<>~^]|\b(?:return|typeof|case|in|of|do|else))\s*$/;

/** All string and template literals of a source, in order. A tokenizer for formatted code, not a parser. */
export function sourceTexts(source: string): readonly SourceText[] {
  const found: SourceText[] = [];
  new Scanner(source, (text, at) => {
    found.push({ text, line: source.slice(0, at).split('\n').length });
  }).code(0, source.length);
  return found;
}

class Scanner {
  readonly #source: string;
  readonly #onText: (text: string, at: number) => void;

  constructor(source: string, onText: (text: string, at: number) => void) {
    this.#source = source;
    this.#onText = onText;
  }

  /** Reads code up to `limit`, or up to the brace that closes the expression of a template. Returns where it ends. */
  code(start: number, limit: number): number {
    let depth = 0;
    for (let at = start; at < limit; ) {
      const end = this.#literal(at, this.#source.slice(Math.max(start, at - 40), at));
      if (end !== undefined) {
        at = end;
        continue;
      }
      if (this.#source[at] === '{') depth += 1;
      if (this.#source[at] === '}' && --depth < 0) return at;
      at += 1;
    }
    return limit;
  }

  /** Returns the end of the comment or literal at this place. Undefined: none begins here. */
  #literal(at: number, before: string): number | undefined {
    const [first, second] = [this.#source[at], this.#source[at + 1]];
    if (first === '/' && second === '/') return this.#after('\n', at);
    if (first === '/' && second === '*') return this.#after('*/', at);
    if (first === "'" || first === '"') return this.#quoted(first, at);
    if (first === '`') return this.#template(at);
    if (first === '/' && beforeRegex.test(before)) return this.#regex(at);
    return undefined;
  }

  #after(close: string, at: number): number {
    const found = this.#source.indexOf(close, at + 2);
    return found === -1 ? this.#source.length : found + close.length;
  }

  #quoted(quote: string, at: number): number {
    let end = at + 1;
    while (end < this.#source.length && this.#source[end] !== quote) end += this.#lengthAt(end);
    this.#onText(this.#source.slice(at + 1, end), at);
    return end + 1;
  }

  #template(at: number): number {
    let text = '';
    let end = at + 1;
    while (end < this.#source.length && this.#source[end] !== '`') {
      if (this.#source.startsWith('${', end)) {
        text += '{}';
        end = this.code(end + 2, this.#source.length) + 1;
        continue;
      }
      const length = this.#lengthAt(end);
      text += this.#source.slice(end, end + length);
      end += length;
    }
    this.#onText(text, at);
    return end + 1;
  }

  #regex(at: number): number {
    let end = at + 1;
    let isInClass = false;
    while (end < this.#source.length && (isInClass || this.#source[end] !== '/')) {
      if (this.#source[end] === '[') isInClass = true;
      if (this.#source[end] === ']') isInClass = false;
      end += this.#lengthAt(end);
    }
    return end + 1;
  }

  /** Of a character with its escape. */
  #lengthAt(at: number): number {
    return this.#source[at] === '\\' ? 2 : 1;
  }
}
