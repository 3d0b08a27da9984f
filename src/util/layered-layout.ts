/** A node to place. Its text is measured by the caller. */
interface LayoutNode {
  readonly id: string;
  readonly width: number;
  readonly height: number;
  /** The first layer that it may be in. @default 0 */
  readonly minLayer?: number;
  /** Alone in the last layer. At most one node. */
  readonly isLast?: boolean;
}

interface LayoutEdge {
  readonly from: string;
  readonly to: string;
  /** Does not count for the order of layers, and may lead back. */
  readonly isDotted: boolean;
}

interface LayoutGraph<Node extends LayoutNode, Edge extends LayoutEdge> {
  readonly nodes: readonly Node[];
  readonly edges: readonly Edge[];
}

/** A node with its place; x and y are those of its upper left corner. */
export type PlacedNode<Node extends LayoutNode> = Node & { readonly x: number; readonly y: number };

/**
 * An edge with the points that it passes: from the right side of a node to the left side of a later one, the other way round if it leads back,
 * and from right to right between nodes of one layer.
 */
export type PlacedEdge<Edge extends LayoutEdge> = Edge & { readonly points: readonly Point[] };

interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Layout<Node extends LayoutNode, Edge extends LayoutEdge> {
  readonly nodes: readonly PlacedNode<Node>[];
  readonly edges: readonly PlacedEdge<Edge>[];
  readonly width: number;
  readonly height: number;
}

/** Of an edge that passes a layer. */
const passageHeight = 10;
const rowGap = 16;
const layerGap = 56;
const sweeps = 4;

/** The width of a layer, where a node or a passage is. */
interface Span {
  readonly left: number;
  readonly right: number;
  readonly y: number;
}

/** A place in a layer: a node, or where an edge passes that ends in a later layer. */
interface Slot<Node extends LayoutNode> {
  readonly key: string;
  readonly node: Node | undefined;
  readonly height: number;
}

/**
 * Places a graph in layers from left to right: each node is right of all that it reads. Edges of `observed` may lead back and do not count.
 */
export function layOut<Node extends LayoutNode, Edge extends LayoutEdge>({
  nodes,
  edges,
}: LayoutGraph<Node, Edge>): Layout<Node, Edge> {
  const layerOf = layersOf(nodes, edges);
  const layers = slotsOf(nodes, layerOf);
  const chains = edges.map((edge) => ({ edge, keys: addPassages(edge, layerOf, layers) }));
  order(layers, neighborsOf(chains.map(({ keys }) => keys)));
  const heights = layers.map(heightOf);
  const height = Math.max(...heights);
  const spans = new Map<string, Span>();
  const placed: PlacedNode<Node>[] = [];
  let x = 0;
  for (const [index, slots] of layers.entries()) {
    const width = Math.max(...slots.map(({ node }) => node?.width ?? 0));
    let y = (height - (heights[index] ?? 0)) / 2;
    for (const slot of slots) {
      spans.set(slot.key, { left: x, right: x + width, y: y + slot.height / 2 });
      if (slot.node !== undefined) placed.push({ ...slot.node, x, y, width });
      y += slot.height + rowGap;
    }
    x += width + layerGap;
  }
  const byId = new Map(placed.map((node) => [node.id, node]));
  return {
    nodes: placed,
    edges: chains.flatMap(({ edge, keys }) => placedEdge(edge, keys, { byId, spans })),
    width: x - layerGap,
    height,
  };
}

/** The length of the longest way to each node. */
function layersOf(
  nodes: readonly LayoutNode[],
  edges: readonly LayoutEdge[],
): ReadonlyMap<string, number> {
  const layers = new Map(nodes.map(({ id }) => [id, 0]));
  const solid = edges.filter(({ isDotted, from }) => !isDotted && layers.has(from));
  for (let round = 0; round < nodes.length; round++)
    for (const { from, to } of solid)
      layers.set(to, Math.max(layers.get(to) ?? 0, (layers.get(from) ?? 0) + 1));
  for (const { id, minLayer = 0 } of nodes) layers.set(id, Math.max(layers.get(id) ?? 0, minLayer));
  const last = Math.max(...layers.values());
  const isAlone = [...layers.values()].filter((layer) => layer === last).length === 1;
  const closing = nodes.find(({ isLast }) => isLast === true);
  if (closing !== undefined && !(layers.get(closing.id) === last && isAlone))
    layers.set(closing.id, last + 1);
  return layers;
}

