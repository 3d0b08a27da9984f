import type { LeafProblem } from './leaf.ts';
import { type SyntaxNode, walk } from './syntax-tree.ts';
import type { Token } from './tokens.ts';

/**
 * The source with harmless regular expressions of the same lengths in place of its own: JSONata's tokenizer stumbles over
 * brackets in character classes (`/[}]/`), and its parser loses regular expressions to the left of `??`.
 */
export function withoutRegexes(source: string, tokens: readonly Token[]): string {
  let result = '';
  let position = 0;
  for (const { kind, text, start, end } of tokens) {
    if (kind !== 'regex') continue;
    const flags = text.length - text.lastIndexOf('/') - 1;
    const pattern = 'a'.repeat(text.length - flags - 2);
    result += `${source.slice(position, start)}/${pattern}/${text.slice(text.length - flags)}`;
    position = end;
  }
  return result + source.slice(position);
}

/** Puts the regular expressions back into the tree that was parsed without them. */
export function restoreRegexes(tree: SyntaxNode, tokens: readonly Token[]): readonly LeafProblem[] {
  const problems: LeafProblem[] = [];
  const literals = new Map<number, RegExp>();
  for (const token of tokens) {
    if (token.kind !== 'regex') continue;
    const literal = parseRegex(token.text);
    if (literal !== undefined) {
      literals.set(token.end, literal);
    } else {
      problems.push({
        severity: 'error',
        code: 'expression-syntax',
        message: `Expected a regular expression, found "${token.text}"`,
        offset: token.start,
      });
    }
  }
  for (const node of walk(tree)) {
    if (node.type === 'regex') node.value = literals.get(node.position ?? 0);
  }
  return problems;
}

function parseRegex(text: string): RegExp | undefined {
  const slash = text.lastIndexOf('/');
  try {
    return new RegExp(text.slice(1, slash), `${text.slice(slash + 1)}g`);
  } catch {
    // The reason is the platform's wording; ours names the literal.
    return undefined;
  }
}
