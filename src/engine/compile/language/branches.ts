import type { Expression, Scope } from './leaf.ts';
import {
  firstPosition,
  isDefaultOperator,
  isElvisOperator,
  type SyntaxNode,
  walk,
} from './syntax-tree.ts';
import { startOf, type Token } from './tokens.ts';

/** One of the two ways that an evaluation can take: `b` (`if`) and `c` (`else`) of `a ? b : c`; with and without the default of `a ?? b`. */
export interface Branch {
  readonly kind: 'if' | 'else' | 'value' | 'default';
  /** Offset of its first character in the string leaf. */
  readonly offset: number;
}

/** The branches of an expression. */
interface Branches {
  readonly all: readonly Branch[];
  /** Evaluates the expression and returns the branches that the evaluation took. @throws ExpressionError */
  readonly taken: (scope: Scope) => Promise<readonly Branch[]>;
}

/** The branches of an expression; none for Handlebars. */
export function findBranches(expression: Expression): Branches {
  let choices: readonly Choice[] = [];
  const evaluate = expression.probe?.((tree, tokens) => {
    choices = choicesIn(tree, tokens, expression.offset);
    return marksOf(choices);
  });
  if (evaluate === undefined || choices.length === 0) return { all: [], taken: async () => [] };
  return {
    all: choices.flatMap(({ first, second }) => [first, second]),
    taken: async (scope) => {
      const counts = await evaluate(scope);
      return choices.flatMap((choice) => takenOf(choice, counts));
    },
  };
}

/** A choice in an expression. */
interface Choice {
  readonly whole: SyntaxNode;
  /** `c` of `a ? b : c`, `b` of `a ?? b` and `a ? b`. */
  readonly branch: SyntaxNode;
  readonly first: Branch;
  readonly second: Branch;
  /** Is `branch` the second one? Not in `a ? b`. */
  readonly isSecond: boolean;
}

function choicesIn(
  tree: SyntaxNode,
  tokens: readonly Token[],
  sourceOffset: number,
): readonly Choice[] {
  const copies = new Set<SyntaxNode>();
  const choices: Choice[] = [];
  for (const node of walk(tree)) {
    if (node.type !== 'condition' || copies.has(node) || node.then === undefined) continue;
    const hasDefault = isDefaultOperator(node) || isElvisOperator(node);
    // The parser copies the left operand of `??` and `?:` to the condition, which is never evaluated.
    if (hasDefault && node.condition !== undefined)
      for (const copy of walk(node.condition)) copies.add(copy);
    const { then, else: otherwise } = node;
    const offsetOf = (part: SyntaxNode) => sourceOffset + startOf(tokens, firstPosition(part));
    choices.push({
      whole: node,
      branch: otherwise ?? then,
      isSecond: otherwise !== undefined,
      first: { kind: hasDefault ? 'value' : 'if', offset: offsetOf(then) },
      second: { kind: hasDefault ? 'default' : 'else', offset: offsetOf(otherwise ?? node) },
    });
  }
  return choices;
}

function marksOf(choices: readonly Choice[]): ReadonlyMap<SyntaxNode, SyntaxNode> {
  return new Map(
    choices.flatMap(({ whole, branch }) => [whole, branch].map((node) => [node, node])),
  );
}

/** A choice may be made several times in one evaluation, in a list. */
function takenOf(
  { whole, branch, isSecond, first, second }: Choice,
  counts: ReadonlyMap<SyntaxNode, number>,
): readonly Branch[] {
  const marked = counts.get(branch) ?? 0;
  const others = (counts.get(whole) ?? 0) - marked;
  const [inBranch, outside] = isSecond ? [second, first] : [first, second];
  return [...(marked > 0 ? [inBranch] : []), ...(others > 0 ? [outside] : [])];
}
