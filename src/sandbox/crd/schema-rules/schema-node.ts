import type { Json, JsonObject } from '#util/json.ts';
import { junctorsIn, type SchemaKeyword, type Subschema, schemasIn } from '#util/json-schema.ts';
import { fieldOf, isJsonList } from '../../json-fields.ts';

/** A schema of a CRD with those nested in it, as its author wrote it. Made once: several rules visit all of them. */
export class SchemaNode {
  readonly schema: JsonObject;
  /** Its path: `spec.versions[0].schema.openAPIV3Schema.properties[spec]`. */
  readonly path: string;
  /** The name of a field; empty for other schemas. */
  readonly name: string;
  /** The fields of an object. */
  readonly fields: readonly SchemaNode[];
  readonly items: SchemaNode | undefined;
  readonly additionalProperties: SchemaNode | undefined;
  /** The schemas that constrain the same value: those of allOf, anyOf, oneOf and not. */
  readonly junctors: readonly SchemaNode[];

  constructor(schema: JsonObject, path: string, name = '') {
    this.schema = schema;
    this.path = path;
    this.name = name;
    this.fields = this.named('properties');
    this.items = this.named('items')[0];
    this.additionalProperties = this.named('additionalProperties')[0];
    this.junctors = junctorsIn(schema).map((each) => this.#below(each));
  }

  /** The schemas in a keyword. */
  named(keyword: SchemaKeyword): readonly SchemaNode[] {
    return schemasIn(this.schema, keyword).map((each) => this.#below(each));
  }

  /** The schemas of `junctors` in the list of one keyword. */
  junctorsIn(keyword: string): readonly SchemaNode[] {
    return this.junctors.filter(({ path }) => path.startsWith(`${this.path}.${keyword}[`));
  }

  #below({ schema, keyword, key }: Subschema<JsonObject>): SchemaNode {
    const at = `${this.path}.${keyword}`;
    const name = typeof key === 'string' ? key : '';
    return new SchemaNode(schema, key === undefined ? at : `${at}[${key}]`, name);
  }
}

/** A schema without those nested in it. */
export type BareNode = Pick<SchemaNode, 'schema' | 'path'>;

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
  const { fields, items, additionalProperties, junctors } = node;
  for (const child of [...fields, items, additionalProperties, ...junctors]) {
    const found = child && unreadableKeyword(child);
    if (found !== undefined) return found;
  }
  return undefined;
}