function slotsOf<Node extends LayoutNode>(
  nodes: readonly Node[],
  layerOf: ReadonlyMap<string, number>,
): Slot<Node>[][] {
  const layers: Slot<Node>[][] = Array.from(
    { length: Math.max(...layerOf.values()) + 1 },
    () => [],
  );
  for (const node of nodes)
    layers[layerOf.get(node.id) ?? 0]?.push({ key: node.id, node, height: node.height });
  return layers.filter((slots) => slots.length > 0);
}

/** Adds a passage to each layer between the ends of an edge. Returns the keys that the edge passes, its ends included. */
function addPassages<Node extends LayoutNode>(
  edge: LayoutEdge,
  layerOf: ReadonlyMap<string, number>,
  layers: Slot<Node>[][],
): readonly string[] {
  const { from, to, isDotted } = edge;
  const start = layerOf.get(from) ?? 0;
  const end = layerOf.get(to) ?? 0;
  const keys = [from];
  const step = end < start ? -1 : 1;
  for (let layer = start + step; layer !== end && start !== end; layer += step) {
    const key = `${from} ${to} ${isDotted} ${layer}`;
    layers[layer]?.push({ key, node: undefined, height: passageHeight });
    keys.push(key);
  }
  return [...keys, to];
}

function neighborsOf(chains: readonly (readonly string[])[]): ReadonlyMap<string, string[]> {
  const neighbors = new Map<string, string[]>();
  const add = (key: string, other: string) =>
    neighbors.set(key, [...(neighbors.get(key) ?? []), other]);
  for (const keys of chains)
    for (const [index, key] of keys.entries()) {
      const next = keys[index + 1];
      if (next === undefined) continue;
      add(key, next);
      add(next, key);
    }
  return neighbors;
}

/** Orders each layer by the mean position of the neighbors, forth and back: fewer edges cross. */
function order<Node extends LayoutNode>(
  layers: Slot<Node>[][],
  neighbors: ReadonlyMap<string, string[]>,
): void {
  for (let sweep = 0; sweep < sweeps; sweep++) {
    const indexes = layers.map((_, index) => index);
    for (const index of sweep % 2 === 0 ? indexes : indexes.reverse()) {
      const positions = new Map<string, number>();
      for (const slots of layers)
        for (const [position, { key }] of slots.entries())
          positions.set(key, (position + 0.5) / slots.length);
      const meanOf = ({ key }: Slot<Node>) => {
        const around = neighbors.get(key) ?? [key];
        return around.reduce((sum, each) => sum + (positions.get(each) ?? 0), 0) / around.length;
      };
      const slots = layers[index] ?? [];
      const means = new Map(slots.map((slot) => [slot.key, meanOf(slot)]));
      slots.sort((a, b) => (means.get(a.key) ?? 0) - (means.get(b.key) ?? 0));
    }
  }
}

function heightOf(slots: readonly { readonly height: number }[]): number {
  return slots.reduce((sum, { height }) => sum + height + rowGap, -rowGap);
}

interface Places {
  readonly byId: ReadonlyMap<string, PlacedNode<LayoutNode>>;
  readonly spans: ReadonlyMap<string, Span>;
}

function placedEdge<Edge extends LayoutEdge>(
  edge: Edge,
  keys: readonly string[],
  { byId, spans }: Places,
): readonly PlacedEdge<Edge>[] {
  const from = byId.get(edge.from);
  const to = byId.get(edge.to);
  if (from === undefined || to === undefined) return [];
  const isBack = to.x < from.x;
  const passages = keys.slice(1, -1).flatMap((key) => {
    const span = spans.get(key);
    if (span === undefined) return [];
    const { left, right, y } = span;
    return isBack
      ? [
          { x: right, y },
          { x: left, y },
        ]
      : [
          { x: left, y },
          { x: right, y },
        ];
  });
  const start = { x: isBack ? from.x : from.x + from.width, y: from.y + from.height / 2 };
  const isBeside = to.x === from.x;
  const end = { x: isBack || isBeside ? to.x + to.width : to.x, y: to.y + to.height / 2 };
  return [{ ...edge, points: [start, ...passages, end] }];
}
