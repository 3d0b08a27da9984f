import { schemaIn, schemasIn } from '#util/json-schema.ts';
import type { ComponentDescription } from './bundled-schemas.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** The schemas that references mean. */
export interface SchemaLibrary {
  /** Start of a reference: `#/$defs/`. */
  readonly prefix: string;
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  /** Descriptions that the schemas do not contain, by name of the schema. */
  readonly descriptions?: Readonly<Record<string, ComponentDescription>>;
}

/** A place in a JSON schema: what a value may contain. */
export interface SchemaNode {
  /** Without references. */
  readonly schema: JsonSchema;
  readonly description: string | undefined;
  readonly library: SchemaLibrary;
  /** Name of the schema in the library. */
  readonly name: string | undefined;
  /** Fields that take the place of those of the schema. */
  readonly fields?: ReadonlyMap<string, SchemaNode>;
}

const emptyLibrary: SchemaLibrary = { prefix: '#', schemas: {} };

/** A node of a schema; `description` takes precedence over that of what the schema refers to. */
export function schemaNode(
  schema: JsonSchema,
  library: SchemaLibrary,
  description = textOf(schema.description),
): SchemaNode {
  const seen = new Set<string>();
  let current = schema;
  let name: string | undefined;
  for (
    let next = referenceOf(current, library);
    next !== undefined && !seen.has(next);
    next = referenceOf(current, library)
  ) {
    seen.add(next);
    name = next;
    const { $ref: _, allOf: __, ...own } = current;
    current = { ...library.schemas[next], ...own };
  }
  const inherited = name && library.descriptions?.[name]?.description;
  return {
    schema: current,
    description: description ?? textOf(current.description) ?? inherited,
    library,
    name,
  };
}

/** A JSON Schema file, whose references mean its `$defs`. */
export function documentNode(schema: JsonSchema): SchemaNode {
  const schemas = (schema.$defs ?? {}) as SchemaLibrary['schemas'];
  return schemaNode(schema, { prefix: '#/$defs/', schemas });
}

/** A map with these fields. */
export function nodeOfFields(
  fields: ReadonlyMap<string, SchemaNode>,
  description?: string,
): SchemaNode {
  return { ...nodeOfSchema({ type: 'object' }, description), fields };
}

/** A schema without references. */
export function nodeOfSchema(schema: JsonSchema, description?: string): SchemaNode {
  return schemaNode(schema, emptyLibrary, description);
}

/** The fields of a map, by name. Empty for other values. */
export function fieldsOf(node: SchemaNode): ReadonlyMap<string, SchemaNode> {
  if (node.fields !== undefined) return node.fields;
  const { schema, library, name } = node;
  const texts = name === undefined ? undefined : library.descriptions?.[name]?.properties;
  return new Map(
    schemasIn(schema, 'properties').map(({ schema: field, key = '' }) => [
      String(key),
      schemaNode(field, library, textOf(field.description) ?? texts?.[key]),
    ]),
  );
}

/** The items of a list, or the values of a map without fields of its own. Undefined for others. */
export function itemOf({ schema, library }: SchemaNode): SchemaNode | undefined {
  const others =
    schema.properties === undefined ? schemaIn(schema, 'additionalProperties') : undefined;
  const item = schemaIn(schema, 'items') ?? others;
  return item && schemaNode(item, library);
}

/** What a step leads to: a field of a map, or an item of a list. Undefined: the schema does not have it. */
export function stepInto(node: SchemaNode, step: string): SchemaNode | undefined {
  const { schema, library } = node;
  const items = schemaIn(schema, 'items');
  if (items !== undefined && /^\d+$/.test(step)) return schemaNode(items, library);
  const others = schemaIn(schema, 'additionalProperties');
  return fieldsOf(node).get(step) ?? (others && schemaNode(others, library));
}

/** As {@link stepInto}, with steps that apply to the items of lists, as in expressions. */
export function pathInto(start: SchemaNode, steps: readonly string[]): SchemaNode | undefined {
  return steps.reduce<SchemaNode | undefined>(
    (node, step) => node && stepInto(throughLists(node), step),
    start,
  );
}

/** The node of the items, also of lists of lists; the node itself if it is no list. */
export function throughLists(node: SchemaNode): SchemaNode {
  const items = schemaIn(node.schema, 'items');
  return items !== undefined && !typesOf(node).includes('object')
    ? throughLists(schemaNode(items, node.library))
    : node;
}

export function typesOf({ schema }: SchemaNode): readonly string[] {
  return [schema.type ?? []].flat().map(String);
}

export function isRequired({ schema }: SchemaNode, field: string): boolean {
  return Array.isArray(schema.required) && schema.required.includes(field);
}

/** The values that are allowed, if there are few. */
export function valuesOf(node: SchemaNode): readonly unknown[] {
  const { schema } = node;
  if (Array.isArray(schema.enum)) return schema.enum;
  if (schema.const !== undefined) return [schema.const];
  return typesOf(node).includes('boolean') ? [true, false] : [];
}

const constraints: Readonly<Record<string, string>> = {
  minimum: 'minimum',
  maximum: 'maximum',
  multipleOf: 'multiple of',
  minLength: 'minimum length',
  maxLength: 'maximum length',
  minItems: 'minimum number of items',
  maxItems: 'maximum number of items',
  pattern: 'pattern',
  default: 'default',
};

/** A type with its limits: `integer, minimum 0, default 1`. */
export function typeText(node: SchemaNode): string {
  const { schema } = node;
  const values = Array.isArray(schema.enum)
    ? [`one of ${schema.enum.map(literal).join(', ')}`]
    : [];
  const limits = Object.entries(constraints)
    .filter(([key]) => schema[key] !== undefined && !isZero(schema[key]))
    .map(([key, name]) => `${name} ${literal(schema[key])}`);
  return [typeName(node), ...values, ...limits].join(', ');
}

function typeName(node: SchemaNode): string {
  const { schema, library } = node;
  if (schema['x-kubernetes-int-or-string'] === true || schema.format === 'int-or-string')
    return 'integer or string';
  const names = typesOf(node).map((type) => {
    if (type !== 'array' && type !== 'object') return type;
    const isList = type === 'array';
    const part = schemaIn(schema, isList ? 'items' : 'additionalProperties');
    const what = isList ? 'list' : 'map';
    return part === undefined ? what : `${what} of ${typeName(schemaNode(part, library))}`;
  });
  return names.length === 0 ? 'any value' : names.join(' or ');
}

export function literal(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The published schemas of built-in kinds have these as defaults of all that Go does not leave out. */
function isZero(value: unknown): boolean {
  return value === '' || (isSchema(value) && Object.keys(value).length === 0);
}

function referenceOf({ $ref, allOf }: JsonSchema, { prefix, schemas }: SchemaLibrary) {
  const [only, ...others] = Array.isArray(allOf) ? (allOf as unknown[]) : [];
  const reference = $ref ?? (others.length === 0 && isSchema(only) ? only.$ref : undefined);
  if (typeof reference !== 'string' || !reference.startsWith(prefix)) return undefined;
  const name = reference.slice(prefix.length);
  return Object.hasOwn(schemas, name) ? name : undefined;
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
