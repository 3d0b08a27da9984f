/**
 * `null` is a missing value (docs/definition/expressions.md#missing-values). No evaluation of a node results in `null`:
 * sequences drop it (`metered-frame.ts`), functions do not see it (`native-functions.ts`), and this rewriting handles
 * literals and the contexts of predicates. So no operator needs a rule for it. Lists and maps that are only copied keep it.
 */
import { callOf, leftOf, type SyntaxNode, unwrapTailCall, walk } from './syntax-tree.ts';

/** Functions for rewritten code. Expressions cannot call them, because their names contain a space. */
export const isMissingName = ' is missing';
export const isPresentName = ' is present';
export const presentValueName = ' present value';
export const withoutNullsName = ' without nulls';
const missingName = ' missing';

/** The other side of `a = null` and `a != null`; undefined for other nodes. */
export function comparedWithNull(node: SyntaxNode): SyntaxNode | undefined {
  if (node.type !== 'binary' || (node.value !== '=' && node.value !== '!=')) return undefined;
  const left = leftOf(node);
  if (node.rhs !== undefined && isNull(node.rhs)) return left;
  return left !== undefined && isNull(left) ? node.rhs : undefined;
}

/** Whether a node is the literal `null`. */
export function isNull(node: SyntaxNode): boolean {
  return node.type === 'value' && node.value === null;
}

/** The literals `null` that a node may result in: its own, and those of the branches of conditions. */
export function nullResults(node: SyntaxNode): readonly SyntaxNode[] {
  if (isNull(node)) return [node];
  const branches =
    node.type === 'condition'
      ? [node.then, node.else]
      : node.type === 'block'
        ? [node.expressions?.at(-1)]
        : [];
  return branches.flatMap((branch) =>
    branch === undefined ? [] : nullResults(unwrapTailCall(branch)),
  );
}

/**
 * Rewrites a tree in place: `a = null` tests whether `a` is missing; other literals `null` are missing values, except
 * as values of `{ }` and elements of `[ ]`; `$` is missing if it is `null`. Must run before all other rewriting.
 */
export function rewriteNulls(root: SyntaxNode): void {
  const nodes = new Set(walk(root));
  const kept = new Set([...nodes].flatMap(writtenValues).flatMap(nullResults));
  // Collected in advance, because rewriting moves nodes.
  const contexts = contextsIn(nodes);
  const wildcards = [...nodes].filter(({ type, tuple }) => type === 'wildcard' && tuple !== true);
  for (const node of nodes) {
    const compared = comparedWithNull(node);
    if (compared !== undefined) {
      const test = node.value === '=' ? isMissingName : isPresentName;
      become(node, callOf(test, [compared], node.position));
    } else if (isNull(node) && !kept.has(node)) {
      become(node, { type: 'variable', value: missingName });
    }
  }
  for (const node of contexts) become(node, callOf(presentValueName, [{ ...node }]));
  for (const node of wildcards) wrapWildcard(node);
}

/** The values of a map or the elements of a list that an expression writes out. */
function writtenValues(node: SyntaxNode): readonly SyntaxNode[] {
  const { type, value, lhs, expressions = [] } = node;
  if (type !== 'unary') return [];
  if (value === '{') return Array.isArray(lhs) ? lhs.map(([, each]) => each) : [];
  return value === '[' ? expressions : [];
}

/**
 * The operands `$` whose value may be an element of a list that is not a sequence: in predicates and groups, and after
 * `[...]`. A `$` that begins a path needs no rewriting.
 */
function contextsIn(nodes: ReadonlySet<SyntaxNode>): ReadonlySet<SyntaxNode> {
  const inside = new Set(
    [...nodes].flatMap(partsWithRawContext).flatMap((part) => [...walk(part)]),
  );
  for (const { steps = [], procedure, type, arguments: args = [] } of nodes) {
    for (const step of steps) inside.delete(step);
    if (procedure !== undefined) inside.delete(procedure);
    if (type === 'lambda') for (const parameter of args) inside.delete(parameter);
  }
  return new Set([...inside].filter(isBareContext));
}

function partsWithRawContext(node: SyntaxNode): readonly SyntaxNode[] {
  const parts = [...(node.predicate ?? []), ...(node.stages ?? [])].flatMap(({ expr }) =>
    expr === undefined ? [] : [expr],
  );
  for (const pair of node.group?.lhs ?? []) parts.push(...pair);
  const [first, ...rest] = node.type === 'path' ? (node.steps ?? []) : [];
  if (first?.type === 'unary') parts.push(...rest);
  return parts;
}

function isBareContext(node: SyntaxNode): boolean {
  return node.type === 'variable' && node.value === '';
}

/** `*` joins the lists among the fields without a sequence. */
function wrapWildcard(node: SyntaxNode): void {
  const { keepArray, stages, ...inner } = node;
  const wrapped = callOf(withoutNullsName, [inner]);
  if (keepArray === true) wrapped.keepArray = true;
  if (stages !== undefined) wrapped.stages = stages;
  become(node, wrapped);
}

/** Replaces the contents of a node, so that references from its parents stay valid. */
function become(node: SyntaxNode, replacement: SyntaxNode): void {
  for (const key of Object.keys(node)) delete (node as unknown as Record<string, unknown>)[key];
  Object.assign(node, replacement);
}

/** `null` as a missing value. */
export function presentValue(value: unknown): unknown {
  return value === null ? undefined : value;
}

/** A list without its elements `null`, or the value itself. */
export function withoutNulls(value: unknown): unknown {
  if (!Array.isArray(value) || !value.includes(null)) return presentValue(value);
  return value.filter((each) => each !== null);
}

/** A map without its fields `null`, and a list without such elements, whose maps have none; or the value itself. */
export function withoutNullFields(value: unknown): unknown {
  if (Array.isArray(value)) {
    const present = withoutNulls(value) as readonly unknown[];
    const fields = present.map(withoutNullFields);
    return fields.some((each, index) => each !== present[index]) ? fields : present;
  }
  if (typeof value !== 'object' || value === null) return presentValue(value);
  const entries = Object.entries(value);
  if (!entries.some(([, field]) => field === null)) return value;
  return Object.fromEntries(entries.filter(([, field]) => field !== null));
}
