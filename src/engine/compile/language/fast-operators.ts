/**
 * Operators of the fast path. They handle numbers, strings and booleans of matching types. Other cases (lists,
 * missing operands, other types, errors) are left to JSONata, which alone implements the complex rules.
 */
import type { Scope } from './leaf.ts';
import { comparedWithNull, isNull, nullResults } from './nulls.ts';
import { leftOf, type SyntaxNode } from './syntax-tree.ts';

/** The result of a fast expression that JSONata must evaluate instead. */
export const needsJsonata: unique symbol = Symbol('hand over to JSONata');

/** Returns the value itself, not a copy. */
export type FastExpression = (scope: Scope) => unknown;

type Compile = (node: SyntaxNode) => FastExpression | undefined;

type Apply = (left: unknown, right: unknown) => unknown;

/** Compiles an operator, a conditional or a constructor; undefined when it has no fast path. */
export function compileOperator(node: SyntaxNode, compile: Compile): FastExpression | undefined {
  switch (node.type) {
    case 'binary':
      return compileBinary(node, compile);
    case 'condition':
      return compileCondition(node, compile);
    case 'block':
      return node.expressions?.length === 1
        ? compileAll(node.expressions, compile)?.[0]
        : undefined;
    case 'unary':
      if (node.value === '{') return compileObject(node, compile);
      return node.value === '[' ? compileList(node, compile) : undefined;
    case 'function':
      return isCallOfNow(node) ? ({ now }) => now : undefined;
    default:
      return undefined;
  }
}

function isCallOfNow({ procedure, arguments: args }: SyntaxNode): boolean {
  return procedure?.type === 'variable' && procedure.value === 'now' && args?.length === 0;
}

function compileAll(nodes: readonly SyntaxNode[], compile: Compile): FastExpression[] | undefined {
  const compiled = nodes.map(compile);
  const known = compiled.filter((each) => each !== undefined);
  return known.length === compiled.length ? known : undefined;
}

function compileBinary(node: SyntaxNode, compile: Compile): FastExpression | undefined {
  const compared = comparedWithNull(node);
  if (compared !== undefined) return compileNullTest(compared, node.value === '=', compile);
  const sides = [leftOf(node), node.rhs].filter((side) => side !== undefined);
  const [left, right] = compileAll(sides, compile) ?? [];
  if (left === undefined || right === undefined) return undefined;
  if (node.value === 'and' || node.value === 'or') {
    return compileLogic(node.value === 'or', left, right);
  }
  const apply = operators.get(String(node.value));
  if (apply === undefined) return undefined;
  return (scope) => {
    const leftValue = left(scope);
    if (leftValue === needsJsonata) return needsJsonata;
    const rightValue = right(scope);
    return rightValue === needsJsonata ? needsJsonata : apply(leftValue, rightValue);
  };
}

function compileNullTest(
  operand: SyntaxNode,
  isMissing: boolean,
  compile: Compile,
): FastExpression | undefined {
  const evaluate = compile(operand);
  if (evaluate === undefined) return undefined;
  return (scope) => {
    const value = evaluate(scope);
    return value === needsJsonata ? needsJsonata : (value === undefined) === isMissing;
  };
}

/** `decisive` is the value of the left operand that determines the result. */
function compileLogic(
  decisive: boolean,
  left: FastExpression,
  right: FastExpression,
): FastExpression {
  return (scope) => {
    const value = truth(left(scope));
    return value === decisive || value === needsJsonata ? value : truth(right(scope));
  };
}

function truth(value: unknown): boolean | typeof needsJsonata {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'string') return value !== '';
  if (typeof value === 'number') return value !== 0 && !Number.isNaN(value);
  return value === undefined ? false : needsJsonata;
}

function compileCondition(node: SyntaxNode, compile: Compile): FastExpression | undefined {
  const branches = [node.condition, node.then, node.else].filter((each) => each !== undefined);
  const compiled = compileAll(branches, compile);
  if (compiled === undefined) return undefined;
  const [condition, then, otherwise] = compiled;
  if (condition === undefined || then === undefined) return undefined;
  return (scope) => {
    const test = truth(condition(scope));
    if (test === needsJsonata) return needsJsonata;
    return test ? then(scope) : otherwise?.(scope);
  };
}

