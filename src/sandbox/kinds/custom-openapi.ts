import type { MergeSchema } from '../apply/field-type-builder.ts';
import type { StructuralSchema } from '../schema/structural-schema.ts';
import type { ResourceNames, ServedKind } from './served-kind.ts';

/** The input for the published schema of a version. */
interface PublishedVersion {
  readonly names: ResourceNames;
  readonly schema: StructuralSchema;
}

/**
 * The schema of a custom resource as the server publishes it: the author's schema with the metadata fields of every object,
 * also in embedded resources, and with both types for integer-or-string fields.
 */
export function publishedSchema(schema: StructuralSchema): MergeSchema {
  return withHead(withPublished(schema) as MergeSchema, rootTexts);
}

/** Component names of custom kinds have the domain reversed: `io.demo.v1.Widget`. */
export function customOpenApi({ names, schema }: PublishedVersion): ServedKind['openApi'] {
  const { group, version, kind } = names;
  const gvk = { 'x-kubernetes-group-version-kind': [{ group, version, kind }] };
  const domain = group.split('.').reverse().join('.');
  return {
    name: `${domain}.${version}.${kind}`,
    schema: { ...publishedSchema(schema), ...gvk } as MergeSchema,
  };
}

/** The server's descriptions of apiVersion, kind and metadata. */
interface MetaDescriptions {
  readonly apiVersion: string;
  readonly kind: string;
}

const conventions =
  'https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md';

const rootTexts: MetaDescriptions = {
  apiVersion: `APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: ${conventions}#resources`,
  kind: `Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: ${conventions}#types-kinds`,
};

const embeddedTexts: MetaDescriptions = {
  apiVersion: `apiVersion defines the versioned schema of this representation of an object. More info: ${conventions}#resources`,
  kind: `kind is a string value representing the type of this object. In CamelCase. More info: ${conventions}#types-kinds`,
};

const metadataText = `Standard object's metadata. More info: ${conventions}#metadata`;

function withHead(schema: MergeSchema, { apiVersion, kind }: MetaDescriptions): MergeSchema {
  const head = {
    apiVersion: { description: apiVersion, type: 'string' },
    kind: { description: kind, type: 'string' },
    metadata: {
      description: metadataText,
      allOf: [{ $ref: `#/components/schemas/${objectMetaComponent}` }],
    },
  };
  return { ...schema, properties: { ...schema.properties, ...head } };
}

/** Shares every part that is published unchanged. */
function withPublished(schema: StructuralSchema): StructuralSchema {
  const changes = { ...innerChanges(schema), ...ownChanges(schema) };
  const whole = Object.keys(changes).length === 0 ? schema : { ...schema, ...changes };
  if (schema['x-kubernetes-embedded-resource'] !== true) return whole;
  const { required = [] } = schema;
  const missing = ['kind', 'apiVersion'].filter((name) => !required.includes(name));
  const embedded = { ...whole, required: [...required, ...missing] };
  return withHead(embedded as MergeSchema, embeddedTexts) as StructuralSchema;
}

function ownChanges({ anyOf, allOf, ...schema }: StructuralSchema): Partial<StructuralSchema> {
  if (schema['x-kubernetes-int-or-string'] !== true) return {};
  const hasUnion = anyOf !== undefined || allOf?.some((part) => part.anyOf !== undefined) === true;
  return hasUnion ? {} : { anyOf: [{ type: 'integer' }, { type: 'string' }] };
}

function innerChanges(schema: StructuralSchema): Partial<StructuralSchema> {
  const { properties, items, additionalProperties } = schema;
  return {
    ...changed('properties', properties, withEach),
    ...changed('items', items, withPublished),
    ...changed(
      'additionalProperties',
      typeof additionalProperties === 'object' ? additionalProperties : undefined,
      withPublished,
    ),
  };
}

function changed<Name extends keyof StructuralSchema, Part>(
  name: Name,
  part: Part | undefined,
  publish: (part: Part) => Part,
): { readonly [name in Name]?: Part } {
  if (part === undefined) return {};
  const published = publish(part);
  return published === part ? {} : ({ [name]: published } as { readonly [name in Name]: Part });
}

function withEach(
  properties: Readonly<Record<string, StructuralSchema>>,
): Readonly<Record<string, StructuralSchema>> {
  const entries = Object.entries(properties).map(([name, field]): [string, StructuralSchema] => [
    name,
    withPublished(field),
  ]);
  const isSame = entries.every(([name, field]) => field === properties[name]);
  return isSame ? properties : Object.fromEntries(entries);
}

/** The component of the type of `metadata`. */
export const objectMetaComponent = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
