import { plainPathOf } from './fast-path.ts';
import type { Reference } from './leaf.ts';
import { firstPosition, type SyntaxNode, walk } from './syntax-tree.ts';
import { startOf, type Token } from './tokens.ts';

/** Marks the references to `vars` that no path `vars.<name>` stands for; see {@link Reference.isIndirect}. */
export function markIndirect(
  references: readonly Reference[],
  tree: SyntaxNode,
  tokens: readonly Token[],
): readonly Reference[] {
  if (!references.some(({ root }) => root === 'vars')) return references;
  const direct = new Set<number>();
  for (const node of walk(tree)) {
    if (beginsAtVar(node)) direct.add(startOf(tokens, firstPosition(node)));
  }
  // What may read everything is reported for that.
  for (const { root, path, offset } of references) {
    if (root === 'resource' && path.length === 0) direct.add(offset);
  }
  return references.map((reference) =>
    reference.root === 'vars' && !direct.has(reference.offset)
      ? { ...reference, isIndirect: true }
      : reference,
  );
}

/** `vars.<name>`, `$$.vars.<name>`, whatever follows. */
function beginsAtVar({ type, steps = [] }: SyntaxNode): boolean {
  if (type !== 'path') return false;
  const length = steps[0]?.type === 'variable' ? 2 : 1;
  const path = plainPathOf({ type: 'path', steps: steps.slice(0, length) });
  if (path?.variable !== '$' || path.steps.length !== 1 || path.steps[0] !== 'vars') return false;
  return steps[length]?.type === 'name';
}
