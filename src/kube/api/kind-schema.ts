import type { Gvk } from '../../util/gvk.ts';
import { isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import type { KindSchema } from '../roles.ts';

const referencePrefix = '#/components/schemas/';

/** Under these keys are values, not schemas. */
const valueKeys = new Set(['default', 'enum', 'example']);

/**
 * The schema of one kind out of an OpenAPI v3 document: its component, found by group, version and kind, and every
 * component that it reaches, without descriptions. Undefined when the document does not have the kind.
 */
export function extractKindSchema(document: unknown, gvk: Gvk): KindSchema | undefined {
  const schemas = schemasOf(document);
  const root = Object.keys(schemas).find((name) => isKind(schemas[name], gvk));
  if (root === undefined) return undefined;
  const components: Record<string, JsonObject> = {};
  const open = [root];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const schema = schemas[name];
    if (Object.hasOwn(components, name) || !isJsonObject(schema)) continue;
    components[name] = withoutDescription(schema, open);
  }
  return { root, components };
}

function schemasOf(document: unknown): JsonObject {
  const components = isJsonObject(document) ? document.components : undefined;
  const schemas = isJsonObject(components) ? components.schemas : undefined;
  return isJsonObject(schemas) ? schemas : {};
}

function isKind(schema: Json | undefined, { group, version, kind }: Gvk): boolean {
  const names = isJsonObject(schema) ? schema['x-kubernetes-group-version-kind'] : undefined;
  // DeleteOptions and WatchEvent name every group: they are nobody's kind.
  const [name] = Array.isArray(names) && names.length === 1 ? names : [];
  return (
    isJsonObject(name) && name.group === group && name.version === version && name.kind === kind
  );
}

/** A copy of a schema; the names of the components that it refers to are added to `found`. */
function withoutDescription(schema: JsonObject, found: string[]): JsonObject {
  const copy: Record<string, Json> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (value === undefined || (key === 'description' && typeof value === 'string')) continue;
    if (key === '$ref' && typeof value === 'string' && value.startsWith(referencePrefix))
      found.push(value.slice(referencePrefix.length));
    copy[key] = valueKeys.has(key) ? value : copySchema(key, value, found);
  }
  return copy;
}

function copySchema(key: string, value: Json, found: string[]): Json {
  if (Array.isArray(value)) return value.map((item: Json) => copySchema('', item, found));
  if (!isJsonObject(value)) return value;
  if (key !== 'properties') return withoutDescription(value, found);
  // The names in here are the users': a field may be called "description" or "default".
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, copySchema('', field ?? null, found)]),
  );
}
