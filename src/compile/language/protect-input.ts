import { builtinFunctions } from './builtin-functions.ts';
import { languageFunctions } from './functions.ts';
import { callOf, type SyntaxNode, walk } from './syntax-tree.ts';

/** Names of functions that only these rewritings call; no expression can name them: they have a space. */
export const ownListName = ' own list';
export const isFunctionName = ' is function';

/**
 * Rewrites what would let JSONata write into its input, which is shared with the cache: `list[]` marks the list itself,
 * `list{...}` extends it when it is empty, and calling a value that is no function labels that value.
 * Comes after the other rewriting, which would take the guards of calls for `?:`.
 */
export function protectInput(root: SyntaxNode): void {
  const nodes = new Set(walk(root));
  const bound = new Set<unknown>();
  for (const node of nodes) {
    if (node.type === 'bind' && !Array.isArray(node.lhs)) bound.add(node.lhs?.value);
    if (node.type === 'lambda') for (const each of node.arguments ?? []) bound.add(each.value);
  }
  for (const node of nodes) {
    if (node.type === 'function') protectCallee(node, bound);
    if (node.type === 'path' && (node.keepSingletonArray === true || node.group !== undefined)) {
      protectLastStep(node);
    } else if (node.type !== 'path' && node.group !== undefined) {
      protectGrouped(node);
    }
  }
}

const functionNames: ReadonlySet<unknown> = new Set([
  ...builtinFunctions.keys(),
  ...languageFunctions.map(({ name }) => name),
]);

/** `$f(x)` becomes `(isFunction($f) ? $f)(x)`, unless `$f` is known for a function. */
function protectCallee(node: SyntaxNode, bound: ReadonlySet<unknown>): void {
  const { procedure } = node;
  if (procedure === undefined || procedure.type === 'lambda') return;
  if (procedure.type === 'variable') {
    const name = String(procedure.value);
    const isOfRewriting = name.startsWith(' ');
    if (isOfRewriting || (functionNames.has(name) && !bound.has(name))) return;
  }
  const guard: SyntaxNode = { type: 'condition', condition: callOf(isFunctionName, [procedure]) };
  // biome-ignore lint/suspicious/noThenProperty: JSONata's own name of the branch, and nothing awaits a node
  guard.then = procedure;
  node.procedure = guard;
}

/** Only the last step can give a list of the input itself. */
function protectLastStep(path: SyntaxNode): void {
  const steps = path.steps ?? [];
  const last = steps.at(-1);
  if (last === undefined || last.type === 'sort' || steps.some(({ tuple }) => tuple === true))
    return;
  if (last.stages === undefined) {
    const bare = { ...last };
    const step = callOf(ownListName, [bare]);
    if (last.keepArray === true) step.keepArray = true;
    // Constructed lists are JSONata's own, and it looks for them by their type.
    if (last.type !== 'unary') steps[steps.length - 1] = step;
  } else if (last.stages.at(-1)?.expr?.type === 'number') {
    // An index can give a list within a list; one more predicate makes a list of its own of it.
    last.stages.push({ type: 'filter', expr: { type: 'value', value: true } });
  }
}

function protectGrouped(node: SyntaxNode): void {
  const { group, ...bare } = node;
  for (const key of Object.keys(node)) delete (node as unknown as Record<string, unknown>)[key];
  Object.assign(node, callOf(ownListName, [bare]), { group });
}
