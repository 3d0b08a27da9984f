import { gvkKey, gvkOf } from '../../util/gvk.ts';
import { isJsonObject } from '../../util/json.ts';
import type { KubeObject } from '../../util/kube-object.ts';
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

interface Entry {
  /** Key of the kind at the top. */
  readonly rootKind: string;
  readonly path: string;
  readonly state: string;
}

/** The printed line of each object, by UID. */
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
  for (const [uid, { path, state }] of next) {
    const before = printed.get(uid);
    if (before === undefined) lines.push(lineOf('+', path, state));
    else if (before.state !== state) lines.push(lineOf('~', path, state));
  }
  for (const [uid, { rootKind, path }] of printed)
    if (!next.has(uid) && rootKinds.has(rootKind)) lines.push(lineOf('-', path, ''));
  return { lines, printed: next };
}

function kindKey({ apiVersion, kind }: KubeObject): string {
  return gvkKey(gvkOf(apiVersion, kind));
}

function collect(
  { object, children }: TreeNode,
  { rootKind, path }: Omit<Entry, 'state'>,
  into: Map<string, Entry>,
): void {
  into.set(object.metadata.uid ?? path, { rootKind, path, state: objectState(object) });
  for (const child of children)
    collect(child, { rootKind, path: `${path} > ${nameOf(child.object)}` }, into);
}

function lineOf(sign: string, path: string, state: string): string {
  return `${sign} ${path}${state === '' ? '' : `: ${state}`}`;
}

type Fields = Readonly<Record<string, unknown>>;

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

function conditionState(status: Fields): string {
  const ready = conditionOf(status, 'Ready') ?? conditionOf(status, 'Available');
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
