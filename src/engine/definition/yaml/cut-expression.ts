/** An expression that YAML syntax cuts into parts. */
export interface CutExpression {
  /** Offset of the `$`. */
  readonly start: number;
  /** Offset after the closing brace, or of the end of the line if there is none. */
  readonly end: number;
  /** The YAML syntax that cuts the expression. */
  readonly by: ': ' | ' #' | 'brackets' | 'quotes';
}

const maxLines = 20;

/**
 * Finds a cut expression in the line of a parser error. `offset` is the position of the error, or the start of the
 * plain scalar; expressions that end before it are skipped.
 */
export function findCutExpression(text: string, offset: number): CutExpression | undefined {
  const lineStart = text.lastIndexOf('\n', Math.max(0, offset - 1)) + 1;
  let at = text.indexOf('${', lineStart);
  const lineEnd = endOfLine(text, offset);
  while (at >= 0 && at < lineEnd) {
    const end = endOfExpression(text, at);
    if (end > offset) {
      const by = whatCuts(text, at, end);
      if (by !== undefined) return { start: at, end, by };
    }
    at = text.indexOf('${', Math.max(end, at + 2));
  }
  return undefined;
}

/**
 * Replaces the expression by `null`, which is valid for every type, and keeps all offsets. The rest of the file can
 * then be parsed, and the expression causes no second error.
 */
export function maskExpression(text: string, cut: CutExpression): string {
  const { start, end } = cut;
  return text.slice(0, start) + placeholderFor(text, cut) + text.slice(end);
}

function placeholderFor(text: string, { start, end, by }: CutExpression): string {
  const inner = (from: number, to: number) => {
    const blank = text.slice(from, to).replaceAll(/[^\r\n]/g, ' ');
    return blank.replace('    ', 'null');
  };
  const isClosed = text.charAt(end - 1) === '}';
  if (isClosed && by !== 'brackets') return `\${${inner(start + 2, end - 1)}}`;
  const isWhole = /[\s[{,:]/.test(text.charAt(start - 1));
  const quoted = '"${null}"';
  return isClosed && isWhole && end - start >= quoted.length
    ? quoted.padEnd(end - start)
    : inner(start, end);
}

/** Offset after the brace that closes the expression at `start`; skips strings inside the expression. */
export function endOfExpression(text: string, start: number): number {
  let depth = 0;
  let lines = 0;
  for (let index = start + 1; index < text.length; index++) {
    const char = text.charAt(index);
    if (char === '{') depth++;
    else if (char === '}' && --depth === 0) return index + 1;
    else if (char === '\n' && (++lines > maxLines || !continues(text, index, start))) return index;
    else if (char === '"' || char === "'" || char === '`') {
      const close = text.indexOf(char, index + 1);
      if (close >= 0 && close < endOfLine(text, index)) index = close;
    }
  }
  return text.length;
}

/** Whether the next line is indented more than the line of the expression, so that it continues the plain scalar. */
function continues(text: string, newline: number, start: number): boolean {
  const lineStart = text.lastIndexOf('\n', start) + 1;
  const next = indentAt(text, newline + 1);
  return next > indentAt(text, lineStart) && text.charAt(newline + 1 + next) !== '\n';
}

function indentAt(text: string, lineStart: number): number {
  let indent = 0;
  while (text.charAt(lineStart + indent) === ' ') indent++;
  return indent;
}

function whatCuts(text: string, start: number, end: number): CutExpression['by'] | undefined {
  const source = text.slice(start, end);
  const before = text.slice(text.lastIndexOf('\n', start) + 1, start);
  const open = openQuoteIn(before);
  if (open !== undefined) return source.includes(before.charAt(open)) ? 'quotes' : undefined;
  if (isInFlow(before)) return 'brackets';
  const match = /:(?=\s)|\s#/.exec(source);
  if (match === null) return undefined;
  return match[0] === ':' ? ': ' : ' #';
}

/** The index of the quote that is open at the end of a line prefix. */
export function openQuoteIn(before: string): number | undefined {
  let open: number | undefined;
  for (let index = 0; index < before.length; index++) {
    const char = before.charAt(index);
    if (open === undefined) {
      const starts = /(?:^|[\s[{,:-])$/.test(before.slice(0, index));
      if ((char === '"' || char === "'") && starts) open = index;
    } else if (char === before.charAt(open) && before.charAt(index - 1) !== '\\') open = undefined;
  }
  return open;
}

/** Whether a flow collection is open at the end of a line prefix. Quoted parts are ignored. */
export function isInFlow(before: string): boolean {
  const bare = before.replaceAll(/"(?:\\.|[^"\\])*"|'[^']*'/g, '');
  const opened = bare.match(/(?<!\$)[[{]/g)?.length ?? 0;
  const closed = bare.match(/[\]}]/g)?.length ?? 0;
  return opened > closed && /(?:^|[:\s-])\s*[[{]/.test(bare);
}

function endOfLine(text: string, offset: number): number {
  const newline = text.indexOf('\n', offset);
  return newline < 0 ? text.length : newline;
}

/** Whether a plain scalar contains an expression without its closing brace. */
export function holdsOpenExpression(plain: string): boolean {
  let at = plain.indexOf('${');
  while (at >= 0) {
    const end = endOfExpression(plain, at);
    if (plain.charAt(end - 1) !== '}') return true;
    at = plain.indexOf('${', end);
  }
  return false;
}
