import { layOut, type PlacedEdge } from '#util/layered-layout.ts';
import type { DefinitionGraph, GraphEdgeView, GraphNodeView } from '../contract.ts';
import { h, type VNode } from '../preact.ts';
import { emptyBox } from './elements.ts';

/** Widths of texts are estimated: the layout is computed before anything is drawn. */
const characterWidth = 7.2;
const lineHeight = 18;
const margin = 8;
/** How far an edge between nodes of one layer bends. */
const besideBend = 40;

interface SizedNode extends GraphNodeView {
  readonly width: number;
  readonly height: number;
  readonly minLayer: number;
  readonly isLast: boolean;
}

/** What a definition creates: reads and the resource at the left, children by order, the status at the right. */
export function graphView({ nodes, edges }: DefinitionGraph): VNode {
  if (nodes.length === 0) return emptyBox('The definition creates nothing');
  const layout = layOut({ nodes: nodes.map(sizedNode), edges });
  const width = layout.width + 2 * margin;
  const height = layout.height + 2 * margin;
  return h(
    'div',
    { class: 'graph', tabIndex: 0, role: 'region', 'aria-label': 'Graph of the definition' },
    h(
      'svg',
      {
        width,
        height,
        viewBox: `${-margin} ${-margin} ${width} ${height}`,
        role: 'img',
        'aria-label': describe(nodes, edges),
      },
      arrowHead(),
      layout.edges.map((edge) => edgeView(edge)),
      layout.nodes.map((node) =>
        h(
          'g',
          {
            key: node.id,
            class: `node ${node.shape}`,
            transform: `translate(${node.x} ${node.y})`,
          },
          node.notes.length > 0 ? h('title', null, node.notes.join('\n')) : null,
          node.shape === 'list'
            ? h('rect', {
                class: 'behind',
                x: 4,
                y: 4,
                width: node.width,
                height: node.height,
                rx: 3,
              })
            : null,
          h('rect', {
            width: node.width,
            height: node.height,
            rx: node.shape === 'resource' || node.shape === 'status' ? node.height / 2 : 3,
          }),
          h('text', { x: 12, y: 18, class: 'title' }, node.title),
          h('text', { x: 12, y: 36, class: 'subtitle' }, node.subtitle),
          node.notes.map((note, index) =>
            h(
              'text',
              { x: 12, y: 36 + lineHeight * (index + 1), class: 'note', key: index },
              shorten(note),
            ),
          ),
        ),
      ),
    ),
  );
}

const noteLength = 28;

function shorten(note: string): string {
  return note.length > noteLength ? `${note.slice(0, noteLength - 1)}\u2026` : note;
}

function sizedNode(node: GraphNodeView): SizedNode {
  const { title, subtitle, notes, shape } = node;
  const length = Math.max(...[title, subtitle, ...notes.map(shorten)].map((text) => text.length));
  return {
    ...node,
    width: Math.round(length * characterWidth) + 28,
    height: 46 + notes.length * lineHeight,
    minLayer: shape === 'resource' || shape === 'read' ? 0 : 1,
    isLast: shape === 'status',
  };
}

function describe(nodes: readonly GraphNodeView[], edges: readonly GraphEdgeView[]): string {
  return `${nodes.length} nodes, ${edges.length} dependencies`;
}

function edgeView({ points, isDotted, from, to, reasons }: PlacedEdge<GraphEdgeView>): VNode {
  const [start = { x: 0, y: 0 }, ...others] = points;
  let at = start;
  const curves = others.map((next) => {
    const bend = at.x === next.x ? at.x + besideBend : (at.x + next.x) / 2;
    const curve = `C${bend} ${at.y} ${bend} ${next.y} ${next.x} ${next.y}`;
    at = next;
    return curve;
  });
  const path = `M${start.x} ${start.y}${curves.join('')}`;
  return h(
    'g',
    { class: isDotted ? 'edge dotted' : 'edge', key: `${from} ${to} ${isDotted}` },
    h('path', { class: 'hit', d: path }),
    h('path', { d: path, 'marker-end': 'url(#arrow)' }),
    h('title', null, reasons.join('\n')),
  );
}

/** The arrow head that edges refer to. */
export function arrowHead(): VNode {
  return h(
    'defs',
    null,
    h(
      'marker',
      {
        id: 'arrow',
        viewBox: '0 0 8 8',
        refX: 7,
        refY: 4,
        markerWidth: 7,
        markerHeight: 7,
        orient: 'auto',
      },
      h('path', { d: 'M0 0 8 4 0 8z', class: 'head' }),
    ),
  );
}
