import { isJsonObject, type JsonObject } from '#util/json.ts';
import { below, convertValue } from './convert-value.ts';
import { definitionId, type GraphResource, shortId } from './graph.ts';
import { isOwnNamespace, permissionFor } from './namespaces.ts';
import { type GraphContext, graphVariables } from './scope.ts';

/** Converts an external reference to a read. Undefined: it cannot be read; the reason is in the report. */
export function convertRead(
  resource: GraphResource,
  context: GraphContext,
): JsonObject | undefined {
  const { id, name, pointer, body, bodyPointer, includeWhen, readyWhen, loops } = resource;
  const { report } = context;
  for (const each of readyWhen)
    report.leftOut(
      each,
      'A read has no readiness',
      'Put the condition into "when" of the children that use it',
    );
  for (const { list } of loops) report.leftOut(list, 'A read has no "forEach"');
  for (const each of includeWhen)
    report.converted(each, ['the object is read in any case; what uses it has the condition']);
  const place = below({ name: `${name}.externalRef`, pointer: bodyPointer }, 'metadata');
  const metadata = convertValue(body.metadata, place, graphVariables(context), context);
  if (!isJsonObject(metadata) || (metadata.name === undefined && metadata.selector === undefined)) {
    report.leftOut({ name, pointer }, 'The reference has neither a name nor a selector');
    return undefined;
  }
  const notes = new Set<string>();
  const scope = readScope(resource, metadata, context, notes);
  const isOptional = includeWhen.length > 0 && metadata.name !== undefined;
  if (definitionId(id) !== id) notes.add(shortId(id));
  report.converted({ name, pointer }, notes);
  return {
    id: definitionId(id),
    apiVersion: String(body.apiVersion),
    kind: String(body.kind),
    ...scope,
    ...(isOptional && { optional: true }),
  };
}

/** Name or selector, and the namespaces. A selector without a namespace selects in all of them. */
function readScope(
  { gvk, body }: GraphResource,
  { name, namespace, selector }: JsonObject,
  context: GraphContext,
  notes: Set<string>,
): JsonObject {
  const written = isJsonObject(body.metadata) ? body.metadata.namespace : undefined;
  const isOwn = isOwnNamespace(written) && context.isNamespaced;
  const isEmpty = isJsonObject(selector) && Object.keys(selector).length === 0;
  const what = name === undefined ? { selector: isEmpty ? 'all' : selector } : { name };
  if (context.isNamespacedKind(gvk) === false || isOwn) return what;
  if (typeof written === 'string' && written !== '')
    return { ...what, namespace, crossNamespace: permissionFor(written, context, notes) };
  return name === undefined ? { ...what, namespaces: '*', crossNamespace: true } : what;
}
