import {
  booleanSchema,
  enumSchema,
  enumWithDefault,
  integerSchema,
  type JsonSchema,
  listSchema,
  mapSchema,
  objectSchema,
  stringSchema,
} from './json-schema.ts';

/** `spec.crd`: a CustomResourceDefinitionSpec and `metadata`. Refers to `#/$defs/schemaNode`. */
export const crdSchema: JsonSchema = objectSchema(
  'The kind that this operator serves: the `spec` of a CustomResourceDefinition. Fields with obvious defaults may be omitted.',
  {
    metadata: objectSchema('Labels and annotations of the CustomResourceDefinition.', {
      labels: mapSchema(
        'Labels of the CustomResourceDefinition.',
        stringSchema('Value of the label.', { examples: ['platform'] }),
      ),
      annotations: mapSchema(
        'Annotations of the CustomResourceDefinition.',
        stringSchema('Value of the annotation.', {
          examples: ['https://github.com/kubernetes/enhancements'],
        }),
      ),
    }),
    group: stringSchema('API group: a domain such as `apps.example.com`.', {
      examples: ['apps.example.com'],
    }),
    names: objectSchema(
      'Names of the kind.',
      {
        kind: stringSchema('Name of the kind in CamelCase, singular.', { examples: ['PodSet'] }),
        plural: stringSchema('Plural name in lower case, for URLs and kubectl.', {
          examples: ['podsets'],
        }),
        singular: stringSchema('Singular name for kubectl. Default: the kind in lower case.', {
          examples: ['podset'],
        }),
        listKind: stringSchema('Kind of lists. Default: the kind followed by `List`.', {
          examples: ['PodSetList'],
        }),
        shortNames: listSchema(
          'Short names for kubectl.',
          stringSchema('Short name.', { examples: ['ps'] }),
        ),
        categories: listSchema(
          'Groups of kinds, such as `all`.',
          stringSchema('Category.', { examples: ['all'] }),
        ),
      },
      ['kind', 'plural'],
    ),
    scope: enumSchema('Whether resources are namespaced.', ['Namespaced', 'Cluster']),
    versions: {
      ...listSchema('Versions of the kind.', versionSchema()),
      minItems: 1,
    },
    conversion: objectSchema(
      'How resources are converted between versions.',
      {
        strategy: enumWithDefault(
          'Conversion strategy. `None` only changes the apiVersion; `Webhook` calls `webhook`.',
          ['None', 'Webhook'],
        ),
        webhook: conversionWebhookSchema(),
      },
      ['strategy'],
    ),
    preserveUnknownFields: { enum: [false], description: 'Only `false` is allowed.' },
  },
  ['group', 'names', 'scope', 'versions'],
);

function conversionWebhookSchema(): JsonSchema {
  return objectSchema(
    'The webhook that converts resources, for the strategy `Webhook`.',
    {
      clientConfig: objectSchema('How the API server calls the webhook: `url` or `service`.', {
        url: stringSchema('URL: `https://host[:port][/path]`.', {
          examples: ['https://convert.example.com/podsets'],
        }),
        service: objectSchema(
          'The Service of the webhook.',
          {
            namespace: stringSchema('Namespace of the Service.', { examples: ['podsets-system'] }),
            name: stringSchema('Name of the Service.', { examples: ['convert'] }),
            path: stringSchema('Path of the URL.', { examples: ['/convert'] }),
            port: integerSchema('Port of the Service.', {
              minimum: 1,
              maximum: 65_535,
              default: 443,
            }),
          },
          ['namespace', 'name'],
        ),
        caBundle: stringSchema(
          'Certificates (PEM, in base64) that verify the webhook. Omit it if another controller, such as cert-manager, writes it.',
          { examples: ['LS0tLS1CRUdJTi...'] },
        ),
      }),
      conversionReviewVersions: {
        ...listSchema(
          'Versions of ConversionReview that the webhook understands, the preferred one first.',
          stringSchema('Version of ConversionReview.', { examples: ['v1', 'v1beta1'] }),
        ),
        minItems: 1,
      },
    },
    ['clientConfig', 'conversionReviewVersions'],
  );
}

