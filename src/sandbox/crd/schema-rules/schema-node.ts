import { isJsonObject, type Json, type JsonObject } from '../../../util/json.ts';
import { fieldOf, isJsonList, listField, objectField } from '../../json-fields.ts';

/** A schema within the schema of a CRD, as its author wrote it. */
export interface SchemaNode {
  readonly schema: JsonObject;
  /** Where it stands: `spec.versions[0].schema.openAPIV3Schema.properties[spec]`. */
  readonly path: string;
}

export interface NamedNode extends SchemaNode {
  readonly name: string;
}

/** The fields of an object. */
export function propertyNodes({ schema, path }: SchemaNode): readonly NamedNode[] {
  return namedNodes(objectField(schema, 'properties') ?? {}, `${path}.properties`);
}

export function namedNodes(schemas: JsonObject, path: string): readonly NamedNode[] {
  return Object.entries(schemas).flatMap(([name, schema]) =>
    isJsonObject(schema) ? [{ name, schema, path: `${path}[${name}]` }] : [],
  );
}

/** The schema that a keyword holds; undefined when it holds none. */
export function childNode({ schema, path }: SchemaNode, keyword: string): SchemaNode | undefined {
  const child = objectField(schema, keyword);
  return child === undefined ? undefined : { schema: child, path: `${path}.${keyword}` };
}

/** The schemas that a keyword lists: `allOf`. */
export function listedNodes({ schema, path }: SchemaNode, keyword: string): readonly SchemaNode[] {
  return listField(schema, keyword).flatMap((item, index) =>
    isJsonObject(item) ? [{ schema: item, path: `${path}.${keyword}[${index}]` }] : [],
  );
}

/** The schemas within it that say something about the same value: those of allOf, anyOf, oneOf and not. */
export function junctorNodes(node: SchemaNode): readonly SchemaNode[] {
  const not = childNode(node, 'not');
  const listed = ['allOf', 'anyOf', 'oneOf'].flatMap((keyword) => listedNodes(node, keyword));
  return not === undefined ? listed : [...listed, not];
}

/** Is it there, and neither empty nor false? The server forgets the others. */
export function isSet(schema: JsonObject, keyword: string): boolean {
  const value = fieldOf(schema, keyword);
  if (value === undefined || value === null || value === false || value === '') return false;
  return !isJsonList(value) || value.length > 0;
}

export function isTrue(schema: JsonObject, keyword: string): boolean {
  return fieldOf(schema, keyword) === true;
}

/** The one spelling of "an integer or a string" in which types may stand inside anyOf. */
export function isIntOrStringAnyOf(anyOf: Json | undefined): boolean {
  return JSON.stringify(anyOf) === '[{"type":"integer"},{"type":"string"}]';
}
