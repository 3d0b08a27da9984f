/** A token of JSONata's language; `start` and `end` are offsets in the scanned text. */
export interface Token {
  readonly kind: 'name' | 'variable' | 'string' | 'number' | 'operator' | 'regex';
  /** As written. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

export type Scan =
  /** `end` is the offset of the closing brace. */
  | { readonly kind: 'closed'; readonly tokens: readonly Token[]; readonly end: number }
  /** `offset` is the start of the unclosed element, `tokens` those before it. */
  | (OpenElement & { readonly tokens: readonly Token[] });

interface OpenElement {
  readonly kind: 'open';
  readonly what: 'expression' | 'string' | 'name' | 'comment' | 'regular expression';
  readonly offset: number;
}

const singleOperators = '.[]{}(),@#;:?+-*/%|=<>^&!~';
const doubleOperators = new Set(['..', ':=', '!=', '>=', '<=', '**', '~>', '?:', '??']);
const whiteSpace = ' \t\n\r\v';
const closers = ')]}';
const wordOperators = new Set(['and', 'or', 'in']);

/**
 * Reads tokens from `start` to the closing brace of the expression. Ignores braces in strings, backquoted names,
 * regular expressions and comments. Follows the rules of JSONata's tokenizer, which cannot return the end of an
 * expression. Regular expressions differ, because JSONata fails on brackets in character classes.
 */
export function scanExpression(text: string, start: number): Scan {
  const tokens: Token[] = [];
  let depth = 0;
  let position = start;
  // A slash starts a regular expression if an operand is expected; otherwise it is a division.
  let wantsOperand = true;
  while (position < text.length) {
    const character = text.charAt(position);
    if (whiteSpace.includes(character)) {
      position++;
      continue;
    }
    if (text.startsWith('/*', position)) {
      const end = text.indexOf('*/', position + 2);
      if (end < 0) return { kind: 'open', what: 'comment', offset: position, tokens };
      position = end + 2;
      continue;
    }
    if (character === '}' && depth === 0) return { kind: 'closed', tokens, end: position };
    const read = readToken(text, position, wantsOperand);
    if (read.kind === 'open') return { ...read, tokens };
    const { token } = read;
    tokens.push(token);
    if (token.text === '{') depth++;
    if (token.text === '}') depth--;
    wantsOperand = expectsOperandAfter(token, wantsOperand);
    position = token.end;
  }
  return { kind: 'open', what: 'expression', offset: start, tokens };
}

function expectsOperandAfter(token: Token, wantedOperand: boolean): boolean {
  if (token.kind === 'name') return !wantedOperand && wordOperators.has(token.text);
  if (token.kind !== 'operator') return false;
  if (closers.includes(token.text)) return false;
  // As operands these are the wildcards and the parent.
  if (wantedOperand && ['*', '**', '%'].includes(token.text)) return false;
  return true;
}

type Read = { readonly kind: 'token'; readonly token: Token } | OpenElement;

function readToken(text: string, start: number, wantsOperand: boolean): Read {
  const character = text.charAt(start);
  const tokenTo = (kind: Token['kind'], end: number): Read => ({
    kind: 'token',
    token: { kind, text: text.slice(start, end), start, end },
  });
  if (wantsOperand && character === '/') {
    const end = endOfRegex(text, start);
    return end === undefined
      ? { kind: 'open', what: 'regular expression', offset: start }
      : tokenTo('regex', end);
  }
  if (doubleOperators.has(text.slice(start, start + 2))) return tokenTo('operator', start + 2);
  if (singleOperators.includes(character)) return tokenTo('operator', start + 1);
  if (character === '"' || character === "'") {
    const end = endOfString(text, start);
    return end === undefined
      ? { kind: 'open', what: 'string', offset: start }
      : tokenTo('string', end);
  }
  const number = /^(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[Ee][-+]?[0-9]+)?/.exec(
    text.slice(start, start + 64),
  );
  if (number !== null) return tokenTo('number', start + number[0].length);
  if (character === '`') {
    const end = text.indexOf('`', start + 1);
    return end < 0 ? { kind: 'open', what: 'name', offset: start } : tokenTo('name', end + 1);
  }
  return tokenTo(character === '$' ? 'variable' : 'name', endOfWord(text, start));
}

function endOfWord(text: string, start: number): number {
  let end = start + 1;
  while (end < text.length) {
    const character = text.charAt(end);
    if (whiteSpace.includes(character) || singleOperators.includes(character)) break;
    end++;
  }
  return end;
}

function endOfString(text: string, start: number): number | undefined {
  const quote = text.charAt(start);
  for (let position = start + 1; position < text.length; position++) {
    const character = text.charAt(position);
    if (character === '\\') position++;
    else if (character === quote) return position + 1;
  }
  return undefined;
}

/**
 * A slash in a character class or in a group does not end the literal. The rule about groups is JSONata's, not
 * JavaScript's.
 */
function endOfRegex(text: string, start: number): number | undefined {
  let groups = 0;
  let isInClass = false;
  for (let position = start + 1; position < text.length; position++) {
    const character = text.charAt(position);
    if (character === '\\') position++;
    else if (isInClass) isInClass = character !== ']';
    else if (character === '[') isInClass = true;
    else if (character === '(') groups++;
    else if (character === ')') groups--;
    else if (character === '/' && groups <= 0) return endOfFlags(text, position + 1);
  }
  return undefined;
}

function endOfFlags(text: string, start: number): number {
  let end = start;
  while (text.charAt(end) === 'i' || text.charAt(end) === 'm') end++;
  return end;
}

/** The start of the token that ends at a position of a syntax tree; 0 if there is none. */
export function startOf(tokens: readonly Token[], position: number | undefined): number {
  return tokens.find((token) => token.end === position)?.start ?? position ?? 0;
}
