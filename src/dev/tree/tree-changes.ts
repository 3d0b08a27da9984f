import { objectState } from './object-state.ts';
import type { TreeNode } from './object-tree.ts';
import { nameOf, rootLabel } from './tree-lines.ts';

interface Entry {
  readonly path: string;
  readonly state: string;
}

/** What was told of each object, by uid. */
export type ToldTree = ReadonlyMap<string, Entry>;

/** What a reader who has seen one tree must be told to know another: one line for each object that came, changed or went. */
export function treeChanges(
  told: ToldTree,
  nodes: readonly TreeNode[],
): { readonly lines: readonly string[]; readonly told: ToldTree } {
  const next = new Map<string, Entry>();
  for (const node of nodes) collect(node, rootLabel(node.object), next);
  const lines: string[] = [];
  for (const [uid, { path, state }] of next) {
    const before = told.get(uid);
    if (before === undefined) lines.push(lineOf('+', path, state));
    else if (before.state !== state) lines.push(lineOf('~', path, state));
  }
  for (const [uid, { path }] of told) if (!next.has(uid)) lines.push(lineOf('-', path, ''));
  return { lines, told: next };
}

function collect({ object, children }: TreeNode, path: string, into: Map<string, Entry>): void {
  into.set(object.metadata.uid ?? path, { path, state: objectState(object) });
  for (const child of children) collect(child, `${path} > ${nameOf(child.object)}`, into);
}

function lineOf(sign: string, path: string, state: string): string {
  return `${sign} ${path}${state === '' ? '' : `: ${state}`}`;
}
