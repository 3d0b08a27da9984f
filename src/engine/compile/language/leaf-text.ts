import type { LeafProblem } from './leaf.ts';
import { type Scan, scanExpression, type Token } from './tokens.ts';

/** A `${ }` found in a string leaf. */
export interface ExpressionPart {
  readonly mode: 'value' | 'optional' | 'spread';
  /** Without the delimiters and the surrounding white space. */
  readonly source: string;
  /** Offset of `source` in the leaf. */
  readonly offset: number;
  /** Offset of the `$`. */
  readonly start: number;
  /** Offset after the `}`. */
  readonly end: number;
  /** Offsets count in the leaf. */
  readonly tokens: readonly Token[];
}

type LeafText =
  | { readonly kind: 'parts'; readonly parts: readonly (string | ExpressionPart)[] }
  /**
   * `text` is the input of Handlebars. `removed` are the offsets in `text` before which one character of the leaf was
   * removed.
   */
  | { readonly kind: 'template'; readonly text: string; readonly removed: readonly number[] }
  | { readonly kind: 'problem'; readonly problem: LeafProblem };

/** The string leaf that results in this text: its marks of expressions and templates have no meaning. */
export function escapedLeaf(text: string): string {
  return text.replaceAll('${', () => '$${').replaceAll('{{', () => '\\{{');
}

/** Splits a string leaf into literal parts and expressions, and resolves escapes. */
export function splitLeaf(text: string): LeafText {
  const parts: (string | ExpressionPart)[] = [];
  let pending = '';
  let position = 0;
  let firstTemplate: number | undefined;
  let firstExpression: number | undefined;
  while (position < text.length) {
    const next = nextMark(text, position);
    pending += text.slice(position, next);
    position = next;
    if (text.startsWith('$${', position)) {
      pending += '${';
      position += 3;
    } else if (text.startsWith('\\{{', position)) {
      pending += '{{';
      position += 3;
    } else if (text.startsWith('${', position)) {
      firstExpression ??= position;
      // In a Handlebars template the following braces are not matched.
      if (firstTemplate !== undefined) break;
      const part = readExpression(text, position);
      if (part.kind === 'problem') return part;
      if (pending !== '') parts.push(pending);
      pending = '';
      parts.push(part.part);
      position = part.part.end;
    } else if (text.startsWith('{{', position)) {
      firstTemplate ??= position;
      if (firstExpression !== undefined) break;
      position += 2;
    } else {
      pending += text.charAt(position);
      position++;
    }
  }
  if (firstTemplate !== undefined && firstExpression !== undefined) {
    return mixProblem(Math.max(firstTemplate, firstExpression));
  }
  if (firstTemplate !== undefined) return { kind: 'template', ...unescapeDollars(text) };
  if (pending !== '') parts.push(pending);
  return { kind: 'parts', parts };
}

/** Offset of the next possible delimiter or escape, or of the end. */
function nextMark(text: string, from: number): number {
  for (let position = from; position < text.length; position++) {
    const character = text.charAt(position);
    if (character === '$' || character === '\\' || character === '{') return position;
  }
  return text.length;
}

function mixProblem(offset: number): LeafText {
  return {
    kind: 'problem',
    problem: {
      severity: 'error',
      code: 'expression-syntax',
      message: 'A string cannot mix "${" and "{{"',
      hint: 'Write "$${" for a literal "${", or "\\{{" for a literal "{{"',
      offset,
    },
  };
}

/** Resolves `$${`; Handlebars itself resolves `\{{`. */
function unescapeDollars(text: string): { text: string; removed: readonly number[] } {
  const removed: number[] = [];
  let result = '';
  let position = 0;
  for (;;) {
    const next = text.indexOf('$${', position);
    if (next < 0) return { text: result + text.slice(position), removed };
    result += text.slice(position, next);
    removed.push(result.length);
    result += '${';
    position = next + 3;
  }
}

type ReadPart =
  | { readonly kind: 'part'; readonly part: ExpressionPart }
  | { readonly kind: 'problem'; readonly problem: LeafProblem };

function readExpression(text: string, start: number): ReadPart {
  const { mode, from } = openingAt(text, start);
  const scan = scanExpression(text, from);
  if (scan.kind === 'open') return { kind: 'problem', problem: openProblem(scan, start) };
  const written = text.slice(from, scan.end);
  const source = written.trim();
  const offset = from + (written.length - written.trimStart().length);
  if (scan.tokens.length === 0) {
    return {
      kind: 'problem',
      problem: {
        severity: 'error',
        code: 'expression-syntax',
        message: 'Expected an expression between "${" and "}"',
        offset: start,
      },
    };
  }
  return {
    kind: 'part',
    part: { mode, source, offset, start, end: scan.end + 1, tokens: scan.tokens },
  };
}

/** The mode of the `${` at an offset, and the offset of the expression. */
export function openingAt(
  text: string,
  start: number,
): Pick<ExpressionPart, 'mode'> & { readonly from: number } {
  if (text.startsWith('...', start + 2)) return { mode: 'spread', from: start + 5 };
  return text.charAt(start + 2) === '?'
    ? { mode: 'optional', from: start + 3 }
    : { mode: 'value', from: start + 2 };
}

function openProblem(scan: Extract<Scan, { kind: 'open' }>, start: number): LeafProblem {
  const problem = { severity: 'error', code: 'expression-syntax' } as const;
  if (scan.what === 'expression') {
    return {
      ...problem,
      message: 'Expected "}" at the end of the expression',
      hint: 'Write "$${" for a literal "${"',
      offset: start,
    };
  }
  const quote = {
    string: 'quote',
    name: 'back-quote',
    comment: '"*/"',
    'regular expression': '"/"',
  };
  return {
    ...problem,
    message: `Expected the closing ${quote[scan.what]} of a ${scan.what}`,
    offset: scan.offset,
  };
}
