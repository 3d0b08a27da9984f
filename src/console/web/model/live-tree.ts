import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { buildTree, type TreeNode } from '#util/object-tree/object-tree.ts';
import type { ChildView, ResourceRef } from '../contract.ts';
import {
  childHealth,
  type Health,
  healthOrder,
  messageText,
  refOf,
  summaryOf,
  textOf,
} from './object-summary.ts';

/** An object of the live tree, or a child that does not exist. */
export interface LiveNode {
  /** `Kind/namespace/name`: names the node in addresses. */
  readonly id: string;
  readonly ref: ResourceRef;
  /** Undefined: it does not exist. */
  readonly object: KubeObject | undefined;
  readonly health: Health;
  readonly state: string;
  readonly message: string;
  readonly children: readonly LiveNode[];
  /** Objects that are left out, of a long list of children. */
  readonly hidden: number;
}

/** More children of one kind are folded. */
const maxOfKind = 12;

/**
 * The resource with all that it owns. Children that do not exist are included, with the reason.
 * @param objects of the kinds of children and of what they create
 * @param children what the last reconcile or an explanation decided
 * @param isFolded whether long lists of children are cut; failing ones are kept
 */
export function liveTree(
  resource: KubeObject,
  objects: readonly KubeObject[],
  {
    children = [],
    isFolded,
  }: { readonly children?: readonly ChildView[]; readonly isFolded: boolean },
): LiveNode {
  const [root] = buildTree([resource], objects);
  const tree = root ?? { object: resource, children: [] };
  const node = liveNode(tree, isFolded);
  const present = new Set(node.children.map(({ id }) => id));
  const absent = [...absentChildren(resource), ...children.flatMap(explainedChild)];
  const added = new Map<string, LiveNode>();
  for (const child of absent) if (!present.has(child.id)) added.set(child.id, child);
  return { ...node, children: [...node.children, ...added.values()] };
}

/** Identifies a node: `Deployment/shop/site`. */
export function nodeId({ kind, namespace = '', name }: ResourceRef): string {
  return [kind, namespace, name].join('/');
}

/** The node with that id in a tree. */
export function findNode(node: LiveNode, id: string): LiveNode | undefined {
  if (node.id === id) return node;
  for (const child of node.children) {
    const found = findNode(child, id);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** All nodes, a parent before its children. */
export function nodesOf(node: LiveNode): readonly LiveNode[] {
  return [node, ...node.children.flatMap(nodesOf)];
}

function liveNode({ object, failure, children }: TreeNode, isFolded: boolean): LiveNode {
  const ref = refOf(object);
  const nodes = children.map((child) => liveNode(child, isFolded));
  const shown = isFolded ? fold(nodes) : nodes;
  const doesExist = object.metadata.uid !== undefined;
  const summary = doesExist
    ? summaryOf(object)
    : { health: 'failing' as const, state: 'Failed', message: '' };
  return {
    id: nodeId(ref),
    ref,
    object: doesExist ? object : undefined,
    ...summary,
    ...(failure !== undefined && {
      health: 'failing' as const,
      state: 'Failed',
      message: messageText(failure.message),
    }),
    children: shown,
    hidden: nodes.length - shown.length,
  };
}

/** Of each kind the most severe ones, in the order of the list. */
function fold(nodes: readonly LiveNode[]): readonly LiveNode[] {
  const kept = new Set(
    [...Map.groupBy(nodes, ({ ref }) => ref.kind).values()].flatMap((group) =>
      group.toSorted((a, b) => healthOrder[a.health] - healthOrder[b.health]).slice(0, maxOfKind),
    ),
  );
  return nodes.filter((node) => kept.has(node));
}

/** Children of `status.children` that have no object. */
function absentChildren({ status }: KubeObject): readonly LiveNode[] {
  const children = isJsonObject(status) && Array.isArray(status.children) ? status.children : [];
  return children.filter(isJsonObject).map((child) => {
    const state = textOf(child.state);
    const namespace = textOf(child.namespace);
    return absentNode(
      {
        apiVersion: textOf(child.apiVersion),
        kind: textOf(child.kind),
        name: textOf(child.name) || textOf(child.id),
        ...(namespace !== '' && { namespace }),
      },
      { state, message: messageText(child.message), health: childHealth(state) },
    );
  });
}

function explainedChild(child: ChildView): readonly LiveNode[] {
  const { apiVersion, kind, namespace, name, id, verdict, state, message } = child;
  const ref = { apiVersion, kind, name: name || id, ...(namespace !== '' && { namespace }) };
  if (verdict === 'omitted')
    return [
      absentNode(ref, { state: 'Not wanted', message: 'Its "when" is false', health: 'unknown' }),
    ];
  return verdict === 'unchanged' || verdict === 'pruned'
    ? []
    : [absentNode(ref, { state, message: messageText(message), health: childHealth(state) })];
}

function absentNode(
  ref: ResourceRef,
  summary: Pick<LiveNode, 'state' | 'message' | 'health'>,
): LiveNode {
  return { id: nodeId(ref), ref, object: undefined, ...summary, children: [], hidden: 0 };
}
