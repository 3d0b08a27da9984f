import { isJsonObject, type Json, type JsonObject } from '../../../util/json.ts';
import { fieldOf, isJsonList, listField, objectField } from '../../json-fields.ts';

/** A schema nested in the schema of a CRD, as its author wrote it. */
export interface SchemaNode {
  readonly schema: JsonObject;
  /** Its path: `spec.versions[0].schema.openAPIV3Schema.properties[spec]`. */
  readonly path: string;
}

interface NamedNode extends SchemaNode {
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

/** The schema of a keyword; undefined when there is none. */
export function childNode({ schema, path }: SchemaNode, keyword: string): SchemaNode | undefined {
  const child = objectField(schema, keyword);
  return child === undefined ? undefined : { schema: child, path: `${path}.${keyword}` };
}

/** The schemas in the list of a keyword: `allOf`. */
export function listedNodes({ schema, path }: SchemaNode, keyword: string): readonly SchemaNode[] {
  return listField(schema, keyword).flatMap((item, index) =>
    isJsonObject(item) ? [{ schema: item, path: `${path}.${keyword}[${index}]` }] : [],
  );
}

/** The nested schemas that constrain the same value: those of allOf, anyOf, oneOf and not. */
export function junctorNodes(node: SchemaNode): readonly SchemaNode[] {
  const not = childNode(node, 'not');
  const listed = ['allOf', 'anyOf', 'oneOf'].flatMap((keyword) => listedNodes(node, keyword));
  return not === undefined ? listed : [...listed, not];
}

/** Returns whether a keyword is present and neither empty nor false. The server drops the others. */
export function isSet(schema: JsonObject, keyword: string): boolean {
  const value = fieldOf(schema, keyword);
  if (value === undefined || value === null || value === false || value === '') return false;
  return !isJsonList(value) || value.length > 0;
}

export function isTrue(schema: JsonObject, keyword: string): boolean {
  return fieldOf(schema, keyword) === true;
}

/** The only form of "an integer or a string" that allows types inside anyOf. */
export function isIntOrStringAnyOf(anyOf: Json | undefined): boolean {
  return JSON.stringify(anyOf) === '[{"type":"integer"},{"type":"string"}]';
}

/** A keyword with which the server cannot read the schema as a structural one. All but `$schema` are also reported elsewhere. */
export function unreadableKeyword(node: SchemaNode): string | undefined {
  const { schema } = node;
  if (isSet(schema, '$schema')) return 'schema';
  for (const keyword of ['id', '$ref', 'patternProperties', 'dependencies', 'definitions'])
    if (isSet(schema, keyword)) return keyword;
  if (fieldOf(schema, 'additionalItems') !== undefined) return 'additionalItems';
  if (isJsonList(fieldOf(schema, 'items') ?? null)) return 'items';
  const preserve = 'x-kubernetes-preserve-unknown-fields';
  if (fieldOf(schema, preserve) === false) return preserve;
  const children = [
    ...propertyNodes(node),
    ...['items', 'additionalProperties'].flatMap((name) => childNode(node, name) ?? []),
    ...junctorNodes(node),
  ];
  for (const child of children) {
    const found = unreadableKeyword(child);
    if (found !== undefined) return found;
  }
  return undefined;
}
