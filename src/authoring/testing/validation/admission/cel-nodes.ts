import type { CelNode } from '#sandbox';

/** The nodes in the arguments of a node. */
export function nodesIn(args: unknown): readonly CelNode[] {
  if (Array.isArray(args)) return args.flatMap(nodesIn);
  return typeof args === 'object' && args !== null && 'op' in args ? [args as CelNode] : [];
}
