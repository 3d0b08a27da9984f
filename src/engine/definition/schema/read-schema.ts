import {
  booleanSchema,
  durationSchema,
  integerSchema,
  type JsonSchema,
  listSchema,
  objectSchema,
  stringSchema,
} from './json-schema.ts';
import { crossNamespace, placement, selector } from './place-schemas.ts';

/** An entry of `reads`. */
export const read: JsonSchema = objectSchema(
  'Other objects, available to expressions as `reads.<id>`. A change of one triggers a reconcile of the resource.',
  {
    id: stringSchema('Name in expressions: `reads.<id>`.', { examples: ['credentials'] }),
    apiVersion: stringSchema('API version of the objects. Expressions are not allowed.', {
      examples: ['v1', 'apps/v1'],
    }),
    kind: stringSchema('Kind of the objects. Expressions are not allowed.', {
      examples: ['Secret'],
    }),
    name: {
      type: ['string', 'array'],
      description:
        'Name of the object to read, or a list of names: then the value is a list in this order. May be an expression.',
      title: 'a name, a list of names, or an expression "${ ... }" that returns one',
      items: stringSchema('Name of an object.', { examples: ['${ spec.secretName }'] }),
      examples: ['${ spec.secretName }', '${ spec.secretNames }'],
    },
    selector: {
      ...selector(
        'Labels of the objects to read, or `all`. An expression may return the whole selector, as an object or a text; without a value, no object is read.',
      ),
      type: ['object', 'string'],
      examples: [{ matchLabels: { app: '${ metadata.name }' } }, 'all', '${ spec.selector }'],
    },
    optional: booleanSchema(
      'An object that does not exist is a missing value; a list leaves it out. If `false`, expressions that use the read wait until it exists.',
      false,
    ),
    namespace: stringSchema('Namespace to read from. Default: the namespace of the resource.', {
      examples: ['shared'],
    }),
    namespaces: {
      type: ['array', 'string'],
      description: 'Namespaces to read from, or `*` for all. May be an expression.',
      examples: ['${ spec.namespaces }', '*'],
    },
    namespaceSelector: selector('Labels of the namespaces to read from.'),
    crossNamespace,
    ...placement,
    history: objectSchema(
      'Keeps earlier states of the objects, available to expressions as `history`.',
      {
        keep: integerSchema('How many earlier versions of each object are kept.', {
          minimum: 1,
          maximum: 100,
          default: 10,
        }),
        onChange: listSchema(
          'Fields whose change creates a version. Default: everything but `metadata` and `status`.',
          stringSchema('Path of a field, such as `spec` or `metadata.labels`.', {
            examples: ['spec', 'metadata.labels'],
          }),
        ),
        keepDeleted: durationSchema('How long versions of a deleted object are kept.', '720h'),
        secrets: booleanSchema(
          'Required to keep versions of Secrets, which are stored as Secrets.',
          false,
        ),
      },
    ),
  },
  ['id', 'apiVersion', 'kind'],
);
