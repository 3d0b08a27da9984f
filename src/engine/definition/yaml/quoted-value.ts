import {
  type CutExpression,
  endOfExpression,
  holdsOpenExpression,
  openQuoteIn,
} from './cut-expression.ts';

/** A change of a text: what is between the offsets becomes another text. */
export interface TextChange {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** A change that quotes a key or a value. */
export interface QuotedValue extends TextChange {
  /** As it was written, with words in place of the expressions. */
  readonly bare: string;
  /** As it is quoted, with the same words. */
  readonly quoted: string;
}

/** Quotes the key or the value that contains a cut expression. Undefined: where it ends is a guess. */
export function quotedValue(text: string, cut: CutExpression): QuotedValue | undefined {
  if (text.charAt(cut.end - 1) !== '}') return undefined;
  const lineStart = text.lastIndexOf('\n', cut.start) + 1;
  const before = text.slice(lineStart, cut.start);
  switch (cut.by) {
    case 'quotes':
      return otherQuotes(text, cut, lineStart + (openQuoteIn(before) ?? 0));
    case 'brackets':
      return inBrackets(text, cut, lineStart);
    default:
      return onItsLine(text, cut, lineStart);
  }
}

/** What may stand before a value on its line: `- `, `? `, a key, an anchor and a tag. */
const introduction =
  /^\ufeff?[ \t]*(?:[-?:][ \t]+)*(?:(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\n]|'')*'|[^\s#'"{[\]},&*!|>%@`-][^\n]*?|-[^\s][^\n]*?)[ \t]*:[ \t]+)?(?:[&!][^\s]*[ \t]+)*/;

/** A key or value of a block map or a block list: it ends with its line, at a comment, or at the colon of the key. */
function onItsLine(text: string, cut: CutExpression, lineStart: number): QuotedValue | undefined {
  const before = text.slice(lineStart, cut.start);
  const prefix = introduction.exec(before)?.[0] ?? '';
  if (holdsOpenExpression(prefix)) return undefined;
  const start = lineStart + prefix.length;
  if (/^["'|>]/.test(text.slice(start, cut.start))) return undefined;
  const end = endOfPlain(text, cut.end, /^:(?=\s|$)|^\n/);
  if (isKey(text, end)) return withQuotes(text, start, end);
  // A line of its own continues the value of the line before, unless that has only a key.
  if (prefix.trim() === '' && !followsKey(text, lineStart)) return undefined;
  return isContinued(text, end, lineStart) ? undefined : withQuotes(text, start, end);
}

/** Whether a colon follows. */
function isKey(text: string, end: number): boolean {
  return /^[ \t]*:(?![^\s,[\]{}])/.test(text.slice(end));
}

function followsKey(text: string, lineStart: number): boolean {
  const lines = text
    .slice(0, lineStart)
    .split('\n')
    .map((line) => line.trim());
  const last = lines.findLast((line) => line !== '' && !line.startsWith('#'));
  return last === undefined || /(?:^|[^\s]):(?:\s+#.*)?$|^(?:-\s*)+$|^---/.test(last);
}

/** Offset after the value that continues behind an expression, without a comment and white space. */
function endOfPlain(text: string, from: number, stop: RegExp): number {
  let end = from;
  for (let at = from; at < text.length; at++) {
    if (stop.test(text.slice(at, at + 2))) break;
    if (text.charAt(at) === '#' && /[ \t]/.test(text.charAt(at - 1))) break;
    if (text.startsWith('${', at)) at = Math.max(endOfExpression(text, at) - 1, at);
    if (!/\s/.test(text.charAt(at))) end = at + 1;
  }
  return end;
}

/** Whether the lines after a value are indented more than its first line, so that they belong to it or to nothing. */
function isContinued(text: string, end: number, lineStart: number): boolean {
  const after = text.slice(text.indexOf('\n', end) + 1 || text.length);
  const next = /^(?:[ \t]*(?:#[^\n]*)?\r?\n)*([ ]*)(?=[^\s])/.exec(after);
  if (next === null) return false;
  // The key after "- " is indented by it, too.
  const indent = /^[ ]*(?:-[ ]+)*/.exec(text.slice(lineStart))?.[0].length ?? 0;
  return (next[1]?.length ?? 0) > indent;
}

/** A key or value in a flow map or a flow list: it ends at a comma, a bracket, or the colon of the key. */
function inBrackets(text: string, cut: CutExpression, lineStart: number): QuotedValue | undefined {
  const place = placeInBrackets(text, lineStart, cut.start);
  const { length } =
    /^[ \t]*(?:[&!][^\s]*[ \t]+)*/.exec(text.slice(place.start, cut.start))?.[0] ?? '';
  const start = place.start + length;
  const end = endOfPlain(text, cut.end, /^[,\]}\n]|^:(?:[\s,[\]{}]|$)/);
  if (/["'#]/.test(text.slice(cut.end, end))) return undefined;
  // Such as `{${ a }:${ b }}`: YAML reads one key, but hardly what is meant.
  if (place.isOfKey && !isKey(text, end)) return undefined;
  return withQuotes(text, start, end);
}

/** Where the part of a flow map or a flow list begins that contains an offset, and whether it must be a key. */
function placeInBrackets(
  text: string,
  lineStart: number,
  offset: number,
): { readonly start: number; readonly isOfKey: boolean } {
  const open: string[] = [];
  let start = lineStart;
  let isOfKey = false;
  let afterQuotes = false;
  for (let at = lineStart; at < offset; at++) {
    const char = text.charAt(at);
    const isFirst = text.slice(start, at).trim() === '';
    if (text.startsWith('${', at)) at = Math.max(endOfExpression(text, at) - 1, at);
    else if (isFirst && (char === '"' || char === "'")) {
      at = endOfQuotes(text, at) - 1;
      afterQuotes = true;
    } else if (/[{[,\]}]/.test(char)) {
      if (char === '{' || char === '[') open.push(char);
      else if (char !== ',') open.pop();
      [start, isOfKey, afterQuotes] = [at + 1, char !== '[' && open.at(-1) === '{', false];
    } else if (
      (char === ':' && (afterQuotes || /[\s[{]/.test(text.charAt(at + 1)))) ||
      (isFirst && /^\?\s/.test(text.slice(at, at + 2)))
    ) {
      [start, isOfKey, afterQuotes] = [at + 1, char === '?', false];
    }
  }
  return { start, isOfKey };
}

function endOfQuotes(text: string, start: number): number {
  const quotes = text.charAt(start) === '"' ? /"(?:\\.|[^"\\])*"/y : /'(?:''|[^'])*'/y;
  quotes.lastIndex = start;
  return start + (quotes.exec(text)?.[0].length ?? 1);
}

/** A value whose own quotes occur in its expression gets the other ones. */
function otherQuotes(text: string, cut: CutExpression, start: number): QuotedValue | undefined {
  const quote = text.charAt(start);
  const lineEnd = text.indexOf('\n', cut.end);
  const rest = text.slice(cut.end, lineEnd < 0 ? text.length : lineEnd);
  const close = new RegExp(`^[^${quote}]*${quote}(?=\\s*(?:[,\\]}]|#|$))`).exec(rest)?.[0];
  if (close === undefined) return undefined;
  const end = cut.end + close.length;
  const inner = text.slice(start + 1, end - 1);
  // An escape shows that some of the quotes were meant.
  const hasEscapes = quote === '"' ? inner.includes('\\') : inner.includes("''");
  if (hasEscapes) return undefined;
  const words = withWords(inner);
  return {
    start,
    end,
    text: quotedText(inner),
    bare: quote + words + quote,
    quoted: quotedText(words),
  };
}

function withQuotes(text: string, start: number, end: number): QuotedValue {
  const plain = text.slice(start, end);
  const bare = withWords(plain);
  return { start, end, text: quotedText(plain), bare, quoted: quotedText(bare) };
}

/** A text with a word in place of each expression and each template. Equal ones have equal words. */
function withWords(text: string): string {
  let words = '';
  for (let at = 0; at < text.length; at++) {
    const close = text.startsWith('{{', at) ? text.indexOf('}}', at) + 2 : 0;
    const end = text.startsWith('${', at) ? endOfExpression(text, at) : close;
    if (end <= at) words += text.charAt(at);
    else {
      words += `x${text.slice(at, end).replaceAll(/[^\p{L}\d]/gu, '_')}`;
      at = end - 1;
    }
  }
  return words;
}

/** Single quotes for a text that needs escapes in double quotes. */
function quotedText(plain: string): string {
  return /["\\]/.test(plain) ? `'${plain.replaceAll("'", "''")}'` : `"${plain}"`;
}
