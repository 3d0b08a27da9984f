import { builtinFunctions } from './builtin-functions.ts';
import { boundNames } from './check-tree.ts';
import { languageFunctions } from './functions.ts';
import { callOf, type SyntaxNode, walk } from './syntax-tree.ts';

/** Functions for rewritten code. Expressions cannot call them, because their names contain a space. */
export const ownListName = ' own list';
export const isFunctionName = ' is function';

/**
 * Rewrites code that would let JSONata modify its input, which is shared with the cache: `list[]` marks the list,
 * `list{...}` extends an empty list, and calling a value that is not a function labels the value. Must run after the
 * other rewriting, which would treat the guards of calls as `?:`.
 */
export function protectInput(root: SyntaxNode): void {
  const nodes = new Set(walk(root));
  const bound = boundNames(nodes);
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

/** `$f(x)` becomes `(isFunction($f) ? $f)(x)`, unless `$f` is known to be a function. */
function protectCallee(node: SyntaxNode, bound: ReadonlySet<string>): void {
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

/** Only the last step can return a list of the input. */
function protectLastStep(path: SyntaxNode): void {
  const steps = path.steps ?? [];
  const last = steps.at(-1);
  if (last === undefined || last.type === 'sort' || steps.some(({ tuple }) => tuple === true))
    return;
  if (last.stages === undefined) {
    const bare = { ...last };
    const step = callOf(ownListName, [bare]);
    if (last.keepArray === true) step.keepArray = true;
    // Constructed lists belong to JSONata, which finds them by their node type.
    if (last.type !== 'unary') steps[steps.length - 1] = step;
  } else if (last.stages.at(-1)?.expr?.type === 'number') {
    // An index can return a nested list; another predicate copies it.
    last.stages.push({ type: 'filter', expr: { type: 'value', value: true } });
  }
}

function protectGrouped(node: SyntaxNode): void {
  const { group, ...bare } = node;
  for (const key of Object.keys(node)) delete (node as unknown as Record<string, unknown>)[key];
  Object.assign(node, callOf(ownListName, [bare]), { group });
}
