import type { LiveNode } from '../model/live-tree.ts';
import { placeOf } from '../model/object-summary.ts';
import { type PlacedBranch, placeTree } from '../model/tree-layout.ts';
import { h, type VNode } from '../preact.ts';
import { glyph } from './elements.ts';

export interface TreeViewOptions {
  readonly root: LiveNode;
  /** Id of the selected node. */
  readonly selected: string;
  /** Ids of nodes that the selected reconcile wrote. */
  readonly touched: ReadonlySet<string>;
  /** Address that selects a node. */
  readonly hrefOf: (node: LiveNode) => string;
  /** On a narrow window: an indented list. */
  readonly isNarrow: boolean;
}

const sizes = { nodeWidth: 264, nodeHeight: 44, columnGap: 24, rowGap: 8 };

/** The live tree: a column for each level, or an indented list on a narrow window. Nodes are links that select them. */
export function treeView(options: TreeViewOptions): VNode {
  return options.isNarrow ? listView(options) : columnsView(options);
}

function columnsView(options: TreeViewOptions): VNode {
  const { nodes, width, height } = placeTree(options.root, sizes);
  const places = new Map(nodes.map((placed) => [placed.node, placed]));
  return h(
    'div',
    { class: 'tree' },
    h(
      'div',
      { class: 'canvas', style: { width: `${width + 2}px`, height: `${height + 2}px` } },
      h(
        'svg',
        { width, height, 'aria-hidden': true },
        nodes.map((placed) => edge(placed, places)),
      ),
      nodes.map(({ node, x, y }) =>
        h(
          'a',
          {
            ...attributesOf(node, options),
            style: {
              left: `${x}px`,
              top: `${y}px`,
              width: `${sizes.nodeWidth}px`,
              height: `${sizes.nodeHeight}px`,
            },
          },
          contentOf(node),
        ),
      ),
    ),
  );
}

function listView(options: TreeViewOptions): VNode {
  const item = (node: LiveNode): VNode =>
    h(
      'li',
      { key: node.id },
      h('a', attributesOf(node, options), contentOf(node)),
      node.children.length === 0 ? null : h('ul', null, node.children.map(item)),
    );
  return h('ul', { class: 'tree list' }, item(options.root));
}

function attributesOf(node: LiveNode, { selected, touched, hrefOf }: TreeViewOptions) {
  const classes = [
    'node',
    node.health,
    ...(node.object === undefined ? ['absent'] : []),
    ...(node.object?.metadata.deletionTimestamp === undefined ? [] : ['deleting']),
    ...(touched.has(node.id) ? ['touched'] : []),
  ];
  const isSelected = node.id === selected;
  return {
    key: node.id,
    'data-row': '',
    href: hrefOf(node),
    class: classes.join(' '),
    title: node.message,
    ...(isSelected && { 'aria-current': 'true' as const }),
  };
}

function contentOf({ ref, health, state, hidden }: LiveNode): readonly VNode[] {
  return [
    h(
      'span',
      { class: 'what', key: 'what' },
      h('span', { class: 'kind' }, ref.kind),
      ' ',
      ref.name,
    ),
    h(
      'span',
      { class: `state ${health}`, key: 'state' },
      glyph(health),
      ` ${state}`,
      hidden > 0 ? ` (${hidden} not shown)` : '',
    ),
  ];
}

function edge(
  { node, parent, x, y }: PlacedBranch<LiveNode>,
  places: ReadonlyMap<LiveNode, PlacedBranch<LiveNode>>,
): VNode | null {
  const from = parent === undefined ? undefined : places.get(parent);
  if (from === undefined) return null;
  const start = { x: from.x + sizes.nodeWidth, y: from.y + sizes.nodeHeight / 2 };
  const end = { x, y: y + sizes.nodeHeight / 2 };
  const bend = (start.x + end.x) / 2;
  const d = `M${start.x} ${start.y}C${bend} ${start.y} ${bend} ${end.y} ${end.x} ${end.y}`;
  return h('path', { key: node.id, class: node.object === undefined ? 'dotted' : '', d });
}

/** `Deployment shop/site`. */
export function titleOf({ ref }: LiveNode): string {
  return `${ref.kind} ${placeOf(ref)}`;
}
