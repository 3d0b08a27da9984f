import { isJsonObject, type JsonObject } from '../../util/json.ts';

/** A schema whose references are followed: of an OpenAPI document or a JSON Schema file. */
export interface SchemaView {
  /** As kubectl prints it: `Object`, `[]Container`, `map[string]string`, `integer`. */
  readonly typeName: string;
  readonly description: string;
  /** Values that are accepted; empty: all of the type. */
  readonly enum: readonly unknown[];
  /** Undefined: none. */
  readonly default: unknown;
  /** Fields of the object, of the items of the list, or of the values of the map. */
  readonly fields: readonly SchemaField[];
}

export interface SchemaField {
  readonly name: string;
  readonly isRequired: boolean;
  /** Follows the schema of the field: one that contains itself has no end. */
  view(): SchemaView;
}

/** Views the schema with which a document begins or one inside it; `#/` references are those of the document. */
export function viewSchema(document: JsonObject, schema: JsonObject): SchemaView {
  const own = resolve(document, schema);
  const inner = innermost(document, own);
  const required = new Set(Array.isArray(inner.required) ? inner.required : []);
  const properties = isJsonObject(inner.properties) ? inner.properties : {};
  return {
    typeName: typeNameOf(document, schema),
    description: String(own.description ?? inner.description ?? '').trim(),
    enum: Array.isArray(own.enum) ? own.enum : own.const === undefined ? [] : [own.const],
    default: own.default,
    fields: Object.entries(properties)
      .filter((entry): entry is [string, JsonObject] => isJsonObject(entry[1]))
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, field]) => ({
        name,
        isRequired: required.has(name),
        view: () => viewSchema(document, field),
      })),
  };
}

/** The schema with what it refers to. A description beside a reference replaces the one behind it. */
function resolve(document: JsonObject, schema: JsonObject): JsonObject {
  const reference = referenceOf(schema);
  if (reference === undefined) return schema;
  const { $ref: _, allOf: __, ...own } = schema;
  const found = reference
    .replace(/^#\//, '')
    .split('/')
    .reduce<unknown>((at, step) => (isJsonObject(at) ? at[step] : undefined), document);
  return isJsonObject(found) ? { ...resolve(document, found), ...own } : own;
}

/** `$ref`, or the only `allOf`, in which OpenAPI puts a reference that has a description or a default. */
function referenceOf({ $ref, allOf }: JsonObject): string | undefined {
  if (typeof $ref === 'string') return $ref;
  const [only, ...others] = Array.isArray(allOf) ? allOf : [];
  return others.length === 0 && isJsonObject(only) ? referenceOf(only) : undefined;
}

/** Through lists and maps. */
function innermost(document: JsonObject, schema: JsonObject): JsonObject {
  const { items, additionalProperties } = schema;
  if (isJsonObject(items)) return innermost(document, resolve(document, items));
  if (schema.properties === undefined && isJsonObject(additionalProperties))
    return innermost(document, resolve(document, additionalProperties));
  return schema;
}

function typeNameOf(document: JsonObject, schema: JsonObject): string {
  const reference = referenceOf(schema);
  const own = resolve(document, schema);
  const { type, items, additionalProperties } = own;
  if (isJsonObject(items)) return `[]${typeNameOf(document, items)}`;
  if (isJsonObject(additionalProperties) && own.properties === undefined)
    return `map[string]${typeNameOf(document, additionalProperties)}`;
  if (own['x-kubernetes-int-or-string'] === true || own.format === 'int-or-string')
    return 'IntOrString';
  if (reference !== undefined && (type === 'object' || type === undefined || own.oneOf))
    return reference.split(/[./]/).at(-1) ?? 'Object';
  if (Array.isArray(type)) return type.join(' or ');
  return type === undefined || type === 'object' ? 'Object' : String(type);
}