function versionSchema(): JsonSchema {
  return objectSchema(
    'One version.',
    {
      name: stringSchema('Name of the version.', { examples: ['v1', 'v1beta1', 'v1alpha1'] }),
      served: booleanSchema(
        'Whether the API serves this version. Default: `true` for the only version.',
      ),
      storage: booleanSchema(
        'Whether resources are stored in this version. Default: `true` for the only version.',
      ),
      deprecated: booleanSchema(
        'Whether the API server warns clients that use this version.',
        false,
      ),
      deprecationWarning: stringSchema('Warning for clients that use a deprecated version.', {
        minLength: 1,
        maxLength: 256,
        examples: ['example.com/v1alpha1 is deprecated; use example.com/v1'],
      }),
      schema: objectSchema(
        'Schema of the resources.',
        {
          openAPIV3Schema: {
            type: 'object',
            description: 'A structural OpenAPI v3 schema with `spec` and `status`.',
            examples: [
              {
                type: 'object',
                properties: {
                  spec: { type: 'object', properties: { size: { type: 'integer', minimum: 0 } } },
                },
              },
            ],
            allOf: [{ $ref: '#/$defs/schemaNode' }],
          },
        },
        ['openAPIV3Schema'],
      ),
      subresources: objectSchema('Subresources. `status` is always enabled.', {
        status: { ...objectSchema('The status subresource.', {}) },
        scale: objectSchema(
          'The scale subresource.',
          {
            specReplicasPath: stringSchema('JSON path under `.spec` of the desired replicas.', {
              minLength: 1,
              examples: ['.spec.replicas'],
            }),
            statusReplicasPath: stringSchema('JSON path under `.status` of the current replicas.', {
              minLength: 1,
              examples: ['.status.replicas'],
            }),
            labelSelectorPath: stringSchema(
              'JSON path under `.spec` or `.status` of the selector of the Pods.',
              {
                examples: ['.status.selector'],
              },
            ),
          },
          ['specReplicasPath', 'statusReplicasPath'],
        ),
      }),
      additionalPrinterColumns: listSchema(
        'Columns of `kubectl get`; `Ready`, `Reason` and `Age` are appended.',
        objectSchema(
          'One column.',
          {
            name: stringSchema('Title of the column.', { minLength: 1, examples: ['Replicas'] }),
            type: enumSchema('Type of the value.', [
              'integer',
              'number',
              'string',
              'boolean',
              'date',
            ]),
            format: enumSchema('Format of the value.', [
              'int32',
              'int64',
              'float',
              'double',
              'byte',
              'date',
              'date-time',
              'password',
            ]),
            description: stringSchema('Description of the column.', {
              examples: ['Pods that are ready'],
            }),
            priority: integerSchema(
              'Columns with a priority above 0 are only shown with `-o wide`.',
            ),
            jsonPath: stringSchema('Simple JSON path of the value.', {
              examples: ['.spec.size'],
              pattern: '^\\.',
              title: 'a JSON path that starts with "."',
            }),
          },
          ['name', 'type', 'jsonPath'],
        ),
      ),
      selectableFields: {
        ...listSchema(
          'Fields that field selectors may use.',
          objectSchema(
            'One field.',
            { jsonPath: stringSchema('JSON path of the field.', { examples: ['.spec.color'] }) },
            ['jsonPath'],
          ),
        ),
        maxItems: 8,
      },
    },
    ['name', 'schema'],
  );
}

const node = { $ref: '#/$defs/schemaNode' };
const subschema = (description: string): JsonSchema => ({
  type: 'object',
  description,
  allOf: [node],
});
const subschemas = (description: string): JsonSchema =>
  listSchema(description, subschema('A schema.'));
const count = (description: string): JsonSchema => integerSchema(description, { minimum: 0 });
const names = (description: string): JsonSchema =>
  listSchema(description, stringSchema('Name of a field.', { examples: ['name'] }));
const number = (description: string): JsonSchema => ({ type: 'number', description });

