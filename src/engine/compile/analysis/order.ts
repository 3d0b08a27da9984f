import { type Finding, positionOf } from '#definition';
import { pointerTo } from '#util/json.ts';
import { type CompiledTemplates, templatesOfRead } from '../compiled-templates.ts';
import type { Diagnostics } from '../diagnostics.ts';
import type { CompiledTemplate } from '../template/template.ts';
import { positionInLeaf } from '../template/values.ts';
import { idsOfPath } from './dependencies.ts';

/** A dependency: `needs` must be evaluated first. */
interface Edge {
  readonly needs: string;
  readonly path: string;
  readonly at: NonNullable<Finding['at']>;
  /** The reference has no name: it reads all of them. */
  readonly isWhole: boolean;
}

type Graph = ReadonlyMap<string, readonly Edge[]>;

/**
 * Divides the children into tiers. A child depends only on earlier tiers, by expressions (also through vars and
 * reads) or by `after`. Reports every cycle.
 * @returns ids by tier, in definition order within each.
 */
export function orderChildren(
  parts: CompiledTemplates,
  diagnostics: Diagnostics,
): readonly (readonly string[])[] {
  const graph = buildGraph(parts);
  if (reportCycles(graph, diagnostics)) return [];
  const depths = new Map<string, number>();
  function depthOf(node: string): number {
    let depth = depths.get(node);
    if (depth === undefined) {
      depth = 0;
      for (const { needs } of graph.get(node) ?? []) {
        // Only children add to the depth; vars and reads do not.
        depth = Math.max(depth, depthOf(needs) + (needs.startsWith('children.') ? 1 : 0));
      }
      depths.set(node, depth);
    }
    return depth;
  }
  const tiers: string[][] = [];
  for (const { definition } of parts.children) {
    const depth = depthOf(`children.${definition.id}`);
    while (tiers.length <= depth) tiers.push([]);
    tiers[depth]?.push(definition.id);
  }
  return tiers;
}

function buildGraph(parts: CompiledTemplates): Graph {
  const ids = {
    children: parts.children.map(({ definition }) => definition.id),
    reads: parts.reads.map(({ definition }) => definition.id),
    vars: [...parts.vars.keys()],
  };
  const edgesOf = (...templates: readonly (CompiledTemplate | undefined)[]): readonly Edge[] =>
    templates.flatMap((template) =>
      (template?.references ?? []).flatMap(({ slot, reference }) => {
        const { root, path } = reference;
        if (root !== 'children' && root !== 'reads' && root !== 'vars') return [];
        const place = positionInLeaf(slot, reference.offset);
        return idsOfPath(path, ids[root]).map((id) => ({
          needs: `${root}.${id}`,
          ...place,
          isWhole: path.length === 0,
        }));
      }),
    );
  const graph = new Map<string, readonly Edge[]>();
  for (const [name, template] of parts.vars) graph.set(`vars.${name}`, edgesOf(template));
  for (const read of parts.reads) {
    graph.set(`reads.${read.definition.id}`, edgesOf(...templatesOfRead(read)));
  }
  for (const {
    definition,
    pointer,
    template,
    when,
    forEach,
    cluster,
    kind,
    ready,
    gate,
  } of parts.children) {
    const after = definition.after.flatMap((id, index): Edge[] => {
      const path = pointerTo(pointerTo(pointer, 'after'), index);
      const edge = { path, at: 'value', isWhole: false } as const;
      // Its readiness may depend on other children.
      return [
        { ...edge, needs: `children.${id}` },
        { ...edge, needs: `ready of children.${id}` },
      ];
    });
    graph.set(`children.${definition.id}`, [
      ...edgesOf(when, forEach, cluster, kind, template, gate),
      ...after,
    ]);
    graph.set(`ready of children.${definition.id}`, edgesOf(ready));
  }
  return graph;
}

/** @returns whether there are any. */
function reportCycles(graph: Graph, diagnostics: Diagnostics): boolean {
  const done = new Set<string>();
  const path: string[] = [];
  let found = false;

  function visit(node: string): void {
    if (done.has(node)) return;
    path.push(node);
    for (const { needs } of graph.get(node) ?? []) {
      const start = path.indexOf(needs);
      if (start < 0) visit(needs);
      else {
        found = true;
        reportCycle(graph, path.slice(start), diagnostics);
      }
    }
    path.pop();
    done.add(node);
  }

  for (const node of graph.keys()) visit(node);
  return found;
}

function reportCycle(graph: Graph, nodes: readonly string[], diagnostics: Diagnostics): void {
  const [first = ''] = nodes;
  const edges = nodes.flatMap((node, index) => {
    const needs = nodes[index + 1] ?? first;
    const edge = graph.get(node)?.find((each) => each.needs === needs);
    return edge === undefined ? [] : [{ node, ...edge }];
  });
  const [here, ...others] = edges;
  if (here === undefined) return;
  diagnostics.report({
    code: 'cycle',
    message: `Cycle: ${[...nodes, first].join(' -> ')}`,
    hint: hintOf(here, others, diagnostics),
    path: here.path,
    at: here.at,
  });
}

type NodeEdge = Edge & { readonly node: string };

function hintOf(
  here: NodeEdge,
  others: readonly NodeEdge[],
  diagnostics: Diagnostics,
): string | undefined {
  if ([here, ...others].some(({ isWhole }) => isWhole)) {
    return 'This expression may read all children, reads and vars; use "$self" for the resource only';
  }
  if (others.length === 0) {
    if (here.node.startsWith('vars.')) return undefined;
    const observed = here.node.replace(/^children/, 'observed');
    return `A child cannot depend on itself; use "${observed}" for the existing object`;
  }
  const { source } = diagnostics;
  const places = others.map(({ node, needs, path, at }) => {
    const { line, column } = positionOf({ path, at }, source);
    return `"${node}" depends on "${needs}" at ${source.file}:${line}:${column}`;
  });
  return places.join('; ');
}
