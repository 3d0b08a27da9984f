import { plainPathOf } from './fast-path.ts';
import { languageFunctions } from './functions.ts';
import { firstPosition, leftOf, type SyntaxNode, unwrapTailCall, walk } from './syntax-tree.ts';
import { startOf, type Token } from './tokens.ts';

/** A possible result of an expression. The offset is that of its first character; that of a `path` is also that of its reference. */
export type ResultType = { readonly offset: number } & (
  | { readonly kind: 'path' | 'boolean' | 'list' | 'map' }
  /** `mayBeFraction`: also where all operands are integers. `fractionPaths`: offsets of the last names of the paths of which one may be a fraction. */
  | {
      readonly kind: 'number';
      readonly mayBeFraction?: true;
      readonly fractionPaths?: readonly number[];
    }
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

/** The call in the function of `$map` that returns a list, where `$map` is the whole expression: one element may be a list, or its only element. */
export function nestedListIn(tree: SyntaxNode, tokens: readonly Token[]): number | undefined {
  const node = tree.type === 'block' && tree.expressions?.length === 1 ? tree.expressions[0] : tree;
  const call = node?.type === 'apply' ? node.rhs : node;
  if (call?.type !== 'function' || call.procedure?.value !== 'map') return undefined;
  const { body } = call.arguments?.find(({ type }) => type === 'lambda') ?? {};
  const result = body && unwrapTailCall(body);
  // `$map(...)[0]` is an element.
  if (result?.predicate !== undefined || result?.rhs?.predicate !== undefined) return undefined;
  const name = result?.type === 'apply' ? appliedName(result.rhs) : result?.procedure?.value;
  return result !== undefined && name === 'map'
    ? startOf(tokens, firstPosition(result))
    : undefined;
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
  else if (kind === 'number') {
    const paths = [...partsOfFraction(node)].filter(isFieldPath);
    const fractionPaths = paths.map((path) =>
      startOf(context.tokens, firstPosition(path.steps?.at(-1) ?? path)),
    );
    yield { kind, offset, ...(fractionPaths.length > 0 && { fractionPaths }) };
  } else yield { kind, offset };
}

/** Whether a node selects fields, also of elements that match: `spec.shares[part > 1].part`. */
function isFieldPath(node: SyntaxNode): boolean {
  if (plainPathOf(node) !== undefined) return true;
  const { type, group, steps = [] } = node;
  const [first, ...rest] = steps;
  return (
    type === 'path' &&
    group === undefined &&
    (first?.type === 'name' || first?.type === 'variable') &&
    rest.every((step) => step.type === 'name')
  );
}

/** The parts of a number of which one must be a fraction, so that the result is one. */
function* partsOfFraction(node: SyntaxNode): Generator<SyntaxNode> {
  yield node;
  for (const part of operandsOf(node)) if (part !== undefined) yield* partsOfFraction(part);
}

/** What a number is calculated of, so that it is an integer where all of these are. */
function operandsOf(node: SyntaxNode): readonly (SyntaxNode | undefined)[] {
  const { type, value, rhs } = node;
  switch (type) {
    case 'unary':
      return [node.expression, ...(node.expressions ?? [])];
    case 'binary':
      return isArithmetic(String(value)) ? [leftOf(node), rhs] : [];
    case 'condition':
      return [node.then, node.else];
    case 'block':
      return [node.expressions?.at(-1)];
    case 'function': {
      const name = String(node.procedure?.value);
      const [first, second] = node.arguments ?? [];
      const keepsFraction = name === 'round' && Number(second?.value) > 0;
      return keepsFraction || passingFunctions.has(name) ? [first] : [];
    }
    case 'apply':
      return passingFunctions.has(appliedName(rhs)) ? [leftOf(node)] : [];
    default:
      return [];
  }
}

/** Functions whose result can be a fraction although their arguments are integers, or where one of them is. */
const fractionFunctions = new Set(['average', 'random', 'sqrt']);
const passingFunctions = new Set(['abs', 'max', 'min', 'power', 'sum']);

/** The function after `~>`, with or without arguments. */
function appliedName(node: SyntaxNode | undefined): string {
  return String(node?.type === 'function' ? node.procedure?.value : node?.value);
}

/** Whether a number can be a fraction although all fields in it are integers: `a / 2`, `a * 1.5`. */
function mayBeFraction(node: SyntaxNode): boolean {
  const { type, value, rhs } = node;
  const [, second] = node.arguments ?? [];
  if (type === 'number') return !Number.isInteger(value);
  if (type === 'binary' && value === '/') return !isWholeQuotient(leftOf(node), rhs);
  if (type === 'apply' && fractionFunctions.has(appliedName(rhs))) return true;
  if (type === 'function') {
    const name = String(node.procedure?.value);
    if (fractionFunctions.has(name)) return true;
    if (name === 'power' && !isWholeExponent(second)) return true;
  }
  return operandsOf(node).some(isFraction);
}

/** Whether an exponent that is a literal makes no integer a fraction. Others are assumed to be whole. */
function isWholeExponent(exponent: SyntaxNode | undefined): boolean {
  if (exponent?.type === 'unary') return exponent.value !== '-';
  return (
    exponent?.type !== 'number' || (Number.isInteger(exponent.value) && Number(exponent.value) >= 0)
  );
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
    case 'apply':
      return hasOwnFunctions ? undefined : functionResults.get(appliedName(node.rhs));
    default:
      return undefined;
  }
}

const kinds = ['string', 'number', 'boolean', 'list'] as const;

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
  ...languageFunctions.flatMap(({ name, returns }) => {
    const kind = returns === 'object' ? 'map' : kinds.find((each) => each === returns);
    return kind === undefined ? [] : [[name, kind] as const];
  }),
]);

function resultsBy(kind: ResultType['kind'], names: string) {
  return names.split(' ').map((name) => [name, kind] as const);
}
