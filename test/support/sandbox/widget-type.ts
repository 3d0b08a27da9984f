import type { FieldType } from '#sandbox/apply/field-type.ts';
import { FieldTypeBuilder, type MergeSchema } from '#sandbox/apply/field-type-builder.ts';

const text: MergeSchema = { type: 'string' };

const schema: MergeSchema = {
  type: 'object',
  properties: {
    apiVersion: text,
    kind: text,
    metadata: {
      type: 'object',
      properties: {
        name: text,
        namespace: text,
        labels: { type: 'object', additionalProperties: text },
        annotations: { type: 'object', additionalProperties: text },
      },
    },
    spec: {
      type: 'object',
      properties: {
        size: { type: 'integer' },
        title: text,
        nested: { type: 'object', properties: { a: text, b: text } },
        tags: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
        args: { type: 'array', items: text },
        limits: {
          type: 'object',
          additionalProperties: text,
          'x-kubernetes-map-type': 'atomic',
        },
        ports: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['port', 'protocol'],
          items: {
            type: 'object',
            properties: {
              port: { type: 'integer' },
              protocol: { type: 'string', default: 'TCP' },
              name: text,
            },
          },
        },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
    status: { type: 'object', properties: { phase: text } },
  },
};

/** The type of a kind with every shape, for the tests of this room. */
export const widgetType: FieldType = new FieldTypeBuilder({}).typeOf(schema);
