/**
 * The syntax tree of JSONata's evaluator (2.2.2). `position` is the offset after the node's token in the source. The
 * tree is mutable: rewriting replaces nodes in place before the first evaluation.
 */
export interface SyntaxNode {
  type: string;
  value?: unknown;
  position?: number;
  steps?: SyntaxNode[];
  arguments?: SyntaxNode[];
  procedure?: SyntaxNode;
  expressions?: SyntaxNode[];
  expression?: SyntaxNode;
  lhs?: SyntaxNode | SyntaxPair[];
  rhs?: SyntaxNode;
  condition?: SyntaxNode;
  then?: SyntaxNode;
  else?: SyntaxNode;
  body?: SyntaxNode;
  thunk?: boolean;
  predicate?: SyntaxStage[];
  stages?: SyntaxStage[];
  group?: { lhs: SyntaxPair[]; position?: number };
  terms?: { descending: boolean; expression: SyntaxNode }[];
  pattern?: SyntaxNode;
  update?: SyntaxNode;
  delete?: SyntaxNode;
  /** Variable bound by `@$v` on this step. */
  focus?: string;
  /** Variable bound by `#$i` on this step. */
  index?: string;
  /** On a step: some `%` with this label is the context of the step. */
  ancestor?: { readonly label: string };
  /** Of `%`. */
  slot?: { readonly label: string };
  tuple?: boolean;
  keepArray?: boolean;
  keepSingletonArray?: boolean;
}

export type SyntaxPair = [SyntaxNode, SyntaxNode];

export interface SyntaxStage {
  type: string;
  expr?: SyntaxNode;
  value?: unknown;
}

/** The nodes directly below a node. Each node of each expression is visited several times, so it creates one list only. */
export function childNodes(node: SyntaxNode): SyntaxNode[] {
  const found: SyntaxNode[] = [];
  const add = (child: SyntaxNode | undefined) => {
    if (child !== undefined) found.push(child);
  };
  if (Array.isArray(node.lhs)) addPairs(node.lhs, found);
  else add(node.lhs);
  for (const list of [node.steps, node.arguments, node.expressions])
    if (list !== undefined) for (const child of list) found.push(child);
  add(node.procedure);
  add(node.expression);
  add(node.rhs);
  add(node.condition);
  add(node.then);
  add(node.else);
  add(node.body);
  add(node.pattern);
  add(node.update);
  add(node.delete);
  for (const stages of [node.predicate, node.stages])
    if (stages !== undefined) for (const { expr } of stages) add(expr);
  if (node.group !== undefined) addPairs(node.group.lhs, found);
  if (node.terms !== undefined) for (const { expression } of node.terms) found.push(expression);
  return found;
}

function addPairs(pairs: readonly SyntaxPair[], found: SyntaxNode[]): void {
  for (const [key, value] of pairs) found.push(key, value);
}

/** All nodes of a tree, parents first. */
export function* walk(root: SyntaxNode): Generator<SyntaxNode, void, undefined> {
  const pending = [root];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    yield node;
    pending.push(...childNodes(node).reverse());
  }
}

/** The left operand, if it is a node (not the pairs of an object). */
export function leftOf(node: SyntaxNode): SyntaxNode | undefined {
  return Array.isArray(node.lhs) ? undefined : node.lhs;
}

/** Whether JSONata created this condition from `a ?? b`. The generated call of `$exists` has no position. */
export function isDefaultOperator(node: SyntaxNode): boolean {
  const call = node.condition;
  return (
    node.type === 'condition' &&
    call?.type === 'function' &&
    call.procedure?.value === 'exists' &&
    call.procedure.position === undefined
  );
}

/** Whether JSONata created this condition from `a ?: b`. Test and result are copies with equal positions. */
export function isElvisOperator(node: SyntaxNode): boolean {
  if (node.type !== 'condition' || node.condition === undefined || node.then === undefined) {
    return false;
  }
  const position = firstPosition(node.condition);
  return position !== undefined && position === firstPosition(unwrapTailCall(node.then));
}

/** Returns the call inside the thunk that JSONata creates for a tail call. */
export function unwrapTailCall(node: SyntaxNode): SyntaxNode {
  return node.thunk === true && node.body !== undefined ? node.body : node;
}

/** The smallest position in a tree: after its first token. */
export function firstPosition(node: SyntaxNode): number | undefined {
  let first: number | undefined;
  for (const { position } of walk(node)) {
    if (position !== undefined && (first === undefined || position < first)) first = position;
  }
  return first;
}

/** Creates a function call. */
export function callOf(name: string, args: SyntaxNode[], position?: number): SyntaxNode {
  const node: SyntaxNode = {
    type: 'function',
    value: '(',
    procedure: { type: 'variable', value: name },
    arguments: args,
  };
  return position === undefined ? node : { ...node, position };
}
