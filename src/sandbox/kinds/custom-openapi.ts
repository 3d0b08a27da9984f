import type { MergeSchema } from '../apply/index.ts';
import type { StructuralSchema } from '../schema/index.ts';
import { objectMetaComponent } from './object-meta.ts';
import type { ResourceNames, ServedKind } from './served-kind.ts';

/** What is published of a version of a CRD. */
export interface PublishedVersion {
  readonly names: ResourceNames;
  readonly schema: StructuralSchema;
}

/** The schema of a custom resource as the server publishes it: with the head that every object has. */
export function publishedSchema(schema: StructuralSchema): MergeSchema {
  return withObjectHead(withEmbedded(schema));
}

/** Components of custom kinds are named by the domain backwards: `io.demo.v1.Widget`. */
export function customOpenApi({ names, schema }: PublishedVersion): ServedKind['openApi'] {
  const { group, version, kind } = names;
  const gvk = { 'x-kubernetes-group-version-kind': [{ group, version, kind }] };
  const domain = group.split('.').reverse().join('.');
  return {
    name: `${domain}.${version}.${kind}`,
    schema: { ...publishedSchema(schema), ...gvk } as MergeSchema,
  };
}

function withObjectHead(schema: MergeSchema): MergeSchema {
  const head = {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { $ref: `#/components/schemas/${objectMetaComponent}` },
  };
  return { ...schema, properties: { ...schema.properties, ...head } };
}

function withEmbedded(schema: StructuralSchema): MergeSchema {
  const {
    properties,
    items,
    additionalProperties,
    allOf: _,
    anyOf: __,
    oneOf: ___,
    not: ____,
    ...rest
  } = schema;
  const inner: MergeSchema = {
    ...(rest as MergeSchema),
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, field]) => [name, withEmbedded(field)]),
          ),
        }),
    ...(items === undefined ? {} : { items: withEmbedded(items) }),
    ...(additionalProperties === undefined
      ? {}
      : {
          additionalProperties:
            typeof additionalProperties === 'object'
              ? withEmbedded(additionalProperties)
              : additionalProperties,
        }),
  };
  return schema['x-kubernetes-embedded-resource'] === true ? withObjectHead(inner) : inner;
}
