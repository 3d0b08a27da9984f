import type { KubeObject } from '../../util/kube-object.ts';
import { objectState } from './object-state.ts';
import type { TreeNode } from './object-tree.ts';

interface Line {
  readonly label: string;
  readonly state: string;
}

/** A tree as text: one line for each object, its state in a column of its own. */
export function treeLines(nodes: readonly TreeNode[]): readonly string[] {
  const lines: Line[] = [];
  for (const { object, children } of nodes) {
    lines.push({ label: rootLabel(object), state: objectState(object) });
    addChildren(children, '', lines);
  }
  const width = Math.max(0, ...lines.map(({ label }) => label.length));
  return lines.map(({ label, state }) =>
    state === '' ? label : `${label.padEnd(width)}  ${state}`,
  );
}

function addChildren(nodes: readonly TreeNode[], indent: string, lines: Line[]): void {
  for (const [index, { object, children }] of nodes.entries()) {
    const isLast = index === nodes.length - 1;
    const branch = isLast ? '\u2514\u2500 ' : '\u251c\u2500 ';
    lines.push({ label: `${indent}${branch}${nameOf(object)}`, state: objectState(object) });
    addChildren(children, `${indent}${isLast ? '   ' : '\u2502  '}`, lines);
  }
}

/** `Deployment web`. */
export function nameOf({ kind, metadata }: KubeObject): string {
  return `${kind} ${metadata.name}`;
}

/** `PodSet default/web`. */
export function rootLabel({ kind, metadata }: KubeObject): string {
  const { namespace, name } = metadata;
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}
