import {
  type JsonSchema,
  listSchema,
  mapSchema,
  objectSchema,
  stringSchema,
} from './json-schema.ts';

const path = (description: string, examples: readonly string[]): JsonSchema =>
  stringSchema(`${description} \`[]\` is each item of a list, or each value of a map.`, {
    title: 'a path such as "spec.rules[].port"',
    examples,
  });

const fieldName = (description: string): JsonSchema =>
  stringSchema(description, { examples: ['name'] });

const field: JsonSchema = objectSchema(
  'A field that has another place, other values or another form in the hub. All other fields are copied.',
  {
    here: path('The field in this version.', ['spec.size']),
    there: path('The field in the hub.', ['spec.replicas']),
    values: {
      ...mapSchema(
        'Values in the hub by values in this version, of texts and booleans (`"true"`, `"false"`). Other values are kept as they are.',
        stringSchema('Value in the hub.', { examples: ['Parallel'] }),
      ),
      examples: [{ fast: 'Parallel', slow: 'Ordered' }],
    },
    as: {
      type: ['string', 'object'],
      title: 'the name of a form such as "durationToSeconds", or "{ itemsToObjects: name }"',
      description:
        'How the value of this version becomes that of the hub: `durationToSeconds`, `secondsToDuration`, `textToYaml`, `yamlToText`, or an object with one field.',
      examples: ['durationToSeconds', 'textToYaml'],
      properties: {
        itemsToObjects: fieldName(
          'Each text of a list becomes an object with the text in this field.',
        ),
        objectsToItems: fieldName('Each object of a list becomes the text in this field.'),
        mapToList: fieldName(
          'Each value of a map becomes an item of a list, with its key in this field.',
        ),
        listToMap: fieldName(
          'Each item of a list becomes a value of a map, by the key in this field.',
        ),
      },
      additionalProperties: false,
    },
  },
  ['here', 'there'],
);

const version: JsonSchema = objectSchema(
  'How one version differs from the hub.',
  {
    version: stringSchema('Name of the version in `crd.versions`.', { examples: ['v1alpha1'] }),
    fields: listSchema('Fields that differ.', field),
    drop: listSchema(
      'Fields of either version that are given up on purpose: the other version cannot express them, and they are not kept.',
      path('A field.', ['spec.legacy']),
    ),
  },
  ['version'],
);

/** `spec.conversions`. */
export const conversions: JsonSchema = objectSchema(
  'How the versions of the kind differ: objects are converted between them without code.',
  {
    hub: stringSchema(
      'The version to and from which all others are converted. It need not be the stored one.',
      { examples: ['v1'] },
    ),
    versions: { ...listSchema('The versions that differ from the hub.', version), minItems: 1 },
  },
  ['hub', 'versions'],
);
