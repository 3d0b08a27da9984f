/**
 * Evaluates simple expressions without JSONata: plain paths, literals and operators between them. The results equal
 * those of JSONata. If a path reaches a list, JSONata evaluates the whole expression.
 */
import { compileOperator, type FastExpression, needsJsonata } from './fast-operators.ts';
import { presentValue } from './nulls.ts';
import { isVariableName, type VariableName } from './runtime-scope.ts';
import {
  isDefaultOperator,
  isElvisOperator,
  type SyntaxNode,
  unwrapTailCall,
} from './syntax-tree.ts';

/** Compiles an expression that has a fast path; undefined for others. Must run before rewriting. */
export function compileFast(node: SyntaxNode): FastExpression | undefined {
  const path = plainPathOf(node);
  if (path !== undefined) return compilePath(path);
  if (isLiteral(node)) {
    const value = presentValue(node.value);
    return () => value;
  }
  if (hasExtras(node)) return undefined;
  if (isDefaultOperator(node)) return compileDefault(node);
  return isElvisOperator(node) ? undefined : compileOperator(node, compileFast);
}

export interface PlainPath {
  /** The first variable: a scope variable, or `$` for the root. */
  readonly variable: VariableName | '$';
  readonly steps: readonly string[];
}

/** The plain path of a node, if it is one. */
export function plainPathOf(node: SyntaxNode): PlainPath | undefined {
  if (hasExtras(node)) return undefined;
  if (node.type === 'variable') {
    const variable = rootVariable(node);
    return variable === undefined ? undefined : { variable, steps: [] };
  }
  if (node.type !== 'path' || node.steps === undefined || node.steps.some(hasExtras)) {
    return undefined;
  }
  const [first, ...rest] = node.steps;
  if (first === undefined || !rest.every((step) => step.type === 'name')) return undefined;
  const steps = rest.map((step) => String(step.value));
  if (first.type === 'name') return { variable: '$', steps: [String(first.value), ...steps] };
  const variable = first.type === 'variable' ? rootVariable(first) : undefined;
  return variable === undefined ? undefined : { variable, steps };
}

function rootVariable(node: SyntaxNode): PlainPath['variable'] | undefined {
  const name = String(node.value);
  if (name === '' || name === '$') return '$';
  return isVariableName(name) ? name : undefined;
}

/** Whether a node has predicates, grouping, `[]`, `@$v`, `#$i` or marks of `%`. */
function hasExtras(node: SyntaxNode): boolean {
  return (
    node.predicate !== undefined ||
    node.stages !== undefined ||
    node.group !== undefined ||
    node.focus !== undefined ||
    node.index !== undefined ||
    node.tuple === true ||
    node.keepArray === true ||
    node.keepSingletonArray === true
  );
}

function isLiteral(node: SyntaxNode): boolean {
  return ['string', 'number', 'value'].includes(node.type) && !hasExtras(node);
}

function compilePath({ variable, steps }: PlainPath): FastExpression {
  switch (variable) {
    case '$':
      return (scope) => follow(scope.root, steps);
    default:
      return (scope) => follow(scope[variable], steps);
  }
}

function compileDefault(node: SyntaxNode): FastExpression | undefined {
  const value = node.then && compileFast(unwrapTailCall(node.then));
  const fallback = node.else && compileFast(unwrapTailCall(node.else));
  if (value === undefined || fallback === undefined) return undefined;
  return (scope) => value(scope) ?? fallback(scope);
}

function follow(start: unknown, steps: readonly string[]): unknown {
  let value = start;
  for (const step of steps) {
    if (typeof value !== 'object' || value === null) return undefined;
    if (Array.isArray(value)) return needsJsonata;
    if (!Object.hasOwn(value, step)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[step];
  }
  return presentValue(value);
}
