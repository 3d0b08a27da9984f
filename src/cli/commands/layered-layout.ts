import type { Graph, GraphEdge, GraphNode } from './explanation-graph.ts';

/** A node with its place; x and y are those of its upper left corner. */
export interface PlacedNode extends GraphNode {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/**
 * An edge with the points that it passes: from the right side of a node to the left side of a later one, the other way round if it leads back,
 * and from right to right between nodes of one layer.
 */
export interface PlacedEdge extends GraphEdge {
  readonly points: readonly Point[];
}

interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Layout {
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly PlacedEdge[];
  readonly width: number;
  readonly height: number;
}

const nodeHeight = 44;
/** Of an edge that passes a layer. */
const passageHeight = 10;
const rowGap = 16;
const layerGap = 56;
/** A character of the font, on average; texts are not measured. */
const characterWidth = 7.4;
const sweeps = 4;

/** The width of a layer, where a node or a passage is. */
interface Span {
  readonly left: number;
  readonly right: number;
  readonly y: number;
}

/** A place in a layer: a node, or where an edge passes that ends in a later layer. */
interface Slot {
  readonly key: string;
  readonly node: GraphNode | undefined;
  readonly height: number;
}

/**
 * Places a graph in layers from left to right: each node is right of all that it reads. Edges of `observed` may lead back and do not count.
 */
export function layOut({ nodes, edges }: Graph): Layout {
  const layerOf = layersOf(nodes, edges);
  const layers = slotsOf(nodes, layerOf);
  const chains = edges.map((edge) => ({ edge, keys: addPassages(edge, layerOf, layers) }));
  order(layers, neighborsOf(chains.map(({ keys }) => keys)));
  const heights = layers.map(heightOf);
  const height = Math.max(...heights);
  const spans = new Map<string, Span>();
  const placed: PlacedNode[] = [];
  let x = 0;
  for (const [index, slots] of layers.entries()) {
    const width = Math.max(...slots.map(({ node }) => (node === undefined ? 0 : widthOf(node))));
    let y = (height - (heights[index] ?? 0)) / 2;
    for (const slot of slots) {
      spans.set(slot.key, { left: x, right: x + width, y: y + slot.height / 2 });
      if (slot.node !== undefined) placed.push({ ...slot.node, x, y, width, height: slot.height });
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

/** The length of the longest way to each node; the status is the last. */
function layersOf(
  nodes: readonly GraphNode[],
  edges: readonly GraphEdge[],
): ReadonlyMap<string, number> {
  const layers = new Map(nodes.map(({ id }) => [id, 0]));
  const solid = edges.filter(({ isDotted, from }) => !isDotted && layers.has(from));
  for (let round = 0; round < nodes.length; round++)
    for (const { from, to } of solid)
      layers.set(to, Math.max(layers.get(to) ?? 0, (layers.get(from) ?? 0) + 1));
  for (const { id, shape } of nodes)
    if (shape !== 'resource') layers.set(id, Math.max(layers.get(id) ?? 0, 1));
  const last = Math.max(...layers.values());
  const isAlone = [...layers.values()].filter((layer) => layer === last).length === 1;
  if (layers.has('status') && !(layers.get('status') === last && isAlone))
    layers.set('status', last + 1);
  return layers;
}

function slotsOf(nodes: readonly GraphNode[], layerOf: ReadonlyMap<string, number>): Slot[][] {
  const layers: Slot[][] = Array.from({ length: Math.max(...layerOf.values()) + 1 }, () => []);
  for (const node of nodes)
    layers[layerOf.get(node.id) ?? 0]?.push({ key: node.id, node, height: nodeHeight });
  return layers.filter((slots) => slots.length > 0);
}

/** Adds a passage to each layer between the ends of an edge. Returns the keys that the edge passes, its ends included. */
function addPassages(
  edge: GraphEdge,
  layerOf: ReadonlyMap<string, number>,
  layers: Slot[][],
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
function order(layers: Slot[][], neighbors: ReadonlyMap<string, string[]>): void {
  for (let sweep = 0; sweep < sweeps; sweep++) {
    const indexes = layers.map((_, index) => index);
    for (const index of sweep % 2 === 0 ? indexes : indexes.reverse()) {
      const positions = new Map<string, number>();
      for (const slots of layers)
        for (const [position, { key }] of slots.entries())
          positions.set(key, (position + 0.5) / slots.length);
      const meanOf = ({ key }: Slot) => {
        const around = neighbors.get(key) ?? [key];
        return around.reduce((sum, each) => sum + (positions.get(each) ?? 0), 0) / around.length;
      };
      const slots = layers[index] ?? [];
      const means = new Map(slots.map((slot) => [slot.key, meanOf(slot)]));
      slots.sort((a, b) => (means.get(a.key) ?? 0) - (means.get(b.key) ?? 0));
    }
  }
}

function heightOf(slots: readonly Slot[]): number {
  return slots.reduce((sum, { height }) => sum + height + rowGap, -rowGap);
}

function widthOf({ lines }: GraphNode): number {
  return Math.round(Math.max(...lines.map((line) => line.length)) * characterWidth) + 28;
}

interface Places {
  readonly byId: ReadonlyMap<string, PlacedNode>;
  readonly spans: ReadonlyMap<string, Span>;
}

function placedEdge(
  edge: GraphEdge,
  keys: readonly string[],
  { byId, spans }: Places,
): readonly PlacedEdge[] {
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