/** A value that is written out keeps its literal `null`, which is a missing value elsewhere. */
function written(compile: Compile): Compile {
  return (node) => {
    if (isNull(node)) return () => null;
    return nullResults(node).length > 0 ? undefined : compile(node);
  };
}

function compileObject(node: SyntaxNode, compile: Compile): FastExpression | undefined {
  const pairs = Array.isArray(node.lhs) ? node.lhs : [];
  const keys = pairs.map(([key]) => (key.type === 'string' ? String(key.value) : undefined));
  const values = compileAll(
    pairs.map(([, value]) => value),
    written(compile),
  );
  if (values === undefined || new Set(keys).size < keys.length) return undefined;
  if (keys.some((key) => key === undefined || key.startsWith('_'))) return undefined;
  return (scope) => {
    const object: Record<string, unknown> = {};
    for (const [index, evaluate] of values.entries()) {
      const value = evaluate(scope);
      if (value === needsJsonata) return needsJsonata;
      if (value !== undefined) object[keys[index] ?? ''] = value;
    }
    return object;
  };
}

function compileList(node: SyntaxNode, compile: Compile): FastExpression | undefined {
  const elements = node.expressions ?? [];
  const values = compileAll(elements, written(compile));
  if (values === undefined) return undefined;
  const areLists = elements.map(({ value }) => value === '[');
  return (scope) => {
    const list: unknown[] = [];
    for (const [index, evaluate] of values.entries()) {
      const value = evaluate(scope);
      // JSONata spreads a list that is not a list literal.
      if (value === needsJsonata || (Array.isArray(value) && areLists[index] !== true))
        return needsJsonata;
      if (value !== undefined) list.push(value);
    }
    return list;
  };
}

function numeric(apply: (left: number, right: number) => number): Apply {
  return (left, right) => {
    if (typeof left !== 'number' || typeof right !== 'number') return needsJsonata;
    const result = apply(left, right);
    return Number.isFinite(result) ? result : needsJsonata;
  };
}

/** Longer strings are left to JSONata, which is metered. */
const shortLength = 4_096;

function isLong(left: unknown, right: unknown): boolean {
  return (
    typeof left === 'string' &&
    typeof right === 'string' &&
    left.length + right.length > shortLength
  );
}

function ordered(apply: (left: number | string, right: number | string) => boolean): Apply {
  return (left, right) => {
    if (typeof left === 'number' && typeof right === 'number') return apply(left, right);
    if (typeof left === 'string' && typeof right === 'string' && !isLong(left, right)) {
      return apply(left, right);
    }
    return needsJsonata;
  };
}

function equality(isEqual: boolean): Apply {
  return (left, right) => {
    if (typeof left === 'object' || typeof right === 'object' || isLong(left, right))
      return needsJsonata;
    return left !== undefined && right !== undefined && (left === right) === isEqual;
  };
}

function concatenate(left: unknown, right: unknown): unknown {
  const [leftText, rightText] = [textOf(left), textOf(right)];
  if (isLong(leftText, rightText)) return needsJsonata;
  return leftText === undefined || rightText === undefined ? needsJsonata : leftText + rightText;
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  return Number.isSafeInteger(value) ? String(value) : undefined;
}

const operators: ReadonlyMap<string, Apply> = new Map<string, Apply>([
  ['+', numeric((left, right) => left + right)],
  ['-', numeric((left, right) => left - right)],
  ['*', numeric((left, right) => left * right)],
  ['/', numeric((left, right) => left / right)],
  ['%', numeric((left, right) => left % right)],
  ['<', ordered((left, right) => left < right)],
  ['<=', ordered((left, right) => left <= right)],
  ['>', ordered((left, right) => left > right)],
  ['>=', ordered((left, right) => left >= right)],
  ['=', equality(true)],
  ['!=', equality(false)],
  ['&', concatenate],
]);
