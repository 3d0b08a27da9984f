import type { SchemaType } from '#compile';
import type { CelNode, CelParser } from '#sandbox';
import type { Gvk } from '#util/gvk.ts';
import { atom, type CelContext, NoEquivalentError } from '../cel/cel-context.ts';
import { convertCel } from '../cel/convert-cel.ts';
import { type Jsonata, step } from '../cel/jsonata.ts';
import { itemType, listOf, unknownType } from '../cel/value-type.ts';
import type { ImportReport } from '../import-report.ts';
import { definitionId, type Expression, type GraphResource } from './graph.ts';

/** A graph and what its expressions need. */
export interface GraphContext {
  readonly report: ImportReport;
  readonly parse: CelParser;
  /** Of the instances. */
  readonly instanceType: SchemaType;
  readonly isNamespaced: boolean;
  readonly resources: ReadonlyMap<string, GraphResource>;
  /** Ids of resources that cannot be converted. */
  readonly leftOut: ReadonlySet<string>;
  /** Unknown kinds have any fields. */
  typeOf(gvk: Gvk): SchemaType;
  /** Undefined: the kind is not known. */
  isNamespacedKind(gvk: Gvk): boolean | undefined;
}

/** Variables of CEL. */
export type Variables = ReadonlyMap<string, Jsonata>;

/** The variables of all expressions: the instance, and the resources of the graph. */
export function graphVariables(context: GraphContext): Variables {
  const variables = new Map<string, Jsonata>();
  variables.set('schema', { ...atom('', context.instanceType, 'always') });
  for (const resource of context.resources.values()) {
    if (context.leftOut.has(resource.id)) continue;
    const { id, role, gvk, isList } = resource;
    const type = context.typeOf(gvk);
    const text = `${role === 'child' ? 'children' : 'reads'}.${definitionId(id)}`;
    variables.set(id, atom(text, isList ? listOf(type) : type, 'always'));
  }
  return variables;
}

/** In `readyWhen`, the id (or `each`) is the object itself. */
export function readyVariables(resource: GraphResource, context: GraphContext): Variables {
  const name = resource.isList ? 'each' : resource.id;
  return new Map([[name, atom('$child', context.typeOf(resource.gvk), 'always')]]);
}

/** With the variables of `forEach`: one is the element, several are its fields. */
export function loopVariables(
  { loops }: GraphResource,
  variables: Variables,
  context: GraphContext,
): Variables {
  const own = loops.map(({ variable, list }): readonly [string, Jsonata] => {
    const text = loops.length === 1 ? '$item' : `$item.${step(variable)}`;
    return [variable, atom(text, itemType(typeOfList(list, variables, context)), 'always')];
  });
  return new Map([...variables, ...own]);
}

function typeOfList(list: Expression, variables: Variables, context: GraphContext): SchemaType {
  return tryConvert(list.node, variables, context)?.type ?? unknownType;
}

/** Converts an expression that is reported elsewhere. Undefined: it has no equivalent. */
export function tryConvert(
  node: CelNode,
  variables: Variables,
  context: GraphContext,
): Jsonata | undefined {
  try {
    return convertCel(node, celContext(variables, context));
  } catch (error) {
    if (error instanceof NoEquivalentError) return undefined;
    throw error;
  }
}

export function celContext(variables: Variables, context: GraphContext): CelContext {
  return {
    variables,
    notes: new Set(),
    explainName: (name) =>
      context.leftOut.has(name) ? `Resource "${name}" is not converted` : undefined,
  };
}

/** Converts an expression and adds it to the report. Undefined: it has no equivalent. */
export function convertExpression(
  { name, pointer, offset, node }: Expression,
  variables: Variables,
  context: GraphContext,
): Jsonata | undefined {
  const cel = celContext(variables, context);
  try {
    const result = convertCel(node, cel);
    context.report.converted({ name, pointer, offset }, cel.notes);
    return result;
  } catch (error) {
    if (!(error instanceof NoEquivalentError)) throw error;
    const place = { name, pointer, offset: offset + error.offset };
    context.report.leftOut(place, error.message, error.hint);
    return undefined;
  }
}
