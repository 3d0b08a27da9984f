/** An expression without struct literals, which the CEL library cannot parse. */
export interface RewrittenCel {
  readonly text: string;
  /** The offset in the original expression of an offset in `text`. */
  originalOffset(at: number): number;
}

/** The functions that replace struct literals: of `JSONPatch{}`, and of `Object{}` and `Object.spec{}`. */
export const structFunctions = { patch: 'JSONPatch_', object: 'Object_' } as const;

/** Replaces `JSONPatch{op: "add"}` by `JSONPatch_({"op": "add"})`, and `Object.spec{a: 1}` by `Object_({"a": 1})`. */
export function rewriteStructs(original: string): RewrittenCel {
  const rewriter = new Rewriter(original);
  return rewriter.rewrite();
}

/** Strings, comments, names with dots, and single characters. */
const tokens =
  /(?:[rR]?(?:"""[\s\S]*?"""|'''[\s\S]*?'''))|[rRbB]{0,2}(?:"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|\/\/[^\n]*|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*|\s+|[\s\S]/g;

const structName = /^(?:JSONPatch|Object(?:\.[A-Za-z_]\w*)*)$/;

class Rewriter {
  readonly #tokens: readonly { readonly text: string; readonly at: number }[];
  /** A piece of the result, and where it comes from. */
  readonly #pieces: { readonly text: string; readonly at: number }[] = [];
  /** Open braces, from the outermost one. */
  readonly #open: ('struct' | 'other')[] = [];

  constructor(original: string) {
    this.#tokens = [...original.matchAll(tokens)].map((match) => ({
      text: match[0],
      at: match.index,
    }));
  }

  rewrite(): RewrittenCel {
    for (const [index, token] of this.#tokens.entries()) this.#rewriteToken(index, token);
    const text = this.#pieces.map((piece) => piece.text).join('');
    return { text, originalOffset: (at) => this.#originalOffset(at) };
  }

  #rewriteToken(index: number, { text, at }: { readonly text: string; readonly at: number }): void {
    if (text === '{') this.#openBrace(index, at);
    else if (text === '}') this.#closeBrace(at);
    else if (text === '(' || text === '[') {
      this.#open.push('other');
      this.#pieces.push({ text, at });
    } else if (text === ')' || text === ']') {
      this.#open.pop();
      this.#pieces.push({ text, at });
    } else this.#pieces.push({ text: this.#isField(index) ? `"${text}"` : text, at });
  }

  #openBrace(index: number, at: number): void {
    const name = this.#tokenBefore(index);
    if (name === undefined || !structName.test(this.#tokens[name]?.text ?? '')) {
      this.#open.push('other');
      this.#pieces.push({ text: '{', at });
      return;
    }
    this.#open.push('struct');
    const isPatch = this.#tokens[name]?.text === 'JSONPatch';
    const called = isPatch ? structFunctions.patch : structFunctions.object;
    this.#pieces[name] = { text: called, at: this.#tokens[name]?.at ?? at };
    this.#pieces.push({ text: '({', at });
  }

  #closeBrace(at: number): void {
    this.#pieces.push({ text: this.#open.pop() === 'struct' ? '})' : '}', at });
  }

  /** Whether the token is the name of a field of a struct literal. */
  #isField(index: number): boolean {
    const { text = '' } = this.#tokens[index] ?? {};
    if (this.#open.at(-1) !== 'struct' || !/^[A-Za-z_]\w*$/.test(text)) return false;
    const [before, after] = [this.#tokenBefore(index), this.#tokenAfter(index)];
    const isFirst = ['{', ','].includes(this.#tokens[before ?? -1]?.text ?? '');
    return isFirst && this.#tokens[after ?? -1]?.text === ':';
  }

  #tokenBefore(index: number): number | undefined {
    for (let at = index - 1; at >= 0; at--) if (this.#isMeaningful(at)) return at;
    return undefined;
  }

  #tokenAfter(index: number): number | undefined {
    for (let at = index + 1; at < this.#tokens.length; at++) if (this.#isMeaningful(at)) return at;
    return undefined;
  }

  #isMeaningful(index: number): boolean {
    const { text = '' } = this.#tokens[index] ?? {};
    return text.trim() !== '' && !text.startsWith('//');
  }

  #originalOffset(at: number): number {
    let end = 0;
    for (const piece of this.#pieces) {
      if (at < end + piece.text.length) return piece.at + Math.min(at - end, piece.text.length);
      end += piece.text.length;
    }
    const last = this.#tokens.at(-1);
    return last === undefined ? 0 : last.at + last.text.length;
  }
}
