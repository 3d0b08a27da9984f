import type { LeafProblem } from './leaf.ts';
import type { SyntaxNode } from './syntax-tree.ts';
import type { Token } from './tokens.ts';

/** Warnings about what is legal and rarely meant. */
export function suspicions(
  _source: string,
  _tree: SyntaxNode,
  _tokens: readonly Token[],
): readonly LeafProblem[] {
  return [];
}
