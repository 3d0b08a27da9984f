import type { CelNode } from '#sandbox';

/** A use of a variable, with the path of names after it. */
export interface CelReference {
  readonly variable: string;
  readonly path: readonly string[];
  /** The expression cannot be evaluated while the path has no value. */
  readonly isRequired: boolean;
  /** The node of the whole path. */
  readonly node: CelNode;
}

/** The variables that an expression uses, without those that it declares itself. */
export function referencesOf(node: CelNode): readonly CelReference[] {
  return walk(node, { isRequired: true, own: new Set() });
}

interface Walk {
  readonly isRequired: boolean;
  /** Variables of macros. */
  readonly own: ReadonlySet<string>;
}

function walk(node: CelNode, scope: Walk): readonly CelReference[] {
  switch (node.op) {
    case 'id':
    case '.':
    case '.?':
    case '[]':
    case '[?]':
      return pathReference(node, scope);
    case '?:': {
      const [test, ...branches] = node.args;
      return [...walk(test, scope), ...walkAll(branches, optional(scope))];
    }
    case '&&':
    case '||':
      return [...walk(node.args[0], scope), ...walk(node.args[1], optional(scope))];
    case 'call':
      return walkAll(node.args[1], node.args[0] === 'has' ? optional(scope) : scope);
    case 'rcall':
      return callReferences(node, scope);
    default:
      return walkAll(nodesIn(node.args), scope);
  }
}

function optional(scope: Walk): Walk {
  return { ...scope, isRequired: false };
}

function walkAll(nodes: readonly CelNode[], scope: Walk): readonly CelReference[] {
  return nodes.flatMap((each) => walk(each, scope));
}

/** Bodies of macros may be evaluated for no element. */
function callReferences(node: CelNode & { op: 'rcall' }, scope: Walk): readonly CelReference[] {
  const [, target, args] = node.args;
  const [first] = args;
  const isMacro = args.length > 1 && first?.op === 'id';
  if (!isMacro) return [...walk(target, scope), ...walkAll(args, scope)];
  const names = args.slice(0, -1).flatMap((each) => (each.op === 'id' ? [each.args] : []));
  const inner = { isRequired: false, own: new Set([...scope.own, ...names]) };
  return [...walk(target, scope), ...walkAll(args, inner)];
}

function pathReference(node: CelNode, scope: Walk): readonly CelReference[] {
  const path: string[] = [];
  const indexes: CelNode[] = [];
  let isRequired = scope.isRequired;
  let at = node;
  for (;;) {
    if (at.op === '.' || at.op === '.?') {
      if (at.op === '.?') isRequired = false;
      path.unshift(String(at.args[1]));
    } else if (at.op === '[]' || at.op === '[?]') {
      if (at.op === '[?]') isRequired = false;
      path.length = 0;
      indexes.push(at.args[1]);
    } else break;
    at = at.args[0];
  }
  const rest = walkAll(indexes, scope);
  if (at.op !== 'id') return [...walk(at, scope), ...rest];
  if (scope.own.has(at.args)) return rest;
  return [{ variable: at.args, path, isRequired, node }, ...rest];
}

function nodesIn(args: unknown): readonly CelNode[] {
  if (Array.isArray(args)) return args.flatMap(nodesIn);
  return isNode(args) ? [args] : [];
}

function isNode(value: unknown): value is CelNode {
  return typeof value === 'object' && value !== null && 'op' in value && 'args' in value;
}
