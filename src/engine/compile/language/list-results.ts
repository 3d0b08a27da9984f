import { languageFunctions } from './functions.ts';
import { leftOf, type SyntaxNode, unwrapTailCall, walk } from './syntax-tree.ts';

/** What makes the result of an expression a list: its form, or a path where that leads to a list or through one. */
export type ListSource = 'form' | ListPath;

/** A path from the root. A number is an index: it selects one element. */
export type ListPath = readonly (string | number)[];

/**
 * Finds what may make the result of an expression a list, also of one element, which JSONata unwraps. Values that the form does not show
 * are left out.
 * @param tree the unmodified tree of JSONata's parser.
 */
export function listSources(tree: SyntaxNode): readonly ListSource[] {
  const own = ownNames(tree);
  const functions = own.size === 0 ? listFunctions : listFunctionsWithout(own);
  return [...sourcesOf(tree, functions)];
}

function listFunctionsWithout(names: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...listFunctions].filter((name) => !names.has(name)));
}

/** The variables that an expression defines: one can have the name of a function. */
function ownNames(tree: SyntaxNode): ReadonlySet<string> {
  const names = new Set<string>();
  for (const node of walk(tree)) {
    const defined =
      node.type === 'bind' ? [leftOf(node)] : node.type === 'lambda' ? (node.arguments ?? []) : [];
    for (const each of defined) names.add(String(each?.value));
  }
  return names;
}

/** Functions whose result is meant as a list. */
const listFunctions: ReadonlySet<string> = new Set([
  ...'append distinct each filter keys map match reverse shuffle sort split spread zip'.split(' '),
  ...languageFunctions.flatMap(({ name, returns }) => (returns === 'list' ? [name] : [])),
]);

function* sourcesOf(
  node: SyntaxNode,
  functions: ReadonlySet<string>,
): Generator<ListSource, void, undefined> {
  if (node.group !== undefined || selectsOne(node.predicate)) return;
  if (node.keepArray === true || node.keepSingletonArray === true) yield 'form';
  switch (node.type) {
    case 'condition':
      for (const branch of [node.then, node.else])
        if (branch !== undefined) yield* sourcesOf(unwrapTailCall(branch), functions);
      return;
    case 'block': {
      const last = node.expressions?.at(-1);
      if (last !== undefined) yield* sourcesOf(last, functions);
      return;
    }
    case 'unary':
      if (node.value === '[') yield 'form';
      return;
    case 'function':
      if (functions.has(String(node.procedure?.value))) yield 'form';
      return;
    case 'apply': {
      const { rhs } = node;
      const name = rhs?.type === 'function' ? rhs.procedure?.value : rhs?.value;
      if (functions.has(String(name))) yield 'form';
      return;
    }
    case 'path':
      yield* sourcesOfPath(node.steps ?? [], functions);
  }
}

/** The names at the start of a path, and the computed steps: `$split(spec.names, ",").$trim($)`. */
function* sourcesOfPath(
  steps: readonly SyntaxNode[],
  functions: ReadonlySet<string>,
): Generator<ListSource, void, undefined> {
  const names: (string | number)[] = [];
  const [first] = steps;
  const isRoot = first?.type === 'variable' && ['', '$', 'self'].includes(String(first.value));
  const named = isRoot ? steps.slice(1) : steps;
  const end = named.findIndex(({ type }) => type !== 'name');
  for (const step of end < 0 ? named : named.slice(0, end)) {
    names.push(String(step.value));
    if (step.keepArray === true) yield 'form';
    if (selectsOne(step.stages) || selectsOne(step.predicate)) names.push(0);
  }
  if (names.length > 0) yield names;
  for (const step of end < 0 ? [] : named.slice(end)) yield* sourcesOf(step, functions);
}

/** Whether the last stage is an index: `[0]`, `[-1]`. */
function selectsOne(stages: SyntaxNode['stages']): boolean {
  const expr = stages?.at(-1)?.expr;
  return expr?.type === 'number' || (expr?.type === 'unary' && expr.value === '-');
}
