/**
 * Which expressions use a value without letting it out: of a Secret whose name users choose they reveal no value. A hash of ten characters
 * is one of them, so a short or guessable value can be found by trying. A comparison with another value is none: users could choose the
 * other one, and ask again.
 */
import { leftOf, type SyntaxNode } from './syntax-tree.ts';

/** Functions whose result depends on their argument and does not contain it. */
export const reducingFunctions: ReadonlySet<string> = new Set([
  'boolean',
  'count',
  'exists',
  'hash',
  'not',
  'type',
]);

/** Whether a comparison only asks whether a value is missing: `a = null`. */
export function isMissingTest(node: SyntaxNode): boolean {
  const isComparison = node.value === '=' || node.value === '!=';
  return isComparison && [leftOf(node), node.rhs].some(isNull);
}

function isNull(node: SyntaxNode | undefined): boolean {
  return node?.type === 'value' && node.value === null;
}

/**
 * Whether an expression only puts whole values together: paths, literals, lists, maps, `&`, `$string`, `$json` and `$yaml`. The hash of a part of a value,
 * such as its first character, would reveal it.
 */
export function isComposition(node: SyntaxNode): boolean {
  if (node.predicate !== undefined || node.stages !== undefined || node.group !== undefined)
    return false;
  switch (node.type) {
    case 'path':
      return (node.steps ?? []).every(isComposition);
    case 'name':
    case 'variable':
    case 'string':
    case 'number':
    case 'value':
      return true;
    case 'binary':
      return node.value === '&' && [leftOf(node), node.rhs].every(isComposed);
    case 'unary':
      if (Array.isArray(node.lhs)) return node.lhs.flat().every(isComposition);
      return node.expressions?.every(isComposition) === true;
    case 'block':
      return node.expressions?.length === 1 && node.expressions.every(isComposition);
    case 'function':
      return (
        ['json', 'string', 'yaml'].includes(String(node.procedure?.value)) &&
        node.arguments?.every(isComposition) === true
      );
    default:
      return false;
  }
}

function isComposed(node: SyntaxNode | undefined): boolean {
  return node !== undefined && isComposition(node);
}
