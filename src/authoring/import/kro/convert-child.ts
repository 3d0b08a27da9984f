import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { lambda, quoted, variable } from '../cel/jsonata.ts';
import { expressionText } from '../template-text.ts';
import { convertConditions, convertReadiness } from './child-conditions.ts';
import { convertValue } from './convert-value.ts';
import { definitionId, type GraphResource, shortId } from './graph.ts';
import { permissionOfChild } from './namespaces.ts';
import type { ResourceUses } from './resource-uses.ts';
import { convertExpression, type GraphContext, graphVariables, loopVariables } from './scope.ts';

/** Converts a resource with a template. Undefined: it cannot be a child; the reason is in the report. */
export function convertChild(
  resource: GraphResource,
  uses: ResourceUses,
  graph: GraphContext,
): JsonObject | undefined {
  const { id, name, pointer, body, bodyPointer } = resource;
  const report = graph.report.fork();
  const context = { ...graph, report };
  const when = convertConditions(resource, uses, context);
  const forEach = convertLoops(resource, context);
  const variables = loopVariables(resource, graphVariables(context), context);
  const place = { name: `${name}.template`, pointer: bodyPointer };
  const template = convertValue(body, place, variables, context);
  const identity = lostIdentity(body, template);
  if (when === undefined || forEach === undefined || identity !== undefined) {
    const field = when === undefined ? 'includeWhen' : (identity ?? 'forEach');
    const hasName = isJsonObject(body.metadata) && body.metadata.name !== undefined;
    const reason = hasName
      ? reasonFor(field, uses.dependenciesOf(id), context)
      : 'The template has no "metadata.name"';
    report.leftOut({ name, pointer }, reason);
    graph.report.addLeftOut(report);
    return undefined;
  }
  const ready = convertReadiness(resource, uses, context);
  const after = uses
    .dependenciesOf(id)
    .filter((each) => uses.awaits(id, each) && !context.leftOut.has(each));
  const notes = new Set<string>();
  for (const each of after) {
    const list = context.resources.get(each);
    if (list?.isList === true && list.readyWhen.length === 0)
      notes.add(`it waits until all objects of "${each}" are ready`);
  }
  if (definitionId(id) !== id) notes.add(shortId(id));
  const crossNamespace = permissionOfChild(resource, context, notes);
  report.converted({ name, pointer }, notes);
  graph.report.addAll(report);
  return {
    id: definitionId(id),
    ...(when !== '' && { when: expressionText(when) }),
    ...(forEach !== '' && { forEach: expressionText(forEach) }),
    ...(after.length > 0 && { after: after.map(definitionId) }),
    ...(ready !== undefined && { ready: expressionText(ready) }),
    ...(crossNamespace !== undefined && { crossNamespace }),
    template: template ?? {},
  };
}

function reasonFor(field: string, dependencies: readonly string[], context: GraphContext): string {
  const lost = dependencies.find((each) => context.leftOut.has(each));
  return lost === undefined
    ? `Its "${field}" has no equivalent`
    : `It depends on resource "${lost}", which is not converted`;
}

/** The part of the object's identity that was not converted. */
function lostIdentity(body: JsonObject, template: Json | undefined): string | undefined {
  const before = isJsonObject(body.metadata) ? body.metadata : {};
  const metadata = isJsonObject(template) ? template.metadata : undefined;
  const after = isJsonObject(metadata) ? metadata : {};
  if (after.name === undefined) return 'metadata.name';
  const isLost = before.namespace !== undefined && after.namespace === undefined;
  return isLost ? 'metadata.namespace' : undefined;
}

/** `forEach` of one list; several are combined to objects with one field for each. Empty: none. Undefined: no equivalent. */
function convertLoops({ loops }: GraphResource, context: GraphContext): string | undefined {
  const variables = graphVariables(context);
  const lists = loops.map(({ list }) => convertExpression(list, variables, context));
  if (!lists.every((each) => each !== undefined)) return undefined;
  const [only] = lists;
  if (lists.length < 2) return only?.text ?? '';
  const names = loops.map(({ variable: name }) => name);
  const fields = names.map((name) => `${quoted(name)}: ${variable(name)}`).join(', ');
  const join = lambda(['$all', '$more'], '$append($all, $more)');
  return lists.reduceRight((inner, { text }, index) => {
    const each = `$map(${text}, ${lambda([variable(names[index] ?? '')], inner)})`;
    return index === lists.length - 1 ? `[${each}]` : `[$reduce(${each}, ${join}, [])]`;
  }, `{ ${fields} }`);
}
