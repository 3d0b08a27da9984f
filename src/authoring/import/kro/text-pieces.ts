/** A part of a text with `${ }`. */
export type Piece =
  | { readonly kind: 'literal'; readonly text: string }
  | {
      readonly kind: 'expression';
      readonly cel: string;
      /** Of the CEL source in the text. */
      readonly offset: number;
    };

/** Splits a text into literals and CEL expressions. A `${` without its brace is literal. */
export function piecesOf(text: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  for (;;) {
    const start = text.indexOf('${', at);
    const end = start < 0 ? -1 : endOfExpression(text, start + 2);
    if (end < 0) break;
    if (start > at) pieces.push({ kind: 'literal', text: text.slice(at, start) });
    pieces.push({ kind: 'expression', cel: text.slice(start + 2, end), offset: start + 2 });
    at = end + 1;
  }
  if (at < text.length) pieces.push({ kind: 'literal', text: text.slice(at) });
  return pieces;
}

/** The offset of the closing brace, outside of texts and inner braces; -1: there is none. */
function endOfExpression(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === '"' || char === "'") {
      at = endOfQuote(text, at);
      if (at < 0) return -1;
    } else if (char === '{') depth++;
    else if (char === '}' && depth-- === 0) return at;
  }
  return -1;
}

function endOfQuote(text: string, start: number): number {
  const quote = text.charAt(start);
  const isRaw = /[rR]/.test(text.charAt(start - 1));
  for (let at = start + 1; at < text.length; at++) {
    if (text.charAt(at) === '\\' && !isRaw) at++;
    else if (text.charAt(at) === quote) return at;
  }
  return -1;
}

/** The reason for an expression that the parser rejects. */
export function invalidCel(problem: string): string {
  return `The expression is not valid CEL: ${problem}`;
}
