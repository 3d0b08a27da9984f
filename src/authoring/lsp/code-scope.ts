import { nodeOfFields, nodeOfSchema, pathInto, type SchemaNode } from '#compile';
import { type CodeName, codeNames, isCodeField } from '#http-objects/kinds/index.ts';
import { isJsonObject, type Json, type JsonObject, objectAt } from '#util/json.ts';
import type { ExpressionScope } from './expression-scope.ts';
import type { ParsedDocument } from './parsed-text.ts';
import { manifestAt } from './places.ts';

/** The names that code of an object behind HTTP can use at the end of `steps`. Undefined: the field is no code. */
export function codeScope(
  document: ParsedDocument,
  steps: readonly string[],
): ExpressionScope | undefined {
  const found = manifestAt(document, steps);
  const [section, ...field] = found?.steps ?? [];
  if (found === undefined || section !== 'spec') return undefined;
  if (!isCodeField(String(found.manifest.kind), field)) return undefined;
  const root = namesOf(objectAt(found.manifest, 'spec') ?? {});
  return {
    root,
    variables: new Map(),
    resolve: ([first = '', ...rest]) => {
      const start = root.get(first);
      return start && pathInto(start, rest);
    },
  };
}

function namesOf({ params, desired }: JsonObject): ReadonlyMap<string, SchemaNode> {
  const content = nodeOfData(desired);
  const nodes: Readonly<Record<CodeName, SchemaNode>> = {
    id: nodeOfSchema({ type: 'string' }),
    params: nodeOfData(params),
    desired: content,
    code: nodeOfSchema({ type: 'integer' }),
    headers: nodeOfSchema({ type: 'object', additionalProperties: { type: 'string' } }),
    body: nodeOfSchema({}),
    // It is compared with what is desired, so it has these fields.
    result: content,
    metadata: nodeOfSchema({
      type: 'object',
      properties: {
        name: { type: 'string' },
        namespace: { type: 'string' },
        uid: { type: 'string' },
        labels: { type: 'object', additionalProperties: { type: 'string' } },
        annotations: { type: 'object', additionalProperties: { type: 'string' } },
      },
    }),
  };
  const names = Object.keys(codeNames) as readonly CodeName[];
  return new Map(names.map((name) => [name, { ...nodes[name], description: codeNames[name] }]));
}

/** What a value contains, as far as it is written. */
function nodeOfData(value: Json | undefined): SchemaNode {
  if (isJsonObject(value)) {
    const fields = Object.entries(value).filter(([name]) => !name.includes('${'));
    return nodeOfFields(new Map(fields.map(([name, field]) => [name, nodeOfData(field)])));
  }
  if (Array.isArray(value)) return nodeOfSchema({ type: 'array' });
  const isComputed = typeof value === 'string' && value.includes('${');
  const isKnown = value !== null && value !== undefined && !isComputed;
  return nodeOfSchema(isKnown ? { type: typeof value } : {});
}
