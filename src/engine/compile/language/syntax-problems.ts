import { helmHint } from './foreign-calls.ts';
import type { LeafProblem } from './leaf.ts';
import type { Token } from './tokens.ts';

/** An error of JSONata's parser. */
interface ParseError {
  readonly code: string;
  readonly position?: number;
  readonly token?: unknown;
  readonly value?: unknown;
}

/** Operators of other languages, and hints. */
const foreignOperators: readonly (readonly [operator: string, hint: string])[] = [
  ['===', 'Write "=" to compare'],
  ['!==', 'Write "!=" to compare'],
  ['==', 'Write "=" to compare'],
  ['&&', 'Write "and"'],
  ['||', 'Write "??" for a default value, "or" between conditions'],
  ['=>', 'Write "function($x) { ... }"'],
  ['?.', 'Write ".": a path through a missing value is no error, and has no value'],
  ['!', 'Write "$not(...)"'],
];

/** Converts an error of JSONata's parser to a problem. `offset` is the offset of the source in the leaf. */
export function syntaxProblem(
  error: unknown,
  tokens: readonly Token[],
  offset: number,
): LeafProblem {
  const problem = { severity: 'error', code: 'expression-syntax' } as const;
  const foreign = findForeignOperator(tokens);
  if (foreign !== undefined) return { ...problem, ...foreign };
  if (!isParseError(error)) {
    return { ...problem, message: 'Expected an expression that can be parsed', offset };
  }
  return {
    ...problem,
    message: messageOf(error),
    ...hintFor(error, tokens),
    offset: placeOf(error, tokens, offset),
  };
}

function placeOf(
  { code, position = 0 }: ParseError,
  tokens: readonly Token[],
  offset: number,
): number {
  if (code === 'S0203' || code === 'S0207') return tokens.at(-1)?.end ?? offset;
  const at = offset + position;
  const token = tokens.findLast(({ start, end }) => end === at || start === at);
  return token?.start ?? at;
}

function isParseError(error: unknown): error is ParseError {
  return (
    typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
  );
}

function findForeignOperator(
  tokens: readonly Token[],
): Pick<LeafProblem, 'message' | 'hint' | 'offset'> | undefined {
  for (const [index, token] of tokens.entries()) {
    if (token.kind !== 'operator') continue;
    const text = adjacentOperators(tokens, index);
    const found = foreignOperators.find(([operator]) => text.startsWith(operator));
    if (found === undefined || (found[0] === '!' && text.startsWith('!='))) continue;
    const [operator, hint] = found;
    return { message: `Unknown operator "${operator}"`, hint, offset: token.start };
  }
  return undefined;
}

function adjacentOperators(tokens: readonly Token[], index: number): string {
  let text = '';
  let end = tokens[index]?.start;
  for (const token of tokens.slice(index, index + 3)) {
    if (token.kind !== 'operator' || token.start !== end) break;
    text += token.text;
    end = token.end;
  }
  return text;
}

function messageOf({ code, token, value }: ParseError): string {
  const found = String(token);
  switch (code) {
    case 'S0102':
      return `Number out of range: "${found}"`;
    case 'S0103':
      return `Unknown escape sequence "\\${found}" in a string`;
    case 'S0104':
      return 'Expected four hexadecimal digits after "\\u" in a string';
    case 'S0202':
      return `Expected "${String(value)}", found "${found}"`;
    case 'S0203':
      return `Expected "${String(value)}" before the end of the expression`;
    case 'S0204':
      return `Unknown operator "${found}"`;
    case 'S0207':
      return 'Unexpected end of the expression';
    case 'S0208':
      return 'Expected the parameters of a function to be variables';
    case 'S0209':
      return 'A predicate cannot follow a grouping';
    case 'S0210':
      return 'A step can only be grouped once';
    case 'S0212':
      return 'Expected a variable to the left of ":="';
    case 'S0213':
      return `Expected a name as a step of the path, found "${String(value)}"`;
    case 'S0214':
      return `Expected a variable to the right of "${found}"`;
    case 'S0215':
    case 'S0216':
      return 'A variable binding must come before predicates and sorting';
    case 'S0217':
      return 'The parent "%" cannot be determined here';
    case 'S0302':
      return 'Expected the closing "/" of a regular expression';
    case 'S0301':
      return 'Expected a regular expression between the slashes';
    default:
      return code.startsWith('S04') ? 'Expected a function signature' : `Unexpected "${found}"`;
  }
}

function hintFor(
  { code, token }: ParseError,
  tokens: readonly Token[],
): { hint: string } | undefined {
  const hint = helmHint(tokens);
  if (hint !== undefined) return { hint };
  if (tokens[0]?.text === 'if') return { hint: 'Write "condition ? value : other"' };
  if (code === 'S0302') return { hint: 'Put the dividend in parentheses' };
  if (code === 'S0213') return { hint: 'Put names with special characters in backquotes' };
  if (code === 'S0202' && token === ':') {
    return { hint: 'Put a nested conditional in parentheses' };
  }
  if (code === 'S0201' || code === 'S0202') {
    return { hint: 'Check for a missing operator, comma or closing bracket before it' };
  }
  return undefined;
}
