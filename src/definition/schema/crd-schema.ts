import {
  choice,
  flag,
  type JsonSchema,
  listOf,
  mapOf,
  struct,
  text,
  wholeNumber,
  word,
} from './json-schema.ts';

/** `spec.crd`: a CustomResourceDefinitionSpec and `metadata`. Refers to `#/$defs/schemaNode`. */
export const crdSchema: JsonSchema = struct(
  'The kind that this operator serves: what stands under `spec` in a CustomResourceDefinition. Much may be left out.',
  {
    metadata: struct('Labels and annotations of the CustomResourceDefinition.', {
      labels: mapOf('Labels.', text('Value.')),
      annotations: mapOf('Annotations.', text('Value.')),
    }),
    group: text('API group: a domain such as `apps.example.com`.'),
    names: struct(
      'Names of the kind.',
      {
        kind: text('CamelCase and singular: `PodSet`.'),
        plural: text('Lower case and plural, the name in URLs: `podsets`.'),
        singular: text('Default: the kind in lower case.'),
        listKind: text('Default: the kind and `List`.'),
        shortNames: listOf('Short names for kubectl.', text('Short name.')),
        categories: listOf('Groups of kinds, such as `all`.', text('Category.')),
      },
      ['kind', 'plural'],
    ),
    scope: word('Do resources live in namespaces?', ['Namespaced', 'Cluster']),
    versions: {
      ...listOf('Versions of the kind.', versionSchema()),
      minItems: 1,
    },
    conversion: struct(
      'How resources are converted between versions.',
      {
        strategy: choice('`None` only changes the apiVersion.', ['None', 'Webhook']),
        webhook: { type: 'object', description: 'Settings of the conversion webhook.' },
      },
      ['strategy'],
    ),
    preserveUnknownFields: { enum: [false], description: 'Only `false` is allowed.' },
  },
  ['group', 'names', 'scope', 'versions'],
);

function versionSchema(): JsonSchema {
  return struct(
    'One version.',
    {
      name: text('`v1`, `v1beta1`, `v1alpha1`.'),
      served: flag('Default: true when this is the only version.'),
      storage: flag('The version that is stored. Default: true when this is the only version.'),
      deprecated: flag('Warn whoever uses this version.', false),
      deprecationWarning: text('The warning.', { minLength: 1, maxLength: 256 }),
      schema: struct(
        'What resources look like.',
        {
          openAPIV3Schema: {
            type: 'object',
            description: 'A structural OpenAPI v3 schema.',
            allOf: [{ $ref: '#/$defs/schemaNode' }],
          },
        },
        ['openAPIV3Schema'],
      ),
      subresources: struct('`status` is always there.', {
        status: { ...struct('The status subresource.', {}) },
        scale: struct(
          'The scale subresource.',
          {
            specReplicasPath: text('JSON path under `.spec`.', { minLength: 1 }),
            statusReplicasPath: text('JSON path under `.status`.', { minLength: 1 }),
            labelSelectorPath: text('JSON path under `.spec` or `.status`.'),
          },
          ['specReplicasPath', 'statusReplicasPath'],
        ),
      }),
      additionalPrinterColumns: listOf(
        'Columns of `kubectl get`; `Ready`, `Reason` and `Age` are appended.',
        struct(
          'One column.',
          {
            name: text('Title.', { minLength: 1 }),
            type: word('Type.', ['integer', 'number', 'string', 'boolean', 'date']),
            format: word('Format.', [
              'int32',
              'int64',
              'float',
              'double',
              'byte',
              'date',
              'date-time',
              'password',
            ]),
            description: text('Description.'),
            priority: wholeNumber('Above 0: shown in the wide view only.'),
            jsonPath: text('Simple JSON path: `.spec.size`.', {
              pattern: '^\\.',
              title: 'a JSON path that starts with "."',
            }),
          },
          ['name', 'type', 'jsonPath'],
        ),
      ),
      selectableFields: {
        ...listOf(
          'Fields that field selectors may use.',
          struct('One field.', { jsonPath: text('`.spec.color`.') }, ['jsonPath']),
        ),
        maxItems: 8,
      },
    },
    ['name', 'schema'],
  );
}

const subschema: JsonSchema = { type: 'object', allOf: [{ $ref: '#/$defs/schemaNode' }] };
const subschemas: JsonSchema = { type: 'array', items: subschema };
const count: JsonSchema = { type: 'integer', minimum: 0 };
const names: JsonSchema = { type: 'array', items: { type: 'string' } };

/** `#/$defs/schemaNode`: one node of an OpenAPI v3 schema as CRDs have it. */
export const schemaNode: JsonSchema = {
  properties: {
    type: {
      type: 'string',
      enum: ['object', 'array', 'string', 'integer', 'number', 'boolean'],
    },
    format: { type: 'string' },
    title: { type: 'string' },
    description: { type: 'string' },
    default: {},
    example: {},
    externalDocs: { type: 'object' },
    enum: { type: 'array' },
    nullable: { type: 'boolean' },
    properties: { type: 'object', additionalProperties: subschema },
    additionalProperties: {
      type: ['object', 'boolean'],
      allOf: [{ $ref: '#/$defs/schemaNode' }],
    },
    required: names,
    minProperties: count,
    maxProperties: count,
    items: subschema,
    minItems: count,
    maxItems: count,
    uniqueItems: { enum: [false] },
    minLength: count,
    maxLength: count,
    pattern: { type: 'string' },
    minimum: { type: 'number' },
    maximum: { type: 'number' },
    exclusiveMinimum: { type: 'boolean' },
    exclusiveMaximum: { type: 'boolean' },
    multipleOf: { type: 'number' },
    allOf: subschemas,
    anyOf: subschemas,
    oneOf: subschemas,
    not: subschema,
    'x-kubernetes-preserve-unknown-fields': { enum: [true] },
    'x-kubernetes-embedded-resource': { type: 'boolean' },
    'x-kubernetes-int-or-string': { type: 'boolean' },
    'x-kubernetes-list-type': { type: 'string', enum: ['atomic', 'set', 'map'] },
    'x-kubernetes-list-map-keys': names,
    'x-kubernetes-map-type': { type: 'string', enum: ['atomic', 'granular'] },
    'x-kubernetes-validations': {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          rule: { type: 'string', minLength: 1 },
          message: { type: 'string', minLength: 1 },
          messageExpression: { type: 'string', minLength: 1 },
          reason: {
            type: 'string',
            enum: [
              'FieldValueInvalid',
              'FieldValueForbidden',
              'FieldValueRequired',
              'FieldValueDuplicate',
            ],
          },
          fieldPath: { type: 'string' },
          optionalOldSelf: { type: 'boolean' },
        },
        required: ['rule'],
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
};

/** Keywords of JSON schema that the API server refuses, and what to do instead. */
export const refusedKeywords: ReadonlyMap<string, string> = new Map([
  ['$ref', 'Write the schema out in its place'],
  ['$schema', 'Leave it out'],
  ['id', 'Leave it out'],
  ['definitions', 'Write the schemas out where they are used'],
  ['dependencies', 'Use "x-kubernetes-validations"'],
  ['patternProperties', 'Use "additionalProperties"'],
  ['additionalItems', 'Give "items" one schema for all items'],
  ['const', 'Use "enum" with one value'],
  ['if', 'Use "x-kubernetes-validations"'],
  ['then', 'Use "x-kubernetes-validations"'],
  ['else', 'Use "x-kubernetes-validations"'],
  ['propertyNames', 'Use "x-kubernetes-validations"'],
  ['contains', 'Use "x-kubernetes-validations"'],
  ['examples', 'Use "example" with one value'],
]);
