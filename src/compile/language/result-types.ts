import { plainPathOf } from './fast-path.ts';
import { languageFunctions } from './functions.ts';
import { firstPosition, leftOf, type SyntaxNode, walk } from './syntax-tree.ts';
import { startOf, type Token } from './tokens.ts';

/** A possible result of an expression. The offset is that of its first character; that of a `path` is also that of its reference. */
export type ResultType = { readonly offset: number } & (
  | { readonly kind: 'path' | 'boolean' | 'list' | 'map' }
  /** `mayBeFraction`: also where all operands are integers. */
  | { readonly kind: 'number'; readonly mayBeFraction?: true }
  /** `value`: of a literal. */
  | { readonly kind: 'string'; readonly value?: string }
);

/** What an expression, or a part of it, may result in. */
export type ResultFinder = (part: SyntaxNode) => readonly ResultType[];

/**
 * Finds the results of an expression and of its parts: the branches of `? :` and `??`, by their form alone. What is not known, and no
 * result at all, is left out.
 */
export function resultFinder(tree: SyntaxNode, tokens: readonly Token[]): ResultFinder {
  const hasOwnFunctions = definesNames(walk(tree));
  return (part) => [...resultsOf(part, { tokens, hasOwnFunctions })];
}

/** Whether nodes define variables: one can have the name of a function. */
export function definesNames(nodes: Iterable<SyntaxNode>): boolean {
  return Iterator.from(nodes).some(({ type }) => type === 'bind' || type === 'lambda');
}

interface Context {
  readonly tokens: readonly Token[];
  readonly hasOwnFunctions: boolean;
}

function* resultsOf(node: SyntaxNode, context: Context): Generator<ResultType> {
  // `[a, b][0]` is an element.
  if (node.predicate !== undefined || node.group !== undefined) return;
  if (node.type === 'condition') {
    for (const branch of [node.then, node.else])
      if (branch !== undefined) yield* resultsOf(branch, context);
    return;
  }
  const last = node.expressions?.at(-1);
  if (node.type === 'block' && last !== undefined) {
    yield* resultsOf(last, context);
    return;
  }
  const kind = kindOf(node, context);
  if (kind === undefined) return;
  const offset = startOf(context.tokens, firstPosition(node));
  if (kind === 'string' && node.type === 'string')
    yield { kind, offset, value: String(node.value) };
  else if (kind === 'number' && mayBeFraction(node)) yield { kind, offset, mayBeFraction: true };
  else yield { kind, offset };
}

/** Functions whose result can be a fraction although their arguments are integers, or where one of them is. */
const fractionFunctions = new Set(['average', 'random', 'sqrt']);
const passingFunctions = new Set(['abs', 'max', 'min', 'sum']);

/** Whether a number can be a fraction although all fields in it are integers: `a / 2`, `a * 1.5`. */
function mayBeFraction(node: SyntaxNode): boolean {
  const { type, value, rhs } = node;
  const left = leftOf(node);
  const [first, second] = node.arguments ?? [];
  switch (type) {
    case 'number':
      return !Number.isInteger(value);
    case 'unary':
      return [node.expression, ...(node.expressions ?? [])].some(isFraction);
    case 'binary':
      if (value === '/') return !isWholeQuotient(left, rhs);
      return isArithmetic(String(value)) && (isFraction(left) || isFraction(rhs));
    case 'condition':
      return isFraction(node.then) || isFraction(node.else);
    case 'block':
      return isFraction(node.expressions?.at(-1));
    case 'function': {
      const name = String(node.procedure?.value);
      if (name === 'round') return isFraction(first) && Number(second?.value) > 0;
      return fractionFunctions.has(name) || (passingFunctions.has(name) && isFraction(first));
    }
    default:
      return false;
  }
}

function isFraction(node: SyntaxNode | undefined): boolean {
  return node !== undefined && mayBeFraction(node);
}

function isWholeQuotient(left: SyntaxNode | undefined, right: SyntaxNode | undefined): boolean {
  return Number.isInteger(Number(left?.value) / Number(right?.value));
}

const unary: Readonly<Record<string, ResultType['kind']>> = {
  '[': 'list',
  '{': 'map',
  '-': 'number',
};
const binary: Readonly<Record<string, ResultType['kind']>> = {
  '&': 'string',
  ...Object.fromEntries(['+', '-', '*', '/', '%'].map((operator) => [operator, 'number'])),
  ...Object.fromEntries(
    ['=', '!=', '<', '<=', '>', '>=', 'in', 'and', 'or'].map((operator) => [operator, 'boolean']),
  ),
};

/** Whether an operator calculates with numbers. */
export function isArithmetic(operator: string): boolean {
  return binary[operator] === 'number';
}

function kindOf(node: SyntaxNode, { hasOwnFunctions }: Context): ResultType['kind'] | undefined {
  if (plainPathOf(node) !== undefined) return 'path';
  const value = String(node.value);
  switch (node.type) {
    case 'string':
    case 'number':
      return node.type;
    case 'value':
      return typeof node.value === 'boolean' ? 'boolean' : undefined;
    case 'unary':
      return unary[value];
    case 'binary':
      return binary[value];
    case 'function':
      return node.procedure?.type === 'variable' && !hasOwnFunctions
        ? functionResults.get(String(node.procedure.value))
        : undefined;
    default:
      return undefined;
  }
}

/** Functions whose result always has one type. */
const functionResults: ReadonlyMap<string, ResultType['kind']> = new Map<
  string,
  ResultType['kind']
>([
  ...resultsBy(
    'number',
    'abs average ceil count floor length max min number parseInteger power random round sqrt sum toMillis',
  ),
  ...resultsBy('boolean', 'boolean contains exists not'),
  ...resultsBy(
    'string',
    'base64decode base64encode decodeUrl decodeUrlComponent encodeUrl encodeUrlComponent formatBase formatInteger formatNumber fromMillis join lowercase pad replace string substring substringAfter substringBefore trim type uppercase',
  ),
  // A list also with one element.
  ...resultsBy('list', 'split'),
  ...languageFunctions.flatMap(({ name, returns }) =>
    returns === 'string' || returns === 'number' || returns === 'boolean'
      ? [[name, returns] as const]
      : [],
  ),
]);

function resultsBy(kind: ResultType['kind'], names: string) {
  return names.split(' ').map((name) => [name, kind] as const);
}
