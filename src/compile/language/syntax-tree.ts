/**
 * JSONata's syntax tree as its evaluator sees it (2.2.2). `position` is the offset behind the node's token in the source.
 * The tree is mutable: rewriting replaces nodes in place before the first evaluation.
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

/** The nodes directly below a node. */
export function childNodes(node: SyntaxNode): SyntaxNode[] {
  const single = [
    node.procedure,
    node.expression,
    node.rhs,
    node.condition,
    node.then,
    node.else,
    node.body,
    node.pattern,
    node.update,
    node.delete,
  ].filter((child) => child !== undefined);
  const lhs = Array.isArray(node.lhs) ? node.lhs.flat() : node.lhs === undefined ? [] : [node.lhs];
  const stages = [...(node.predicate ?? []), ...(node.stages ?? [])].flatMap((stage) =>
    stage.expr === undefined ? [] : [stage.expr],
  );
  return [
    ...lhs,
    ...(node.steps ?? []),
    ...(node.arguments ?? []),
    ...(node.expressions ?? []),
    ...single,
    ...stages,
    ...(node.group?.lhs.flat() ?? []),
    ...(node.terms ?? []).map((term) => term.expression),
  ];
}

/** All nodes of a tree, parents first. */
export function* walk(root: SyntaxNode): Generator<SyntaxNode, void, undefined> {
  const pending = [root];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    yield node;
    pending.push(...childNodes(node).reverse());
  }
}

/** The left operand where it is a node (not the pairs of an object). */
export function leftOf(node: SyntaxNode): SyntaxNode | undefined {
  return Array.isArray(node.lhs) ? undefined : node.lhs;
}

/** Is it the condition that JSONata makes of `a ?? b`? Its call of `$exists` was never written, so it has no position. */
export function isDefaultOperator(node: SyntaxNode): boolean {
  const call = node.condition;
  return (
    node.type === 'condition' &&
    call?.type === 'function' &&
    call.procedure?.value === 'exists' &&
    call.procedure.position === undefined
  );
}

/** Is it the condition that JSONata makes of `a ?: b`? Test and result are copies of one text. */
export function isElvisOperator(node: SyntaxNode): boolean {
  if (node.type !== 'condition' || node.condition === undefined || node.then === undefined) {
    return false;
  }
  const position = firstPosition(node.condition);
  return position !== undefined && position === firstPosition(unwrapTailCall(node.then));
}

/** JSONata wraps calls in the last place of a function into a nameless function; this gives the call. */
export function unwrapTailCall(node: SyntaxNode): SyntaxNode {
  return node.thunk === true && node.body !== undefined ? node.body : node;
}

/** The smallest position in a tree: behind its first token. */
export function firstPosition(node: SyntaxNode): number | undefined {
  let first: number | undefined;
  for (const { position } of walk(node)) {
    if (position !== undefined && (first === undefined || position < first)) first = position;
  }
  return first;
}

/** A call of a function by its name. */
export function callOf(name: string, args: SyntaxNode[], position?: number): SyntaxNode {
  const node: SyntaxNode = {
    type: 'function',
    value: '(',
    procedure: { type: 'variable', value: name },
    arguments: args,
  };
  return position === undefined ? node : { ...node, position };
}
