import { callOf, type SyntaxNode } from './syntax-tree.ts';

/** Name of a function that only this rewriting calls; no expression can name it: it has a space. */
export const reachedName = ' reached';

/**
 * Replaces every marked node, in place, by `( reached(label); node )`. Gives what the nodes are marked with; a label is
 * the index in there. Comes before all other rewriting.
 */
export function insertProbes<T>(marks: ReadonlyMap<SyntaxNode, T>): readonly T[] {
  for (const [label, node] of [...marks.keys()].entries()) {
    const original = { ...node };
    for (const key of Object.keys(node)) delete (node as unknown as Record<string, unknown>)[key];
    const call = callOf(reachedName, [{ type: 'value', value: label }]);
    Object.assign(node, { type: 'block', expressions: [call, original] });
  }
  return [...marks.values()];
}
