import type { Finding } from '#definition';
import { locatedTokensOf } from './metadata-reads.ts';

const closing: ReadonlyMap<string, string> = new Map([
  ['(', ')'],
  ['[', ']'],
  ['{', '}'],
]);

/**
 * Where an expression closes what it has not opened, or the reverse. A policy has it in parentheses: if it could close them, it could change
 * any field, not only that of its default. `compile` has no parser for CEL.
 */
export function balanceProblem(expression: string): Omit<Finding, 'path'> | undefined {
  const open: { readonly token: string; readonly at: number }[] = [];
  for (const { token, at } of locatedTokensOf(expression)) {
    if (closing.has(token)) open.push({ token, at });
    else if (/^[)\]}]$/.test(token)) {
      if (closing.get(open.pop()?.token ?? '') !== token)
        return problem(`Unexpected "${token}" in the expression`, at);
    }
    // Those of a string are parts of its token.
    else if (/^["'\\]$/.test(token)) return problem(`Unexpected ${token} in the expression`, at);
  }
  const last = open.at(-1);
  return last && problem(`"${last.token}" is not closed in the expression`, last.at);
}

function problem(message: string, at: number): Omit<Finding, 'path'> {
  return { code: 'expression-syntax', message, at };
}
