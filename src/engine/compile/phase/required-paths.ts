import {
  childNodes,
  comparedWithNull,
  isDefaultOperator,
  isElvisOperator,
  type PlainPath,
  plainPathOf,
  type Scope,
  type SyntaxNode,
} from '../language/index.ts';

/**
 * The paths that must not be missing (docs/definition/expressions.md#missing-values, `forEach`), by syntax node. They are found in the
 * syntax tree, because the result does not reveal a missing value: `[0..missing]` is the empty list, and one of two
 * lists may be missing.
 */
export interface RequiredPaths {
  readonly always: ReadonlyMap<SyntaxNode, PlainPath>;
  /** Required only if an evaluation reaches them: in a branch, or after `??`. */
  readonly inBranches: ReadonlyMap<SyntaxNode, PlainPath>;
  /** May be missing: before `??` and `?:`. */
  readonly withDefault: ReadonlyMap<SyntaxNode, PlainPath>;
  /** A default, or one of two branches, is a list that is written out: `(spec.hosts ?? [])[public]`. */
  readonly hasList: boolean;
  /** The maps of which a computed key is read: `$lookup(reads.secret.data, spec.key)`. */
  readonly lookups: readonly Lookup[];
}

/** A computed key of a map. */
export interface Lookup {
  readonly map: PlainPath;
  /** Undefined: the key is no plain path. */
  readonly key: PlainPath | undefined;
}

type Marks = Map<SyntaxNode, PlainPath>;

/** @param tree the unmodified tree of JSONata's parser. */
export function requiredPaths(tree: SyntaxNode): RequiredPaths {
  const always: Marks = new Map();
  const inBranches: Marks = new Map();
  const withDefault: Marks = new Map();
  const lookups: Lookup[] = [];
  let hasList = false;

  /** `owner` is the node of the original tree from which `node` was derived. */
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
        // The left side is the name.
        if (node.rhs !== undefined) visit(node.rhs, marks);
        return;
      case 'function':
        // These functions test for existence.
        if (['exists', 'boolean', 'not'].includes(String(node.procedure?.value))) return;
        if (node.procedure?.value === 'lookup') addLookup(node);
        for (const arg of node.arguments ?? []) visit(arg, marks);
        return;
      case 'binary':
        // `a = null` tests for existence.
        if (comparedWithNull(node) !== undefined) return;
        break;
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

  function addLookup({ arguments: [written, key] = [] }: SyntaxNode): void {
    const map = written && plainPathOf(written);
    if (map !== undefined) lookups.push({ map, key: key && plainPathOf(key) });
  }

  function visitCondition(node: SyntaxNode, marks: Marks): void {
    // A value with a default may be missing.
    const hasDefault = isDefaultOperator(node) || isElvisOperator(node);
    if (!hasDefault && node.condition !== undefined) visit(node.condition, marks);
    if (node.then !== undefined) visit(node.then, hasDefault ? withDefault : inBranches);
    if (node.else !== undefined) visit(node.else, inBranches);
    if (node.else !== undefined) hasList ||= isListLiteral(node.then) || isListLiteral(node.else);
  }

  /** Handles the plain prefix of a path, up to its first predicate or computed step. */
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
    // The filtered step is required, but not the elements that pass the filter.
    if (cut?.type === 'name') head.push(withoutFilters(cut));
    const plain = plainPathOf({ type: 'path', steps: head });
    if (plain !== undefined) marks.set(owner, plain);
    else if (head[0] !== undefined) visit(withoutFilters(head[0]), marks, owner);
  }

  visit(tree, always);
  return { always, inBranches, withDefault, hasList, lookups };
}

function isListLiteral(node: SyntaxNode | undefined): boolean {
  return node?.type === 'unary' && node.value === '[';
}

function isPlainStep(step: SyntaxNode): boolean {
  return plainPathOf({ type: 'path', steps: [step] }) !== undefined;
}

/** The node without predicates, indexes, grouping and `[]`. */
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

/** The kind of value at a path. `list`: there is a list at the path or on the way to it. */
export function followPath(
  { variable, steps }: PlainPath,
  scope: Scope,
): 'nothing' | 'list' | 'value' {
  let value: unknown = variable === '$' ? scope.root : scope[variable];
  for (const step of steps) {
    if (Array.isArray(value)) return 'list';
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step))
      return 'nothing';
    value = (value as Readonly<Record<string, unknown>>)[step];
  }
  if (Array.isArray(value)) return 'list';
  return value === undefined || value === null ? 'nothing' : 'value';
}

/** As written. */
export function pathText({ variable, steps }: PlainPath): string {
  return [...(variable === '$' ? [] : [`$${variable}`]), ...steps].join('.');
}
