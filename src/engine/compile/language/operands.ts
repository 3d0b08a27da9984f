import { builtinFunctions } from './builtin-functions.ts';
import { nodesAtRoot } from './check-tree.ts';
import { languageFunctions } from './functions.ts';
import { definesNames, isArithmetic, type ResultFinder, type ResultType } from './result-types.ts';
import { leftOf, type SyntaxNode, walk } from './syntax-tree.ts';
import type { Token } from './tokens.ts';

/** What a function or an operator accepts. The lists may also be one element. */
export type OperandType = 'string' | 'number' | 'map' | 'list of strings' | 'list of numbers';

/** An argument of a function or a side of an operator that must have one type, else the evaluation fails. */
export interface Operand {
  /** `$length`, or `+`. */
  readonly of: string;
  readonly expected: OperandType;
  /** What it may be, as far as its form shows. */
  readonly results: readonly ResultType[];
}

/** Types of the parameters of functions by their names. Others accept several types. */
const types: ReadonlyMap<string, OperandType> = new Map<string, OperandType>([
  ...typed('string', 'text picture characters character prefix'),
  ...typed('string', 'glob regex cron zone layout time after version other range ip cidr'),
  ...typed('number', 'number width start length exponent precision radix count bits'),
  ...typed('map', 'map base override keys'),
  ['numbers', 'list of numbers'],
]);

function typed(type: OperandType, names: string) {
  return names.split(' ').map((name) => [name, type] as const);
}

/** The parameters of our functions, by name. */
const ownParams: ReadonlyMap<string, readonly string[]> = new Map(
  languageFunctions.map(({ name, params }) => [name, params]),
);

/** The operands of an expression whose type matters. The tree must not have been rewritten. */
export function findOperands(
  tree: SyntaxNode,
  tokens: readonly Token[],
  resultsOf: ResultFinder,
): readonly Operand[] {
  const nodes = [...walk(tree)];
  const hasVariables = definesNames(nodes);
  const applied = new Map(
    nodes.flatMap((node) => (node.type === 'apply' ? [[node.rhs, leftOf(node)] as const] : [])),
  );
  const atRoot = new Set(nodesAtRoot(tree));
  return nodes.flatMap((node) => {
    const isAtRoot = atRoot.has(node);
    const found =
      node.type === 'function' && !hasVariables
        ? argumentsOf(node, { first: applied.get(node), isAtRoot })
        : node.type === 'variable' && !hasVariables && applied.has(node)
          ? argumentsOf({ ...node, procedure: node }, { first: applied.get(node), isAtRoot })
          : sidesOf(node, tokens);
    return found.flatMap(({ value, ...operand }) => {
      const results = resultsOf(value);
      return results.length === 0 ? [] : [{ ...operand, results }];
    });
  });
}

type Written = Omit<Operand, 'results'> & { readonly value: SyntaxNode };

function argumentsOf(
  { procedure, arguments: args = [] }: SyntaxNode,
  {
    first,
    isAtRoot,
  }: {
    /** The value before `~>`. */
    readonly first: SyntaxNode | undefined;
    readonly isAtRoot: boolean;
  },
): readonly Written[] {
  const name = procedure?.type === 'variable' ? String(procedure.value) : '';
  const { params, usesContextBelow } = builtinFunctions.get(name) ?? {
    params: ownParams.get(name) ?? [],
  };
  const given = first === undefined ? args : [first, ...args];
  // The context may be the first argument; at the root it is the resource, which is no text and no number.
  if (!isAtRoot && usesContextBelow !== undefined && given.length < params.length) return [];
  return given.flatMap((value, index) => {
    const expected =
      name === 'join' && index === 0
        ? 'list of strings'
        : types.get((params[index] ?? '').replace(/\?$/, ''));
    return expected === undefined ? [] : [{ of: `$${name}`, expected, value }];
  });
}

/** Without the sides of `+` beside a text, and of a name with "-", which have a warning of their own. */
function sidesOf(node: SyntaxNode, tokens: readonly Token[]): readonly Written[] {
  const of = String(node.value);
  const sides = [leftOf(node), node.rhs].filter((side) => side !== undefined);
  if (node.type !== 'binary' || !isArithmetic(of)) return [];
  const isName = of === '-' && isJoined(tokens, node.position);
  if (isName || sides.some(({ type }) => type === 'string')) return [];
  return sides.map((value) => ({ of, expected: 'number', value }));
}

/** Whether an operator is written without spaces around it. */
function isJoined(tokens: readonly Token[], end: number | undefined): boolean {
  const index = tokens.findIndex((token) => token.end === end);
  const [before, operator, after] = tokens.slice(index - 1, index + 2);
  return before?.end === operator?.start && operator?.end === after?.start;
}
