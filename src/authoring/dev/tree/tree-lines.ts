import { gvkKey, gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { objectState, unreadyMessage } from '#util/object-tree/object-state.ts';
import type { TreeNode } from '#util/object-tree/object-tree.ts';
import { printableLine } from '#util/printable-text.ts';

interface Line {
  readonly label: string;
  readonly state: string;
  /** Before each line of the message. */
  readonly indent: string;
  /** Why the object is not ready, on lines of its own; may be empty. */
  readonly message: string;
}

/**
 * A tree as text: one line for each object, its state in a column of its own, and below it why it is not ready.
 * @param columns messages wrap at this width. @default they do not wrap
 */
export function treeLines(nodes: readonly TreeNode[], columns = Infinity): readonly string[] {
  const lines: Line[] = [];
  for (const node of nodes) {
    const bar = node.children.length > 0 ? '\u2502  ' : '   ';
    lines.push({ label: rootLabel(node.object), ...stateOf(node), indent: bar });
    addChildren(node.children, '', lines);
  }
  const width = Math.max(0, ...lines.map(({ label }) => label.length));
  return lines.flatMap(({ label, state, indent, message }) => [
    state === '' ? label : `${label.padEnd(width)}  ${state}`,
    ...wrapText(message, columns - indent.length - 1).map((text) => `${indent}${text}`),
  ]);
}

function addChildren(nodes: readonly TreeNode[], indent: string, lines: Line[]): void {
  for (const [index, node] of nodes.entries()) {
    const isLast = index === nodes.length - 1;
    const branch = isLast ? '\u2514\u2500 ' : '\u251c\u2500 ';
    const below = `${indent}${isLast ? '   ' : '\u2502  '}`;
    const bar = node.children.length > 0 ? '\u2502  ' : '   ';
    lines.push({
      label: `${indent}${branch}${nameOf(node.object)}`,
      ...stateOf(node),
      indent: below + bar,
    });
    addChildren(node.children, below, lines);
  }
}

/** The lines of a text, broken at spaces where possible. None for an empty text. */
function wrapText(text: string, width: number): readonly string[] {
  if (text === '') return [];
  if (text.length <= width || width < 20) return [text];
  const space = text.lastIndexOf(' ', width);
  const end = space > 0 ? space : width;
  return [text.slice(0, end), ...wrapText(text.slice(end).trimStart(), width)];
}

/** The state in a few words, and the reason for it, which may be empty. */
function stateOf({ object, failure, children }: TreeNode): Pick<Line, 'state' | 'message'> {
  const own = doesExist(object) ? printableLine(objectState(object)) : '';
  if (failure !== undefined)
    return {
      state: own === '' ? 'failed' : `${own}, failed`,
      message: printableLine(failure.message),
    };
  // The failed children below have the same message.
  const isExplained = children.some((child) => child.failure !== undefined);
  return { state: own, message: isExplained ? '' : printableLine(unreadyMessage(object)) };
}

function doesExist({ metadata }: KubeObject): boolean {
  return metadata.uid !== undefined;
}

/** `Deployment web`. */
export function nameOf({ kind, metadata }: KubeObject): string {
  return printableLine(`${kind} ${metadata.name}`);
}

/** `PodSet default/web`. */
export function rootLabel({ kind, metadata }: KubeObject): string {
  const { namespace, name } = metadata;
  return printableLine(`${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`);
}

interface Entry {
  readonly exists: boolean;
  /** Key of the kind at the top. */
  readonly rootKind: string;
  readonly path: string;
  readonly state: string;
}

/** The printed line of each object by UID, and of each failed child that does not exist by path. */
export type PrintedTree = ReadonlyMap<string, Entry>;

/**
 * The lines that lead from one printed tree to the next: one for each object that was added, changed or deleted. Objects of a kind that is
 * no longer watched still exist, so nothing is printed of them. `rootKinds`: keys of the watched kinds at the top.
 */
export function treeChanges(
  printed: PrintedTree,
  nodes: readonly TreeNode[],
  rootKinds: ReadonlySet<string>,
): { readonly lines: readonly string[]; readonly printed: PrintedTree } {
  const next = new Map<string, Entry>();
  for (const node of nodes)
    collect(node, { rootKind: kindKey(node.object), path: rootLabel(node.object) }, next);
  const lines: string[] = [];
  for (const [key, { path, state, exists }] of next) {
    const before = printed.get(key);
    if (before === undefined) lines.push(lineOf(exists ? '+' : '~', path, state));
    else if (before.state !== state) lines.push(lineOf('~', path, state));
  }
  for (const [key, { rootKind, path, exists }] of printed)
    if (!next.has(key) && exists && rootKinds.has(rootKind)) lines.push(lineOf('-', path, ''));
  return { lines, printed: next };
}

function kindKey({ apiVersion, kind }: KubeObject): string {
  return gvkKey(gvkOf(apiVersion, kind));
}

function collect(
  node: TreeNode,
  { rootKind, path }: Pick<Entry, 'rootKind' | 'path'>,
  into: Map<string, Entry>,
): void {
  const { object, children } = node;
  const { state, message } = stateOf(node);
  const text = [state, message].filter((part) => part !== '').join(': ');
  const exists = doesExist(object);
  into.set(object.metadata.uid ?? path, { rootKind, path, state: text, exists });
  for (const child of children)
    collect(child, { rootKind, path: `${path} > ${nameOf(child.object)}` }, into);
}

function lineOf(sign: string, path: string, state: string): string {
  return `${sign} ${path}${state === '' ? '' : `: ${state}`}`;
}
