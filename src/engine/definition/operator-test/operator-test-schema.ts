import { definitionApiVersion } from '../schema/definition-schema.ts';
import {
  booleanSchema,
  durationSchema,
  enumSchema,
  integerSchema,
  type JsonSchema,
  listSchema,
  mapSchema,
  objectSchema,
  stringSchema,
} from '../schema/json-schema.ts';
import { apiChangeSchema, apiExpectationSchemas, testApisSchema } from './test-apis.ts';

export const operatorTestKind = 'OperatorTest';

const reference = (description: string): JsonSchema =>
  stringSchema(description, {
    title: 'an object as "Kind/name" or "Kind/namespace/name"',
    pattern: '^[A-Za-z0-9.-]+/[^/]+(/[^/]+)?$',
    examples: ['Deployment/web'],
  });

const object = (description: string): JsonSchema => ({
  type: 'object',
  description,
  title: 'an object with "apiVersion", "kind" and "metadata"',
  required: ['apiVersion', 'kind', 'metadata'],
});

const cluster = (description: string): JsonSchema =>
  stringSchema(`${description}: name of a \`Cluster\` of the test, or \`hub\`.`, {
    minLength: 1,
    examples: ['dev-1'],
  });

const clusterNames = (description: string): JsonSchema => ({
  type: ['string', 'array'],
  description,
  title: 'the name of a Cluster, or a list of names',
  items: stringSchema('Name of a `Cluster`.', { minLength: 1 }),
});

const oneOrMore = (description: string): JsonSchema => ({
  type: ['object', 'array'],
  description,
  title: 'an object, or a list of objects',
});

const anyValue: JsonSchema = { description: 'A value, or a matcher such as `$match`.' };

const expectation: JsonSchema = objectSchema('What must be true. One of the fields.', {
  object: object(
    'An object that exists and has at least these fields. Lists are compared by merge key. Without a name, any object of its kind.',
  ),
  absent: object('An object that does not exist. Without a name, any object with these fields.'),
  condition: objectSchema(
    'A condition of an object.',
    {
      of: reference('The object.'),
      type: stringSchema('Type of the condition.', { examples: ['Ready'] }),
      status: anyValue,
      reason: anyValue,
      message: anyValue,
    },
    ['of', 'type'],
  ),
  status: objectSchema(
    'Fields of the status of an object.',
    { of: reference('The object.'), is: mapSchema('The fields.', anyValue) },
    ['of', 'is'],
  ),
  event: objectSchema(
    'An Event on an object.',
    {
      of: reference('The object.'),
      type: anyValue,
      reason: anyValue,
      message: anyValue,
    },
    ['of'],
  ),
  writes: {
    description:
      'How many writes the operators sent to all clusters since the step began, without Events: a number or a matcher.',
  },
  nothingLeft: {
    type: 'boolean',
    const: true,
    title: 'true',
    description: 'Every object that the operators created is deleted, in all clusters.',
  },
  ...apiExpectationSchemas,
  cluster: cluster('Where the object is. Default: the cluster of the step'),
});

const step: JsonSchema = objectSchema(
  'What is done, in the order of these fields, and what must be true then.',
  {
    name: stringSchema('What the step shows.', { examples: ['a new app has a Deployment'] }),
    cluster: cluster('Where the step does this. Default: the hub'),
    clusters: objectSchema('Member clusters whose API servers stop or start responding.', {
      stop: clusterNames('Members that stop responding.'),
      start: clusterNames('Members that respond again.'),
    }),
    api: apiChangeSchema,
    apply: oneOrMore(
      'Objects to apply. `file:` in place of an object applies the objects of a file. `cluster:` beside it names another cluster than that of the step.',
    ),
    patch: objectSchema(
      'A JSON merge patch of one object.',
      {
        target: reference('The object.'),
        merge: { type: 'object', description: 'The patch.' },
        as: stringSchema('Field manager. Default: `kubectl`.'),
      },
      ['target', 'merge'],
    ),
    delete: {
      type: ['string', 'array'],
      description: 'Objects to delete, as `Kind/name`.',
      title: 'an object as "Kind/name", or a list of them',
      items: reference('The object.'),
    },
    outcome: objectSchema(
      'What simulated Pods with these labels do from now on.',
      {
        pods: mapSchema('Labels of the Pods.', stringSchema('Value.')),
        is: enumSchema('What the Pods do.', ['ready', 'never-ready', 'fail']),
      },
      ['pods', 'is'],
    ),
    fail: objectSchema(
      'Requests of the operators that the server answers with an error.',
      {
        requests: objectSchema('Which requests.', {
          verb: enumSchema('Verb.', ['get', 'list', 'create', 'patch', 'delete']),
          kind: stringSchema('Kind of the object.'),
          cluster: cluster('Where they are sent to. Default: any cluster'),
        }),
        with: { ...integerSchema('HTTP status of the answer.'), minimum: 400, maximum: 599 },
        times: { ...integerSchema('How many requests fail. Default: 1.'), minimum: 1 },
      },
      ['requests', 'with'],
    ),
    denied: stringSchema(
      'Text of the rejection: the API server must reject each `apply`, `patch` and `delete` of this step, with this in its message.',
      { minLength: 1, examples: ['More than 10 need the label'] },
    ),
    restart: booleanSchema('Stops the operators and starts them again.', false),
    definition: stringSchema('File that takes the place of the definitions from now on.'),
    advance: durationSchema('Time that passes before the expectations are checked.', '0s'),
    expect: listSchema('What must be true. All of it, at the same time.', expectation),
    within: durationSchema('Time in which the expectations must come true.', '5s'),
  },
  ['name'],
);

/** The JSON schema of `kind: OperatorTest`. */
export const operatorTestSchema: JsonSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: 'https://homeostat.dev/schemas/operator-test.schema.json',
  ...objectSchema(
    'A test of operators, run by `homeostat test`.',
    {
      apiVersion: { const: definitionApiVersion, type: 'string', description: 'API version.' },
      kind: { const: operatorTestKind, type: 'string', description: 'Kind.' },
      metadata: {
        type: 'object',
        description: 'Name of the test.',
        properties: { name: stringSchema('Name.', { minLength: 1 }) },
        required: ['name'],
      },
      spec: objectSchema(
        'The test.',
        {
          definitions: listSchema(
            'Files or folders with definitions, relative to this file. Default: the folder above it.',
            stringSchema('Path.'),
          ),
          given: listSchema(
            'Objects that exist before the operators start. `file:` in place of an object is a file with objects. `cluster:` beside it is the name of a `Cluster`; default: the hub.',
            {
              type: 'object',
              description: 'An object, or a file with objects.',
              title: 'an object with "apiVersion", "kind" and "metadata"',
            },
          ),
          apis: testApisSchema,
          steps: { ...listSchema('Steps, one after the other.', step), minItems: 1 },
        },
        ['steps'],
      ),
    },
    ['apiVersion', 'kind', 'metadata', 'spec'],
  ),
};
