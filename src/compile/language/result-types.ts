import { plainPathOf } from './fast-path.ts';
import { languageFunctions } from './functions.ts';
import { firstPosition, type SyntaxNode, walk } from './syntax-tree.ts';
import { startOf, type Token } from './tokens.ts';

/** A possible result of an expression. The offset is that of its first character; that of a `path` is also that of its reference. */
export type ResultType = { readonly offset: number } & (
  | { readonly kind: 'path' | 'number' | 'boolean' | 'list' | 'map' }
  /** `value`: of a literal. */
  | { readonly kind: 'string'; readonly value?: string }
);

/**
 * What an expression may result in: the branches of `? :` and `??`, by their form alone. What is not known, and no result at all, is
 * left out.
 */
export function resultTypesOf(tree: SyntaxNode, tokens: readonly Token[]): readonly ResultType[] {
  // A variable can have the name of a function.
  const hasOwnFunctions = walk(tree).some(({ type }) => type === 'bind' || type === 'lambda');
  return [...resultsOf(tree, { tokens, hasOwnFunctions })];
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
  else yield { kind, offset };
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
  ...languageFunctions.flatMap(({ name, returns }) =>
    returns === 'string' || returns === 'number' || returns === 'boolean'
      ? [[name, returns] as const]
      : [],
  ),
]);

function resultsBy(kind: ResultType['kind'], names: string) {
  return names.split(' ').map((name) => [name, kind] as const);
}
