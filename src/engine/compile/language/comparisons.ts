import { plainPathOf } from './fast-path.ts';
import { firstPosition, leftOf, type SyntaxNode, walk } from './syntax-tree.ts';
import { startOf, type Token } from './tokens.ts';

/** A comparison of a path with a literal. */
export interface Comparison {
  readonly operator: string;
  /** Offset of the path, which is that of its reference. */
  readonly path: number;
  readonly literal: string | number | boolean;
  /** Is the expression nothing but this comparison? */
  readonly isWhole: boolean;
}

const operators = new Set(['=', '!=', '<', '<=', '>', '>=']);

/** The comparisons of a path from the root with a text, a number or a boolean. The tree must not have been rewritten. */
export function findComparisons(tree: SyntaxNode, tokens: readonly Token[]): readonly Comparison[] {
  const found = [...walk(tree)].flatMap((node) => {
    const operator = String(node.value);
    if (node.type !== 'binary' || !operators.has(operator)) return [];
    const sides = [leftOf(node), node.rhs];
    const path = sides.find((side) => side !== undefined && plainPathOf(side) !== undefined);
    const literal = sides.find((side) => side !== undefined && isLiteral(side))?.value;
    if (path === undefined || literal === undefined) return [];
    const start = startOf(tokens, firstPosition(path));
    return [{ operator, path: start, literal, isWhole: node === tree } as Comparison];
  });
  // JSONata duplicates the left operand of `??` and `?:`.
  return [...new Map(found.map((each) => [`${each.path} ${each.literal}`, each])).values()];
}

function isLiteral({ type, value }: SyntaxNode): boolean {
  return type === 'string' || type === 'number' || typeof value === 'boolean';
}
