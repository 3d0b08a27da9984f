import {
  childNodes,
  isDefaultOperator,
  isElvisOperator,
  type PlainPath,
  plainPathOf,
  type Scope,
  type SyntaxNode,
  syntaxTreeOf,
} from '../language/index.ts';

/**
 * The paths whose absence must not be taken for "no elements" (definition.md section 2, `forEach`). Found in the syntax, as
 * the result does not tell: `[0..missing]` is the empty list, and of two lists one may be missing.
 */
export interface RequiredPaths {
  /** Required whatever comes out: one of several lists may be missing. */
  readonly always: readonly PlainPath[];
  /** Required when there is no result: these may stand in a branch that was not taken. */
  readonly whenMissing: readonly PlainPath[];
}

/** @param source An expression that parses. */
export function requiredPaths(source: string): RequiredPaths {
  const always: PlainPath[] = [];
  const whenMissing: PlainPath[] = [];

  function visit(node: SyntaxNode, list: PlainPath[]): void {
    const plain = plainPathOf(node);
    if (plain !== undefined) {
      list.push(plain);
      return;
    }
    // What has a default may be missing.
    if (isDefaultOperator(node) || isElvisOperator(node)) return;
    switch (node.type) {
      case 'path':
        visitPath(node, list);
        return;
      case 'lambda':
        return;
      case 'condition':
        if (node.condition !== undefined) visit(node.condition, list);
        for (const branch of [node.then, node.else]) {
          if (branch !== undefined) visit(branch, whenMissing);
        }
        return;
      case 'function':
        // These ask whether something is there.
        if (['exists', 'boolean', 'not'].includes(String(node.procedure?.value))) return;
        for (const arg of node.arguments ?? []) visit(arg, list);
        return;
      case 'unary':
        // Fields of an element may be missing, elements may not.
        if (node.value === '{') return;
        break;
      default:
        break;
    }
    const inner = withoutFilters(node);
    for (const child of childNodes(inner)) visit(child, list);
  }

  /** Up to its first predicate or computed step a path is plain. */
  function visitPath(node: SyntaxNode, list: PlainPath[]): void {
    const steps = node.steps ?? [];
    const [first] = steps;
    if (first === undefined) return;
    const end = steps.findIndex((step) => !isPlainStep(step));
    if (end === 0) {
      const bare = withoutFilters(first);
      visit(bare.type === 'name' ? { type: 'path', steps: [bare] } : bare, list);
      return;
    }
    const head = end < 0 ? steps.map(withoutFilters) : steps.slice(0, end);
    const cut = end < 0 ? undefined : steps[end];
    // The filtered step itself is required, only not what passes the filter.
    if (cut?.type === 'name') head.push(withoutFilters(cut));
    const plain = plainPathOf({ type: 'path', steps: head });
    if (plain !== undefined) list.push(plain);
    else if (head[0] !== undefined) visit(withoutFilters(head[0]), list);
  }

  visit(syntaxTreeOf(source), always);
  return { always, whenMissing };
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
