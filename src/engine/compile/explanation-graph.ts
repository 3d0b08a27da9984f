import type { Explanation } from './explain.ts';

/** A box of a diagram. */
export interface GraphNode {
  readonly id: string;
  /** `list`: several objects, of `forEach`. */
  readonly shape: 'resource' | 'read' | 'child' | 'list' | 'status';
  readonly lines: readonly string[];
}

/** An arrow from what is read to what reads it. */
export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  /** Of `observed`, which is not waited for. */
  readonly isDotted: boolean;
}

export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

/** What a definition creates and reports, as a graph. */
export function graphOf({ gvk, reads, children, reports }: Explanation): Graph {
  const status = reports.filter(({ inputs }) => inputs.length > 0);
  const nodes: readonly GraphNode[] = [
    { id: 'resource', shape: 'resource', lines: [gvk.kind] },
    ...reads.map(
      ({ id, gvk: { kind } }): GraphNode => ({
        id: `reads_${id}`,
        shape: 'read',
        lines: [id, kind],
      }),
    ),
    ...children.map(
      ({ id, forEach, gvk: { kind } }): GraphNode => ({
        id: `child_${id}`,
        shape: forEach === undefined ? 'child' : 'list',
        lines: [id, kind],
      }),
    ),
    ...(status.length === 0
      ? []
      : [{ id: 'status', shape: 'status', lines: ['status'] } satisfies GraphNode]),
  ];
  const edges = [
    ...reads.flatMap(({ id, inputs }) => edgesTo(`reads_${id}`, inputs)),
    ...children.flatMap(({ id, inputs, waitsFor }) =>
      edgesTo(`child_${id}`, [...inputs, ...waitsFor.map((other) => `children.${other}`)]),
    ),
    ...edgesTo(
      'status',
      status.flatMap(({ inputs }) => inputs.filter((input) => !input.startsWith('status'))),
    ),
  ];
  const different = new Map(edges.map((edge) => [JSON.stringify(edge), edge]));
  return { nodes, edges: [...different.values()] };
}

function edgesTo(to: string, inputs: readonly string[]): readonly GraphEdge[] {
  return inputs.flatMap((input) => {
    const [root = '', id = ''] = input.split('.');
    switch (root) {
      case 'children':
      case 'observed': {
        const isDotted = root === 'observed';
        return id === '' || to === `child_${id}` ? [] : [{ from: `child_${id}`, to, isDotted }];
      }
      case 'reads':
        return id === '' ? [] : [{ from: `reads_${id}`, to, isDotted: false }];
      case 'the time':
        return [];
      default:
        return [{ from: 'resource', to, isDotted: false }];
    }
  });
}

const mermaidShapes: Readonly<Record<GraphNode['shape'], readonly [string, string]>> = {
  resource: ['(["', '"])'],
  read: ['[("', '")]'],
  child: ['["', '"]'],
  list: ['[["', '"]]'],
  status: ['(["', '"])'],
};

/** A Mermaid flowchart. */
export function mermaidLines({ nodes, edges }: Graph): readonly string[] {
  return [
    'flowchart LR',
    ...nodes.map(({ id, shape, lines }) => {
      const [open, close] = mermaidShapes[shape];
      return `  ${id}${open}${lines.join('<br/>')}${close}`;
    }),
    ...edges.map(({ from, to, isDotted }) => `  ${from} ${isDotted ? '-.->' : '-->'} ${to}`),
  ];
}
