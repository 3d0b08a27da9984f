import type { CelNode } from '#sandbox';

/** The nodes in the arguments of a node. */
export function nodesIn(args: unknown): readonly CelNode[] {
  if (Array.isArray(args)) return args.flatMap(nodesIn);
  return isCelNode(args) ? [args] : [];
}

export function isCelNode(value: unknown): value is CelNode {
  return typeof value === 'object' && value !== null && 'op' in value;
}
