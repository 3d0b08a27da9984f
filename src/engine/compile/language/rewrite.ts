import { isPresentName } from './nulls.ts';
import {
  callOf,
  isDefaultOperator,
  isElvisOperator,
  leftOf,
  type SyntaxNode,
  unwrapTailCall,
  walk,
} from './syntax-tree.ts';

/** A function for rewritten code. Expressions cannot call it, because its name contains a space. */
export const concatenateName = ' concatenate';
const heldName = ' held';

/**
 * Replaces operators with changed semantics in place: `&` fails on a missing operand and names it; `??` treats `null`
 * as missing. `describe` returns the source of the operands of the `&` operators at these positions.
 */
export function rewrite(
  root: SyntaxNode,
  describe: (operators: readonly number[]) => string[],
): void {
  // Collected in advance, because rewriting moves nodes.
  const nodes = new Set(walk(root));
  const concatenations = [...nodes].filter(isConcatenation);
  const inner = new Set(concatenations.map(leftOf));
  const defaults = [...nodes].filter(isDefaultOperator);
  const elvises = [...nodes].filter((node) => !isDefaultOperator(node) && isElvisOperator(node));
  for (const node of concatenations) {
    if (!inner.has(node)) rewriteConcatenation(node, describe);
  }
  for (const node of defaults) rewriteDefault(node, present);
  for (const node of elvises) rewriteDefault(node, (held) => held);
}

function isConcatenation(node: SyntaxNode | undefined): node is SyntaxNode {
  return node?.type === 'binary' && node.value === '&';
}

/** Rewrites `a & b & c` to one call. */
function rewriteConcatenation(
  node: SyntaxNode,
  describe: (operators: readonly number[]) => string[],
): void {
  const operands: SyntaxNode[] = [];
  const operators: number[] = [];
  let left: SyntaxNode | undefined = node;
  while (isConcatenation(left)) {
    if (left.rhs !== undefined) operands.unshift(left.rhs);
    operators.unshift(left.position ?? 0);
    left = leftOf(left);
  }
  if (left !== undefined) operands.unshift(left);
  const names: SyntaxNode = { type: 'value', value: describe(operators) };
  replaceNode(node, callOf(concatenateName, [names, ...operands], node.position));
}

/** `a ?? b` becomes `( $held := a; present($held) ? $held : b )`, which evaluates `a` only once. */
function rewriteDefault(node: SyntaxNode, test: (held: SyntaxNode) => SyntaxNode): void {
  if (node.then === undefined) return;
  const value = unwrapTailCall(node.then);
  const held: SyntaxNode = { type: 'variable', value: heldName };
  const choice: SyntaxNode = { type: 'condition', condition: test(held) };
  // biome-ignore lint/suspicious/noThenProperty: JSONata's own name of the branch, and nothing awaits a node
  choice.then = held;
  if (node.else !== undefined) choice.else = node.else;
  const bind: SyntaxNode = { type: 'bind', value: ':=', lhs: held, rhs: value };
  replaceNode(node, { type: 'block', expressions: [bind, choice] });
}

function present(held: SyntaxNode): SyntaxNode {
  return callOf(isPresentName, [held]);
}

/** Replaces the contents of a node, so that references from its parents stay valid. */
function replaceNode(node: SyntaxNode, replacement: SyntaxNode): void {
  const target = node as Partial<SyntaxNode>;
  delete target.lhs;
  delete target.rhs;
  delete target.condition;
  delete target.then;
  delete target.else;
  delete target.value;
  Object.assign(node, replacement);
}
