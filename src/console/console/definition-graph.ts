import { type ExplainedExpression, type Explanation, graphOf } from '#compile';
import type { DefinitionGraph, GraphEdgeView, GraphNodeView } from '#web';

/** The graph of a definition with what makes each edge. Pure. */
export function definitionGraph(explanation: Explanation): DefinitionGraph {
  const { nodes, edges } = graphOf(explanation);
  const children = new Map(explanation.children.map((child) => [`child_${child.id}`, child]));
  const namedLists = new Set(
    explanation.reads.flatMap(({ id, by }) => (by === 'names' ? [`reads_${id}`] : [])),
  );
  return {
    nodes: nodes.map(({ id, shape, lines }): GraphNodeView => {
      const [title = '', subtitle = ''] = lines;
      const child = children.get(id);
      const notes = [
        ...(child?.forEach === undefined ? [] : [`\u00d7N of ${bare(child.forEach)}`]),
        ...(child?.when === undefined ? [] : [`when ${bare(child.when)}`]),
        ...(child?.stage === 'onDelete' ? ['on deletion'] : []),
        ...(namedLists.has(id) ? ['\u00d7N by name'] : []),
      ];
      return {
        id,
        shape,
        title,
        subtitle: shape === 'resource' ? explanation.name : subtitle,
        notes,
      };
    }),
    edges: edges.map(({ from, to, isDotted }): GraphEdgeView => {
      const target = children.get(to);
      const isRead = from.startsWith('reads_');
      const made = (target?.expressions ?? []).filter((each) => isMadeBy(each, from));
      const isOrdered = made.length === 0 && target?.waitsFor.includes(from.replace(/^child_/, ''));
      return {
        from,
        to,
        isDotted: isDotted || isRead,
        reasons: isOrdered === true ? ['after'] : reasonsOf(made),
      };
    }),
  };
}

const maxReasons = 8;
const maxReasonLength = 100;

/** One line for each expression. */
function reasonsOf(expressions: readonly ExplainedExpression[]): readonly string[] {
  const lines = expressions.slice(0, maxReasons).map(({ line, field, text }) => {
    const reason = `line ${line}, ${field}: ${bare(text).replaceAll(/\s+/g, ' ')}`;
    return reason.length > maxReasonLength
      ? `${reason.slice(0, maxReasonLength - 1)}\u2026`
      : reason;
  });
  const others = expressions.length - lines.length;
  return others > 0 ? [...lines, `and ${others} more`] : lines;
}

/** An expression without the marks around it. */
function bare(text: string): string {
  return /^\$\{\s*(?<inner>[\s\S]*?)\s*\}$/.exec(text)?.groups?.inner ?? text;
}

/** Does the expression read the node at the start of an edge? */
function isMadeBy({ references }: ExplainedExpression, from: string): boolean {
  return references.some(({ root, path }) => {
    if (root === 'resource') return from === 'resource';
    return from === `${root === 'reads' ? 'reads' : 'child'}_${path[0]}`;
  });
}
