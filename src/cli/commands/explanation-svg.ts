import { type Explanation, type Graph, type GraphEdge, type GraphNode, graphOf } from '#compile';
import { escapeMarkup } from '#testing';
import { apiVersionOf } from '#util/gvk.ts';
import { type Layout, layOut, type PlacedEdge, type PlacedNode } from '#util/layered-layout.ts';

const margin = 16;
const titleHeight = 34;
const gap = 28;
/** How far an edge between nodes of one layer bends. */
const besideBend = 40;

const style = `
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #1f2328; }
.title { font-weight: bold; }
.kind { fill: #59636e; }
.background { fill: #ffffff; }
.node { fill: #f6f8fa; stroke: #818b98; }
.resource, .status { fill: #ddf4ff; stroke: #0969da; }
.read { fill: #fff8c5; stroke: #9a6700; }
.edge { fill: none; stroke: #818b98; stroke-width: 1.2; }
.observed { stroke-dasharray: 4 4; }
.head { fill: #818b98; }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc; }
  .kind { fill: #9198a1; }
  .background { fill: #0d1117; }
  .node { fill: #151b23; stroke: #656c76; }
  .resource, .status { fill: #12233b; stroke: #4493f8; }
  .read { fill: #2b2111; stroke: #d29922; }
  .edge { stroke: #656c76; }
  .head { fill: #656c76; }
}`;

/**
 * The diagrams of definitions, one below the other, as a picture that needs nothing else: a reader in light or dark mode sees it in the
 * colors of that mode. An arrow leads from what is read to what reads it; a dashed one is of `observed`.
 */
export function explanationSvg(explanations: readonly Explanation[]): string {
  const pictures = explanations.map((explanation) => ({
    title: `${explanation.gvk.kind} (${apiVersionOf(explanation.gvk)}), definition "${explanation.name}"`,
    layout: layOut(sized(graphOf(explanation))),
  }));
  const width = Math.max(
    ...pictures.map(({ title, layout }) => Math.max(layout.width, title.length * 8)),
  );
  const parts: string[] = [];
  let y = margin;
  for (const { title, layout } of pictures) {
    parts.push(`<g transform="translate(${margin} ${round(y)})">`);
    parts.push(`<text class="title" x="0" y="16">${escapeMarkup(title)}</text>`);
    parts.push(`<g transform="translate(0 ${titleHeight})">`, ...picture(layout), '</g>', '</g>');
    y += titleHeight + layout.height + gap;
  }
  const size = { width: Math.ceil(width + 2 * margin), height: Math.ceil(y - gap + margin) };
  const names = explanations.map(({ name }) => name).join(', ');
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${size.width}" height="${size.height}" viewBox="0 0 ${size.width} ${size.height}" role="img">`,
    `<title>${escapeMarkup(`What the definitions create: ${names}`)}</title>`,
    `<style>${style}\n</style>`,
    '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="head" d="M0 0 8 4 0 8z"/></marker></defs>',
    `<rect class="background" width="${size.width}" height="${size.height}"/>`,
    ...parts,
    '</svg>',
  ].join('\n');
}

/** A character of the font, on average; texts are not measured. */
const characterWidth = 7.4;
const nodeHeight = 44;

interface SizedNode extends GraphNode {
  readonly width: number;
  readonly height: number;
  readonly minLayer: number;
  readonly isLast: boolean;
}

function sized({ nodes, edges }: Graph) {
  const sizedNodes = nodes.map((node): SizedNode => {
    const length = Math.max(...node.lines.map((line) => line.length));
    const { shape } = node;
    return {
      ...node,
      width: Math.round(length * characterWidth) + 28,
      height: nodeHeight,
      minLayer: shape === 'resource' ? 0 : 1,
      isLast: shape === 'status',
    };
  });
  return { nodes: sizedNodes, edges };
}

function picture({ nodes, edges }: Layout<SizedNode, GraphEdge>): readonly string[] {
  return [...edges.map(edgeMarkup), ...nodes.flatMap(nodeMarkup)];
}

/** A smooth line through the points, horizontal at each. */
function edgeMarkup({ points, isDotted }: PlacedEdge<GraphEdge>): string {
  const [start = { x: 0, y: 0 }, ...others] = points;
  let from = start;
  const curves = others.map((to) => {
    // Between nodes of one layer it leaves and enters at the right.
    const bend = from.x === to.x ? from.x + besideBend : (from.x + to.x) / 2;
    const curve = `C${round(bend)} ${round(from.y)} ${round(bend)} ${round(to.y)} ${round(to.x)} ${round(to.y)}`;
    from = to;
    return curve;
  });
  const name = isDotted ? 'edge observed' : 'edge';
  return `<path class="${name}" marker-end="url(#arrow)" d="M${round(start.x)} ${round(start.y)}${curves.join('')}"/>`;
}

function nodeMarkup({
  shape,
  lines,
  x,
  y,
  width,
  height,
}: PlacedNode<SizedNode>): readonly string[] {
  const radius = shape === 'resource' || shape === 'status' ? height / 2 : 4;
  const box = (offset: number) =>
    `<rect class="node ${shape}" x="${round(x + offset)}" y="${round(y + offset)}" width="${round(width)}" height="${round(height)}" rx="${radius}"/>`;
  const center = round(x + width / 2);
  const first = y + height / 2 + (lines.length === 1 ? 5 : -3);
  return [
    // Behind a list there is another box.
    ...(shape === 'list' ? [box(4)] : []),
    box(0),
    ...lines.map(
      (line, index) =>
        `<text text-anchor="middle"${index === 0 ? '' : ' class="kind"'} x="${center}" y="${round(first + index * 17)}">${escapeMarkup(line)}</text>`,
    ),
  ];
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