/** `#/$defs/schemaNode`: one node of an OpenAPI v3 schema as CRDs have it. */
export const schemaNode: JsonSchema = {
  description: 'A part of an OpenAPI v3 schema.',
  properties: {
    type: enumSchema('Type of the value.', [
      'object',
      'array',
      'string',
      'integer',
      'number',
      'boolean',
    ]),
    format: stringSchema(
      'Format of the value. The API server checks the formats that it supports.',
      {
        examples: ['int32', 'date-time', 'ipv4', 'uri'],
      },
    ),
    title: stringSchema('Human-readable title.', { examples: ['Size'] }),
    description: stringSchema('What the field means. `kubectl explain` shows it.', {
      examples: ['How many Pods run.'],
    }),
    default: { description: 'The value of an omitted field.', examples: [1] },
    example: { description: 'An example value, for documentation.', examples: ['web'] },
    externalDocs: { type: 'object', description: 'Link to more documentation.' },
    enum: { type: 'array', description: 'The values that are allowed.', examples: [['a', 'b']] },
    nullable: { type: 'boolean', description: 'Whether `null` is a valid value.' },
    properties: mapSchema('Fields of an object.', subschema('Schema of the field.')),
    additionalProperties: {
      type: ['object', 'boolean'],
      description: 'Schema of the values of a map with arbitrary keys.',
      allOf: [node],
    },
    required: names('Required fields.'),
    minProperties: count('Minimum number of fields.'),
    maxProperties: count('Maximum number of fields.'),
    items: subschema('Schema of the items of a list.'),
    minItems: count('Minimum number of items.'),
    maxItems: count('Maximum number of items.'),
    uniqueItems: {
      enum: [false],
      description: 'Only `false` is allowed; use a list of type `set`.',
    },
    minLength: count('Minimum number of characters.'),
    maxLength: count('Maximum number of characters.'),
    pattern: stringSchema('Regular expression (RE2) that a string must match.', {
      examples: ['^[a-z]+$'],
    }),
    minimum: number('Minimum value.'),
    maximum: number('Maximum value.'),
    exclusiveMinimum: { type: 'boolean', description: 'Whether `minimum` itself is not allowed.' },
    exclusiveMaximum: { type: 'boolean', description: 'Whether `maximum` itself is not allowed.' },
    multipleOf: number('The value must be a multiple of this number.'),
    allOf: subschemas('Schemas, all of which must match.'),
    anyOf: subschemas('Schemas, at least one of which must match.'),
    oneOf: subschemas('Schemas, exactly one of which must match.'),
    not: subschema('A schema that must not match.'),
    'x-kubernetes-preserve-unknown-fields': {
      enum: [true],
      description: 'Fields that are not in the schema are preserved.',
    },
    'x-kubernetes-embedded-resource': booleanSchema('The value is a complete Kubernetes object.'),
    'x-kubernetes-int-or-string': booleanSchema(
      'The value is an integer or a string, such as a port.',
    ),
    'x-kubernetes-list-type': enumSchema(
      'How server-side apply merges the list: as a whole, as a set of values, or by keys of its items.',
      ['atomic', 'set', 'map'],
    ),
    'x-kubernetes-list-map-keys': names('Fields that identify an item of a list of type `map`.'),
    'x-kubernetes-map-type': enumSchema(
      'How server-side apply merges the object: as a whole, or by fields.',
      ['atomic', 'granular'],
    ),
    'x-kubernetes-validations': listSchema(
      'Rules in CEL that the value must satisfy.',
      objectSchema(
        'A rule.',
        {
          rule: stringSchema('CEL expression that must be true; `self` is the value.', {
            minLength: 1,
            examples: ['self.min <= self.max'],
          }),
          message: stringSchema('Message for a value that violates the rule.', {
            minLength: 1,
            examples: ['min must not be greater than max'],
          }),
          messageExpression: stringSchema('CEL expression that returns the message.', {
            minLength: 1,
            examples: ['"at most " + string(self.max)'],
          }),
          reason: enumSchema('Reason of the error.', [
            'FieldValueInvalid',
            'FieldValueForbidden',
            'FieldValueRequired',
            'FieldValueDuplicate',
          ]),
          fieldPath: stringSchema('The field that the error refers to.', { examples: ['.min'] }),
          optionalOldSelf: booleanSchema(
            'Whether a rule with `oldSelf` is also evaluated for new values.',
          ),
        },
        ['rule'],
      ),
    ),
  },
  additionalProperties: false,
};

/** Whether a node of a CRD schema has a mistyped keyword, or one that the API server rejects: its fields may be there. */
export function hasUnknownKeyword(schemaOfCrd: object): boolean {
  const known = schemaNode.properties as object;
  return Object.keys(schemaOfCrd).some((keyword) => !Object.hasOwn(known, keyword));
}

/** Keywords of JSON schema that the API server rejects, and their replacements. */
export const unsupportedKeywords: ReadonlyMap<string, string> = new Map([
  ['$ref', 'Replace it with the schema it refers to'],
  ['$schema', 'Remove it'],
  ['id', 'Remove it'],
  ['definitions', 'Move each schema to where it is used'],
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
