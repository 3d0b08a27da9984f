import {
  enumSchema,
  type JsonSchema,
  listSchema,
  objectSchema,
  stringSchema,
} from './json-schema.ts';

const matchExpressions: JsonSchema = {
  type: ['array', 'string'],
  description: 'Requirements, all of which must hold. May be an expression.',
  items: {
    type: ['object', 'string'],
    properties: {
      key: stringSchema('Key of the label or annotation.', {
        examples: ['app.kubernetes.io/name'],
      }),
      operator: enumSchema('How the key is compared: with `values`, or whether it exists.', [
        'In',
        'NotIn',
        'Exists',
        'DoesNotExist',
      ]),
      values: {
        type: ['array', 'string'],
        description: 'The values for `In` and `NotIn`. May be an expression.',
        examples: [['web', 'api']],
      },
    },
    required: ['key', 'operator'],
    additionalProperties: false,
  },
};
/** A selector of labels or annotations. */
export const selector = (description: string): JsonSchema =>
  objectSchema(description, {
    matchLabels: {
      type: ['object', 'string'],
      description: 'Required keys and values. Values, or the whole map, may be expressions.',
      examples: [{ app: '${ metadata.name }' }],
      additionalProperties: { type: 'string' },
    },
    matchExpressions,
  });

/** Permission for other namespaces. */
export const crossNamespace: JsonSchema = {
  type: ['boolean', 'object'],
  description:
    "Allows namespaces other than the resource's: `true` for literal names and selectors, or globs for computed names.",
  default: false,
  properties: {
    namespaces: listSchema(
      'Globs of the namespaces that are allowed.',
      stringSchema('A glob such as `team-*`.', { examples: ['team-*'] }),
    ),
  },
  required: ['namespaces'],
  additionalProperties: false,
};

/** The member clusters of objects. */
export const placement: Readonly<Record<string, JsonSchema>> = {
  cluster: stringSchema(
    'Name of the `Cluster` object of the member cluster. May be an expression. Default: the cluster of the resource.',
    { examples: ['paris-1', '${ $item }'] },
  ),
  crossCluster: objectSchema(
    'The member clusters that may be chosen. Required beside a computed `cluster`.',
    {
      selector: {
        ...selector('Labels of the `Cluster` objects, without expressions, or `all`.'),
        type: ['object', 'string'],
      },
    },
    ['selector'],
  ),
};
