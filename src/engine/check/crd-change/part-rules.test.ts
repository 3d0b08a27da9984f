import { testSchemaChanges } from '../../../../test/support/crd/schema-changes.ts';

testSchemaChanges({
  fields: [
    ['type: object', '{ type: object, properties: { a: { type: string } } }'],
    ['type: object', '{ type: object, properties: { a: { type: string, default: x } } }'],
    [
      'type: object',
      '{ type: object, properties: { a: { type: object, required: [b], properties: { b: { type: string } } } } }',
    ],
    [
      '{ type: object, properties: { a: { type: string } } }',
      'type: object',
      /"spec.x.a" of version "v1" is removed/,
    ],
    [
      '{ type: object, properties: { a: { type: string } } }',
      '{ type: object, properties: { b: { type: string } } }',
      /"spec.x.a" .* is removed/,
    ],
    [
      '{ type: object, properties: { a: { type: string } } }',
      '{ type: object, required: [a], properties: { a: { type: string } } }',
      /requires "a" from now on/,
    ],
    [
      'type: object',
      '{ type: object, required: [a], properties: { a: { type: string } } }',
      /requires "a"/,
    ],
    [
      '{ type: object, required: [a], properties: { a: { type: string } } }',
      '{ type: object, properties: { a: { type: string } } }',
    ],
    [
      '{ type: object, maxProperties: 2 }',
      '{ type: object, maxProperties: 2, properties: { a: { type: string } } }',
    ],
    [
      '{ type: object, maxProperties: 2 }',
      '{ type: object, maxProperties: 2, properties: { a: { type: string, default: x } } }',
      /is new and has a default/,
    ],
    [
      '{ type: object, not: { required: [a] } }',
      '{ type: object, not: { required: [a] }, properties: { b: { type: string, default: x } } }',
      /is new and has a default/,
    ],
  ],
  'free fields': [
    [
      '{ type: object, properties: { a: { type: string } } }',
      '{ type: object, x-kubernetes-preserve-unknown-fields: true }',
    ],
    [
      '{ type: object, properties: { a: { type: object, properties: { b: { type: string, default: x } } } } }',
      '{ type: object, x-kubernetes-preserve-unknown-fields: true }',
      /"spec.x.a" .* is removed: its defaults would be missing/,
    ],
    [
      '{ type: object, required: [a], properties: { a: { type: string } } }',
      '{ type: object, x-kubernetes-preserve-unknown-fields: true }',
    ],
    ['type: object', '{ type: object, x-kubernetes-preserve-unknown-fields: true }'],
    [
      '{ type: object, x-kubernetes-preserve-unknown-fields: true }',
      'type: object',
      /no longer preserves unknown fields/,
    ],
    [
      '{ type: object, x-kubernetes-preserve-unknown-fields: true }',
      '{ type: object, x-kubernetes-preserve-unknown-fields: true, properties: { a: { type: string } } }',
      /"spec.x.a" .* changes its type from "any" to "string"/,
    ],
    [
      '{ type: object, x-kubernetes-preserve-unknown-fields: true }',
      '{ type: object, x-kubernetes-preserve-unknown-fields: true, properties: { a: { x-kubernetes-preserve-unknown-fields: true } } }',
    ],
    [
      '{ type: object, x-kubernetes-preserve-unknown-fields: true }',
      '{ type: object, x-kubernetes-preserve-unknown-fields: true, properties: { a: { x-kubernetes-preserve-unknown-fields: true, default: 1 } } }',
      /default/,
    ],
  ],
  maps: [
    ['type: object', '{ type: object, additionalProperties: { type: string } }'],
    [
      '{ type: object, additionalProperties: { type: string } }',
      'type: object',
      /changes "additionalProperties"/,
    ],
    [
      '{ type: object, additionalProperties: { type: string } }',
      '{ type: object, properties: { a: { type: string } } }',
      /changes "additionalProperties"/,
    ],
    [
      '{ type: object, properties: { a: { type: string } } }',
      '{ type: object, additionalProperties: { type: string } }',
      /"spec.x.a" .* is removed/,
    ],
    [
      '{ type: object, additionalProperties: { type: string, maxLength: 3 } }',
      '{ type: object, additionalProperties: { type: string, maxLength: 4 } }',
    ],
    [
      '{ type: object, additionalProperties: { type: string } }',
      '{ type: object, additionalProperties: true }',
      /additionalProperties/,
    ],
    [
      '{ type: object, x-kubernetes-preserve-unknown-fields: true }',
      '{ type: object, x-kubernetes-preserve-unknown-fields: true, additionalProperties: { type: string } }',
      /additionalProperties/,
    ],
  ],
  lists: [
    [
      '{ type: array, items: { type: string, maxLength: 3 } }',
      '{ type: array, items: { type: string } }',
    ],
    [
      '{ type: array, items: { type: string } }',
      '{ type: array, items: { type: string, maxLength: 3 } }',
      /"spec.x\[\]" .* gets "maxLength: 3"/,
    ],
    [
      '{ type: array, items: { type: string } }',
      '{ type: array, x-kubernetes-list-type: set, items: { type: string } }',
      /"x-kubernetes-list-type" from "atomic" to "set"/,
    ],
    [
      '{ type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a], items: { type: object } }',
      '{ type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [b], items: { type: object } }',
      /list-map-keys/,
    ],
    [
      'type: object',
      '{ type: object, x-kubernetes-map-type: atomic }',
      /"x-kubernetes-map-type" from "granular" to "atomic"/,
    ],
    [
      '{ type: array, items: { type: object, properties: { a: { type: string } } } }',
      '{ type: array, items: { type: object } }',
      /"spec.x\[\].a" of version "v1" is removed/,
    ],
  ],
  'what Kubernetes adds': [
    [
      '{ x-kubernetes-int-or-string: true }',
      '{ x-kubernetes-int-or-string: true, anyOf: [{ type: integer }, { type: string }] }',
      /gets "anyOf"/,
    ],
    ['{ x-kubernetes-int-or-string: true }', 'type: string', /type/],
    ['{ type: object, x-kubernetes-embedded-resource: true }', 'type: object', /embedded-resource/],
    ['type: object', '{ type: object, x-kubernetes-embedded-resource: true }', /embedded-resource/],
    [
      '{ type: object, x-kubernetes-embedded-resource: true }',
      '{ type: object, x-kubernetes-embedded-resource: true, properties: { kind: { type: string, enum: [Pod] } } }',
      /"spec.x.kind" .* gets an enum/,
    ],
    [
      '{ type: object, x-kubernetes-embedded-resource: true }',
      '{ type: object, x-kubernetes-embedded-resource: true, properties: { kind: { type: string }, metadata: { type: object } } }',
    ],
    [
      '{ type: object, x-kubernetes-embedded-resource: true }',
      '{ type: object, x-kubernetes-embedded-resource: true, additionalProperties: { type: string } }',
      /additionalProperties/,
    ],
  ],
});
