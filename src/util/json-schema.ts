import { isJsonObject } from './json.ts';

/** The keywords of a JSON schema that contain schemas: one, a map of them by name, or a list. */
const shapes = {
  properties: 'map',
  items: 'one',
  additionalProperties: 'one',
  allOf: 'list',
  anyOf: 'list',
  oneOf: 'list',
  not: 'one',
  definitions: 'map',
  dependencies: 'map',
} as const;

export type SchemaKeyword = keyof typeof shapes;

/** A schema inside another one. */
export interface Subschema<Schema extends object> {
  readonly schema: Schema;
  readonly keyword: SchemaKeyword;
  /** Its name in a map, or its index in a list. Undefined: it is the value of the keyword. */
  readonly key?: string | number;
}

/**
 * The schemas in one keyword of a JSON schema, as its author wrote it: references are not followed, and what is no schema is left out. The
 * walkers over schemas build their nodes on this. Pure.
 */
export function schemasIn<Schema extends object>(
  schema: Schema,
  keyword: SchemaKeyword,
): readonly Subschema<Schema>[] {
  const value: unknown = Object.hasOwn(schema, keyword)
    ? (schema as Readonly<Record<string, unknown>>)[keyword]
    : undefined;
  const at = (found: unknown, key?: string | number): readonly Subschema<Schema>[] =>
    isJsonObject(found)
      ? [{ schema: found as object as Schema, keyword, ...(key !== undefined && { key }) }]
      : [];
  switch (shapes[keyword]) {
    case 'one':
      return at(value);
    case 'map':
      return isJsonObject(value)
        ? Object.entries(value).flatMap(([name, found]) => at(found, name))
        : [];
    case 'list':
      return Array.isArray(value) ? value.flatMap((found, index) => at(found, index)) : [];
  }
}

/** The schema that is the value of a keyword. Undefined: there is none. Pure. */
export function schemaIn<Schema extends object>(
  schema: Schema,
  keyword: 'items' | 'additionalProperties' | 'not',
): Schema | undefined {
  return schemasIn(schema, keyword)[0]?.schema;
}

/** The schemas of the parts of a value: its fields, its items, and its other fields. Pure. */
export function partsIn<Schema extends object>(schema: Schema): readonly Subschema<Schema>[] {
  return (['properties', 'items', 'additionalProperties'] as const).flatMap((keyword) =>
    schemasIn(schema, keyword),
  );
}

/** The schemas that constrain the same value: those of allOf, anyOf, oneOf and not. Pure. */
export function junctorsIn<Schema extends object>(schema: Schema): readonly Subschema<Schema>[] {
  return (['allOf', 'anyOf', 'oneOf', 'not'] as const).flatMap((keyword) =>
    schemasIn(schema, keyword),
  );
}
