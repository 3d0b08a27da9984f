import { gvkKey, gvkOf } from '../../util/gvk.ts';
import { isJsonObject } from '../../util/json.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import type { TreeNode } from './object-tree.ts';

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
  const own = doesExist(object) ? objectState(object) : '';
  if (failure !== undefined)
    return { state: own === '' ? 'failed' : `${own}, failed`, message: failure.message };
  // The failed children below have the same message.
  const isExplained = children.some((child) => child.failure !== undefined);
  return { state: own, message: isExplained ? '' : messageOf(object) };
}

function doesExist({ metadata }: KubeObject): boolean {
  return metadata.uid !== undefined;
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

type Fields = Readonly<Record<string, unknown>>;

/** Built-in kinds whose state is not a condition. */
const kindsWithState: ReadonlySet<string> = new Set([
  ...['Deployment', 'ReplicaSet', 'StatefulSet', 'DaemonSet', 'Pod', 'Job'],
]);

/** The state of an object in a few words; empty if the object has none. */
export function objectState(object: KubeObject): string {
  if (object.metadata.deletionTimestamp !== undefined) return 'being deleted';
  const spec = fieldsOf(object.spec);
  const status = fieldsOf(object.status);
  switch (object.kind) {
    case 'Deployment':
    case 'ReplicaSet':
    case 'StatefulSet':
      return `${status.readyReplicas ?? 0}/${spec.replicas ?? 1} ready`;
    case 'DaemonSet':
      return `${status.numberReady ?? 0}/${status.desiredNumberScheduled ?? 0} ready`;
    case 'Pod':
      return podState(status);
    case 'Job':
      return jobState(status);
    default:
      return conditionState(status);
  }
}

function podState(status: Fields): string {
  const phase = String(status.phase ?? '');
  const ready = conditionOf(status, 'Ready');
  return phase === 'Running' && ready?.status === 'False' ? 'Running, not ready' : phase;
}

function jobState(status: Fields): string {
  for (const type of ['Complete', 'Failed', 'Suspended']) {
    if (conditionOf(status, type)?.status === 'True') return type;
  }
  return `${status.active ?? 0} active`;
}

/** Why a custom resource is not ready; empty if it is ready or gives no reason. */
function messageOf({ kind, metadata, status }: KubeObject): string {
  if (kindsWithState.has(kind) || metadata.deletionTimestamp !== undefined) return '';
  const ready = readinessOf(fieldsOf(status));
  const isStuck = ready?.status === 'False' && ready.reason !== 'Progressing';
  return isStuck && typeof ready.message === 'string' ? ready.message : '';
}

function readinessOf(status: Fields): Fields | undefined {
  return conditionOf(status, 'Ready') ?? conditionOf(status, 'Available');
}

function conditionState(status: Fields): string {
  const ready = readinessOf(status);
  if (ready === undefined) return typeof status.phase === 'string' ? status.phase : '';
  const reason = typeof ready.reason === 'string' ? ready.reason : '';
  if (ready.status === 'True') return String(ready.type);
  return `not ${ready.type}${reason === '' ? '' : `: ${reason}`}`;
}

function conditionOf({ conditions }: Fields, type: string): Fields | undefined {
  if (!Array.isArray(conditions)) return undefined;
  return conditions.filter(isJsonObject).find((condition) => condition.type === type);
}

function fieldsOf(value: unknown): Fields {
  return isJsonObject(value) ? value : {};
}
