import {
  childNodes,
  isDefaultOperator,
  isElvisOperator,
  type PlainPath,
  plainPathOf,
  type Scope,
  type SyntaxNode,
} from '../language/index.ts';

/**
 * The paths whose absence must not be taken for "no elements" (definition.md section 2, `forEach`), by the node that
 * stands for them. Found in the syntax, as the result does not tell: `[0..missing]` is the empty list, and of two lists
 * one may be missing.
 */
export interface RequiredPaths {
  readonly always: ReadonlyMap<SyntaxNode, PlainPath>;
  /** Required only when an evaluation comes to them: they stand in a branch, or behind `??`. */
  readonly inBranches: ReadonlyMap<SyntaxNode, PlainPath>;
}

type Marks = Map<SyntaxNode, PlainPath>;

/** @param tree As JSONata parsed it. */
export function requiredPaths(tree: SyntaxNode): RequiredPaths {
  const always: Marks = new Map();
  const inBranches: Marks = new Map();

  /** `owner` is the node of the tree that `node` was made of. */
  function visit(node: SyntaxNode, marks: Marks, owner = node): void {
    const plain = plainPathOf(node);
    if (plain !== undefined) {
      marks.set(owner, plain);
      return;
    }
    switch (node.type) {
      case 'path':
        visitPath(node, marks, owner);
        return;
      case 'lambda':
        return;
      case 'condition':
        visitCondition(node, marks);
        return;
      case 'bind':
        // To the left stands the name.
        if (node.rhs !== undefined) visit(node.rhs, marks);
        return;
      case 'function':
        // These ask whether something is there.
        if (['exists', 'boolean', 'not'].includes(String(node.procedure?.value))) return;
        for (const arg of node.arguments ?? []) visit(arg, marks);
        return;
      case 'unary':
        // Fields of an element may be missing, elements may not.
        if (node.value === '{') return;
        break;
      default:
        break;
    }
    const inner = withoutFilters(node);
    for (const child of childNodes(inner)) visit(child, marks);
  }

  function visitCondition(node: SyntaxNode, marks: Marks): void {
    // What has a default may be missing.
    const hasDefault = isDefaultOperator(node) || isElvisOperator(node);
    if (!hasDefault && node.condition !== undefined) visit(node.condition, marks);
    if (!hasDefault && node.then !== undefined) visit(node.then, inBranches);
    if (node.else !== undefined) visit(node.else, inBranches);
  }

  /** Up to its first predicate or computed step a path is plain. */
  function visitPath(node: SyntaxNode, marks: Marks, owner: SyntaxNode): void {
    const steps = node.steps ?? [];
    const [first] = steps;
    if (first === undefined) return;
    const end = steps.findIndex((step) => !isPlainStep(step));
    if (end === 0) {
      const bare = withoutFilters(first);
      visit(bare.type === 'name' ? { type: 'path', steps: [bare] } : bare, marks, owner);
      return;
    }
    const head = end < 0 ? steps.map(withoutFilters) : steps.slice(0, end);
    const cut = end < 0 ? undefined : steps[end];
    // The filtered step itself is required, only not what passes the filter.
    if (cut?.type === 'name') head.push(withoutFilters(cut));
    const plain = plainPathOf({ type: 'path', steps: head });
    if (plain !== undefined) marks.set(owner, plain);
    else if (head[0] !== undefined) visit(withoutFilters(head[0]), marks, owner);
  }

  visit(tree, always);
  return { always, inBranches };
}

function isPlainStep(step: SyntaxNode): boolean {
  return plainPathOf({ type: 'path', steps: [step] }) !== undefined;
}

/** The node itself: without predicates, indexes, grouping and `[]`. */
function withoutFilters(node: SyntaxNode): SyntaxNode {
  const copy: SyntaxNode = { ...node };
  delete copy.predicate;
  delete copy.stages;
  delete copy.group;
  delete copy.focus;
  delete copy.index;
  delete copy.tuple;
  delete copy.keepArray;
  delete copy.keepSingletonArray;
  return copy;
}

/** Is nothing there at a path? What lies below a list is a matter of its elements. */
export function isMissing({ variable, steps }: PlainPath, scope: Scope): boolean {
  let value: unknown = variable === '$' ? scope.root : scope[variable];
  for (const step of steps) {
    if (Array.isArray(value)) return false;
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return true;
    value = (value as Readonly<Record<string, unknown>>)[step];
  }
  return value === undefined || value === null;
}

/** Is there a list at the path or on the way to it? */
export function leadsThroughList({ variable, steps }: PlainPath, scope: Scope): boolean {
  let value: unknown = variable === '$' ? scope.root : scope[variable];
  for (const step of steps) {
    if (Array.isArray(value)) return true;
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return false;
    value = (value as Readonly<Record<string, unknown>>)[step];
  }
  return Array.isArray(value);
}

/** As written. */
export function pathText({ variable, steps }: PlainPath): string {
  return [...(variable === '$' ? [] : [`$${variable}`]), ...steps].join('.');
}
