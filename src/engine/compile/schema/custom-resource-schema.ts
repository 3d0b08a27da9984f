import { hasUnknownKeyword } from '#definition';
import type { Gvk } from '#util/gvk.ts';
import { isJsonObject } from '#util/json.ts';
import type { KindSchema } from '../schema-source.ts';
import bundled from './builtin-schemas.generated.json' with { type: 'json' };
import { createSchemaCompiler, type JsonSchema } from './schema-compiler.ts';
import type { SchemaType } from './schema-type.ts';

const metaPackage = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const objectMetaName = `${metaPackage}.ObjectMeta`;
/** ObjectMeta and the components it refers to. */
const metaComponents = [
  objectMetaName,
  `${metaPackage}.OwnerReference`,
  `${metaPackage}.ManagedFieldsEntry`,
  `${metaPackage}.FieldsV1`,
  `${metaPackage}.Time`,
];
const objectMeta: JsonSchema = { $ref: `#/components/schemas/${objectMetaName}` };
const text: JsonSchema = { type: 'string' };

/**
 * The structural schema of a CRD version (`openAPIV3Schema`) as the server publishes it: apiVersion, kind and
 * metadata are replaced by the server's schemas, at the root and in embedded resources.
 */
export function customResourceSchema(openAPIV3Schema: object, gvk: Gvk): KindSchema {
  const root = componentName(gvk);
  const schema = withObjectFields(withEmbeddedObjects(openAPIV3Schema));
  return {
    root,
    components: { ...pick(bundled.components, metaComponents), [root]: { ...schema } },
  };
}

/**
 * The type of a custom resource, computed from its CRD. Equals the type from the server's OpenAPI document after the
 * CRD is installed.
 */
export function schemaOfCustomResource(openAPIV3Schema: object, gvk: Gvk): SchemaType {
  return createSchemaCompiler().compile(customResourceSchema(openAPIV3Schema, gvk));
}

/** `apps.example.com/v1 PodSet` -> `com.example.apps.v1.PodSet`. */
function componentName({ group, version, kind }: Gvk): string {
  return [...group.split('.').reverse(), version, kind].join('.');
}

function withObjectFields(schema: JsonSchema): JsonSchema {
  return {
    ...schema,
    properties: { ...schema.properties, apiVersion: text, kind: text, metadata: objectMeta },
  };
}

function withEmbeddedObjects(written: JsonSchema): JsonSchema {
  const schema = usablePart(written);
  const { properties, items, additionalProperties } = schema;
  const isLeaf =
    properties === undefined && items === undefined && typeof additionalProperties !== 'object';
  if (isLeaf && !schema['x-kubernetes-embedded-resource']) return schema;
  const copy: JsonSchema = {
    ...schema,
    ...(properties && { properties: mapValues(properties, withEmbeddedObjects) }),
    ...(items && { items: withEmbeddedObjects(items) }),
    ...(typeof additionalProperties === 'object' && {
      additionalProperties: withEmbeddedObjects(additionalProperties),
    }),
  };
  if (!copy['x-kubernetes-embedded-resource']) return copy;
  const required = new Set([...(copy.required ?? []), 'kind', 'apiVersion']);
  return withObjectFields({ ...copy, required: [...required] });
}

/**
 * Rejected definitions are compiled, too, to report all errors at once: what is no schema, or has unknown keywords, accepts everything,
 * and keywords with a value of another type are left out. Each has a diagnostic of its own.
 */
function usablePart(schema: JsonSchema): JsonSchema {
  if (!isJsonObject(schema)) return open;
  const keywords = Object.entries(schema);
  const isOpen = hasUnknownKeyword(schema);
  if (!isOpen && keywords.every(isUsable)) return schema;
  return { ...Object.fromEntries(keywords.filter(isUsable)), ...(isOpen && open) };
}

function isUsable([keyword, value]: readonly [string, unknown]): boolean {
  if (keyword === 'enum') return Array.isArray(value);
  if (listKeywords.has(keyword)) return Array.isArray(value) && !value.includes(null);
  return !mapKeywords.has(keyword) || isJsonObject(value);
}

const open: JsonSchema = { 'x-kubernetes-preserve-unknown-fields': true };

const listKeywords: ReadonlySet<string> = new Set([
  'allOf',
  'anyOf',
  'oneOf',
  'required',
  'x-kubernetes-list-map-keys',
]);
const mapKeywords: ReadonlySet<string> = new Set(['properties', 'items']);

function mapValues<T>(
  record: Readonly<Record<string, T>>,
  change: (value: T) => T,
): Record<string, T> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}

function pick<T>(
  record: Readonly<Record<string, T>>,
  keys: readonly string[],
): Readonly<Record<string, T>> {
  return Object.fromEntries(
    keys.flatMap((key) => (key in record ? [[key, record[key] as T]] : [])),
  );
}
