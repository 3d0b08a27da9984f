import type { Token } from './tokens.ts';

/** Operators with higher precedence than `&`, which belong to its operands. */
const tighter = new Set(['.', '[', '(', '{', '@', '#', '*', '**', '/', '%']);
const openers = new Set(['(', '[', '{']);
const closers = new Set([')', ']', '}']);

/**
 * The source of the operands of one chain of `&` operators, for messages. `operators` are the offsets after each `&`.
 * Tokens and offsets are relative to `source`.
 */
export function operandTexts(
  source: string,
  tokens: readonly Token[],
  operators: readonly number[],
): string[] {
  const indexes = operators.map((end) => tokens.findIndex((token) => token.end === end));
  const [first = 0] = indexes;
  const last = indexes.at(-1) ?? 0;
  const bounds: (readonly [number, number])[] = [
    [startBefore(tokens, first), first],
    ...indexes.slice(1).map((index, at) => [(indexes[at] ?? 0) + 1, index] as const),
    [last + 1, endAfter(tokens, last)],
  ];
  return bounds.map(([from, to]) => textOf(source, tokens, from, to));
}

function textOf(source: string, tokens: readonly Token[], from: number, to: number): string {
  const start = tokens[from]?.start;
  const end = tokens[to - 1]?.end;
  return start === undefined || end === undefined ? source : source.slice(start, end);
}

function startBefore(tokens: readonly Token[], operator: number): number {
  let depth = 0;
  for (let index = operator - 1; index >= 0; index--) {
    const token = tokens[index];
    if (token === undefined) break;
    if (closers.has(token.text)) {
      depth++;
    } else if (openers.has(token.text)) {
      if (depth === 0) return index + 1;
      depth--;
    } else if (depth === 0 && separates(token)) {
      return index + 1;
    }
  }
  return 0;
}

function endAfter(tokens: readonly Token[], operator: number): number {
  let depth = 0;
  for (let index = operator + 1; index < tokens.length; index++) {
    const token = tokens[index];
    if (token === undefined) break;
    if (openers.has(token.text)) {
      depth++;
    } else if (closers.has(token.text)) {
      if (depth === 0) return index;
      depth--;
    } else if (depth === 0 && separates(token)) {
      return index;
    }
  }
  return tokens.length;
}

function separates(token: Token): boolean {
  return token.kind === 'operator'
    ? !tighter.has(token.text)
    : token.kind === 'name' && ['and', 'or', 'in'].includes(token.text);
}
