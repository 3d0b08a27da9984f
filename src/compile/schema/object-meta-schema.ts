import type { JsonSchema } from './json-schema.ts';

/** The component that custom resources share with all other kinds. */
export const objectMetaName = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

const prefix = 'io.k8s.apimachinery.pkg.apis.meta.v1.';
const text: JsonSchema = { type: 'string' };
const time: JsonSchema = { $ref: `#/components/schemas/${prefix}Time` };
const integer: JsonSchema = { type: 'integer', format: 'int64' };
const textMap: JsonSchema = { type: 'object', additionalProperties: text };

/** ObjectMeta and what it reaches, as in the server's documents: needed where a CRD is all there is. */
export const objectMetaComponents = {
  [objectMetaName]: {
    type: 'object',
    properties: {
      annotations: textMap,
      creationTimestamp: time,
      deletionGracePeriodSeconds: integer,
      deletionTimestamp: time,
      finalizers: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
      generateName: text,
      generation: integer,
      labels: textMap,
      managedFields: {
        type: 'array',
        items: { $ref: `#/components/schemas/${prefix}ManagedFieldsEntry` },
        'x-kubernetes-list-type': 'atomic',
      },
      name: text,
      namespace: text,
      ownerReferences: {
        type: 'array',
        items: { $ref: `#/components/schemas/${prefix}OwnerReference` },
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['uid'],
      },
      resourceVersion: text,
      selfLink: text,
      uid: text,
    },
  },
  [`${prefix}OwnerReference`]: {
    type: 'object',
    required: ['apiVersion', 'kind', 'name', 'uid'],
    properties: {
      apiVersion: text,
      blockOwnerDeletion: { type: 'boolean' },
      controller: { type: 'boolean' },
      kind: text,
      name: text,
      uid: text,
    },
    'x-kubernetes-map-type': 'atomic',
  },
  [`${prefix}ManagedFieldsEntry`]: {
    type: 'object',
    properties: {
      apiVersion: text,
      fieldsType: text,
      fieldsV1: { $ref: `#/components/schemas/${prefix}FieldsV1` },
      manager: text,
      operation: text,
      subresource: text,
      time,
    },
  },
  [`${prefix}FieldsV1`]: { type: 'object' },
  [`${prefix}Time`]: { type: 'string', format: 'date-time' },
} as const;
