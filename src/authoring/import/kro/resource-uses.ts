import type { CelNode, CelParser } from '#sandbox';
import type { Expression, GraphResource } from './graph.ts';
import { type CelReference, referencesOf } from './references.ts';
import { piecesOf } from './text-pieces.ts';

/** Which resources use which, by their expressions. */
export interface ResourceUses {
  /** Ids of the resources that a resource uses directly, in the order of the graph. */
  dependenciesOf(id: string): readonly string[];
  /** The conditions of all resources that it depends on. */
  conditionsAbove(id: string): readonly Expression[];
  /** Does the resource wait until this child is ready, and not only until it exists? */
  awaits(id: string, child: string): boolean;
  /** Paths into the status of a child without which other resources cannot be rendered. */
  neededFields(id: string): readonly NeededField[];
}

export interface NeededField {
  readonly node: CelNode;
  /** Ids of the resources that need it. */
  readonly by: readonly string[];
}

/** Finds the uses between resources. Iterates over the graph, which kro accepts only without cycles. */
export function findUses(resources: readonly GraphResource[], parse: CelParser): ResourceUses {
  const byId = new Map(resources.map((each) => [each.id, each]));
  const references = new Map(
    resources.map((each) => [each.id, resourceReferences(each, parse)] as const),
  );
  const uses = (from: string, id: string) =>
    from === id ? [] : (references.get(from) ?? []).filter(({ variable }) => variable === id);
  const direct = (id: string) => resources.filter((each) => uses(id, each.id).length > 0);
  const above = (id: string, seen: ReadonlySet<string>): readonly Expression[] =>
    direct(id).flatMap((each) =>
      seen.has(each.id)
        ? []
        : [...each.includeWhen, ...above(each.id, new Set([...seen, each.id]))],
    );
  return {
    dependenciesOf: (id) => direct(id).map((each) => each.id),
    conditionsAbove: (id) => above(id, new Set([id])),
    awaits(id, child) {
      const found = byId.get(child);
      if (found?.role !== 'child') return false;
      const own = uses(id, child);
      // Which elements of a list need their status is not known, so all are awaited.
      const readsList = found.isList && own.some(({ path: [first] }) => first === undefined);
      return found.readyWhen.length > 0 || readsList || own.some(isNeededStatus);
    },
    neededFields(id) {
      if (byId.get(id)?.isList === true) return [];
      const fields = new Map<string, NeededField>();
      for (const { id: from } of resources)
        for (const { node } of uses(from, id).filter(isNeededStatus)) {
          const text = node.input.slice(node.start, node.end);
          fields.set(text, { node, by: [...(fields.get(text)?.by ?? []), from] });
        }
      return [...fields.values()];
    },
  };
}

/** An index can be computed from other objects, which readiness does not see. */
function isNeededStatus({ path: [first], isRequired, node, variable }: CelReference): boolean {
  const isOwn = referencesOf(node).every((each) => each.variable === variable);
  return isRequired && first === 'status' && isOwn;
}

/** The references of everything in a resource but its readiness, which only sees itself. */
function resourceReferences(
  { body, includeWhen, loops }: GraphResource,
  parse: CelParser,
): readonly CelReference[] {
  const expressions = [...includeWhen, ...loops.map(({ list }) => list)];
  const own = new Set(loops.map(({ variable }) => variable));
  return [
    ...expressions.flatMap(({ node }) => referencesOf(node)),
    ...textsIn(body)
      .flatMap((text) => celReferences(text, parse))
      .filter(({ variable }) => !own.has(variable)),
  ];
}

/** The references of the expressions in a text. Those that cannot be parsed have none. */
function celReferences(text: string, parse: CelParser): readonly CelReference[] {
  return piecesOf(text).flatMap((piece) => {
    if (piece.kind === 'literal') return [];
    const parsed = parse(piece.cel);
    return 'node' in parsed ? referencesOf(parsed.node) : [];
  });
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}
