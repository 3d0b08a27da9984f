import { crdSchema, schemaNode } from './crd-schema.ts';
import {
  choice,
  duration,
  flag,
  type JsonSchema,
  listOf,
  mapOf,
  struct,
  template,
  text,
  wholeNumber,
  word,
} from './json-schema.ts';

export const definitionApiVersion = 'homeostat.dev/v1alpha1';
export const definitionKind = 'OperatorDefinition';

const labels = (what: string) => mapOf(what, text('Value.'));
const conditionTemplate = (description: string, byDefault?: boolean): JsonSchema => ({
  type: ['boolean', 'string'],
  description,
  title: 'true, false or an expression "${ ... }"',
  ...(byDefault === undefined ? {} : { default: byDefault }),
});

const listTemplate = (description: string): JsonSchema => ({
  type: ['array', 'string'],
  description,
  title: 'a list or an expression "${ ... }" that gives one',
});

const matchExpressions: JsonSchema = {
  type: ['array', 'string'],
  description: 'Requirements on labels, all of which must hold. May be an expression.',
  items: {
    type: ['object', 'string'],
    properties: {
      key: text('Key of the label.'),
      operator: word('Operator.', ['In', 'NotIn', 'Exists', 'DoesNotExist']),
      values: { type: ['array', 'string'], description: 'For In and NotIn.' },
    },
    required: ['key', 'operator'],
    additionalProperties: false,
  },
};
const selector = (description: string): JsonSchema =>
  struct(description, {
    matchLabels: {
      type: ['object', 'string'],
      description:
        'Labels and the values they must have. Values, or the whole map, may be expressions.',
      additionalProperties: { type: 'string' },
    },
    matchExpressions,
  });

const crossNamespace: JsonSchema = {
  type: ['boolean', 'object'],
  description:
    'Allows other namespaces than that of the resource: `true` for literal names and selectors, or globs for computed ones.',
  default: false,
  properties: { namespaces: listOf('Globs.', text('`team-*`.')) },
  required: ['namespaces'],
  additionalProperties: false,
};

const read: JsonSchema = struct(
  'Other objects that expressions see as `reads.<id>`. A change of one runs the resource again.',
  {
    id: text('Name in expressions.'),
    apiVersion: text('`v1`, `apps/v1`. No expression.'),
    kind: text('`Secret`. No expression.'),
    name: text('Name of the one object to read; may be an expression.'),
    selector: {
      ...selector('Labels of the objects to read, or `all`.'),
      type: ['object', 'string'],
    },
    optional: flag('What is not there is a missing value; else whatever uses it waits.', false),
    namespace: text('Namespace to read from. Default: that of the resource.'),
    namespaces: { type: ['array', 'string'], description: 'Namespaces to read from, or `*`.' },
    namespaceSelector: selector('Labels of the namespaces to read from.'),
    crossNamespace,
    history: struct('Keep earlier versions of what is read.', {
      keep: wholeNumber('How many.', { minimum: 1 }),
      onChange: listOf('Fields whose change makes a version.', text('Field.')),
    }),
  },
  ['id', 'apiVersion', 'kind'],
);

const manifest: JsonSchema = {
  type: 'object',
  description:
    'The manifest. Texts may hold expressions; `apiVersion` and `kind` may not. The namespace is that of the resource.',
};

const child: JsonSchema = struct(
  'An object that the operator keeps for each resource.',
  {
    id: text('Name in expressions: `children.<id>`.'),
    template: manifest,
    crossNamespace,
    when: conditionTemplate('Is the child wanted? `false` removes it.', true),
    forEach: listTemplate(
      'A list, or an expression that gives one: one child for each element, `$item`, with `$index`.',
    ),
    ordered: flag('With forEach: one after the other.', false),
    after: listOf('Ids of children that must be ready first.', text('Id.')),
    ready: conditionTemplate('When the child (`$child`) counts as ready. Default: by kind.'),
    updateStrategy: struct('How a change of the template reaches a child that exists.', {
      type: choice('`Apply` in place, `Recreate`, or `OnDelete`: leave alone.', [
        'Apply',
        'Recreate',
        'OnDelete',
      ]),
      rollingUpdate: struct('With forEach: how many at a time.', {
        maxUnavailable: {
          type: ['integer', 'string'],
          description: 'Number or percentage.',
          default: 1,
        },
        partition: wholeNumber('Elements below this index keep what they have.', {
          minimum: 0,
          default: 0,
        }),
        order: choice('Order.', ['Ascending', 'Descending']),
      }),
    }),
    conflicts: choice(
      'Fields that another manager took: take them back, or leave them and say so.',
      ['Force', 'Report'],
    ),
    adopt: choice(
      'An object of that name that we did not make: leave it alone, or take it over unless owned.',
      ['Never', 'IfUnowned'],
    ),
    deletionPolicy: choice('What becomes of the object when the child goes.', ['Delete', 'Orphan']),
    deleteWhen: conditionTemplate('While false, a child that is to go stays.', true),
  },
  ['id', 'template'],
);

const condition: JsonSchema = struct(
  'A condition of the resource besides the standard ones.',
  {
    type: text('CamelCase.'),
    status: conditionTemplate('True, False; missing is Unknown.'),
    reason: text('CamelCase; may be an expression.'),
    message: text('For people; may hold expressions.'),
  },
  ['type', 'status'],
);

const event: JsonSchema = struct(
  'A Kubernetes Event on the resource, in the pass in which `when` is true.',
  {
    when: conditionTemplate('When.'),
    type: choice('Type.', ['Normal', 'Warning']),
    reason: text('CamelCase; may be an expression.'),
    message: text('For people; may hold expressions.'),
  },
  ['when', 'reason'],
);

const patch: JsonSchema = struct(
  'A server-side apply to an object that is no child.',
  {
    id: text('Name of the patch.'),
    when: conditionTemplate('Apply it?', true),
    target: struct('The object. Left out or empty: the resource itself.', {
      apiVersion: text('No expression.'),
      kind: text('No expression.'),
      name: text('May be an expression.'),
      namespace: text('May be an expression.'),
    }),
    patch: { type: 'object', description: 'The fields to set.' },
    create: flag('Create the target if it does not exist.', false),
    crossNamespace,
  },
  ['id', 'patch'],
);

const onDelete: JsonSchema = struct('What happens when a resource is deleted.', {
  children: listOf(
    'Made first; deletion goes on when they are ready.',
    struct(
      'A child.',
      {
        id: text('Name in expressions.'),
        template: manifest,
        crossNamespace,
        when: conditionTemplate('Is it wanted?', true),
        forEach: { type: ['array', 'string'], description: 'A list: one child for each element.' },
        after: listOf('Ids that must be ready first.', text('Id.')),
        ready: conditionTemplate('When it counts as ready.'),
      },
      ['id', 'template'],
    ),
  ),
  order: choice('Order in which the children go.', ['Reverse', 'Parallel']),
  timeout: duration('How long to wait.', '10m'),
  onTimeout: choice('Then.', ['Wait', 'Continue']),
});

const controller: JsonSchema = struct('How the controller of this kind works.', {
  concurrency: wholeNumber('Resources worked on at once.', {
    minimum: 1,
    maximum: 1000,
    default: 10,
  }),
  resync: duration('Each resource is run at least this often.', '10h'),
  namespaces: struct('Globs of namespaces. Default: all but those of the runtime.', {
    include: listOf(
      'Only these. A namespace of the runtime is served only if it is named in full.',
      text('`team-*`.'),
    ),
    exclude: listOf('Not these.', text('`kube-*`.')),
  }),
  retry: struct('Waiting after a failure, per resource, doubling.', {
    initial: duration('After the first failure.', '5ms'),
    max: duration('At most.', '1000s'),
    permanent: duration('After a failure that a retry alone will not mend.', '10m'),
  }),
  rollout: struct('How a changed definition reaches the resources that exist.', {
    perSecond: {
      type: 'number',
      description: 'Resources per second; 0: at once.',
      minimum: 0,
      default: 50,
    },
    stopAfterFailures: wholeNumber('Stop when so many resources have failed with it.', {
      minimum: 1,
      default: 10,
    }),
    maxDeletions: wholeNumber('Delete nothing when more objects than this would be deleted.', {
      minimum: 0,
      default: 10,
    }),
  }),
  limits: struct('What one reconcile may use; beyond it the resource fails.', {
    steps: wholeNumber('Steps of all its evaluations.', {
      minimum: 1000,
      maximum: 1_000_000_000,
      default: 1_000_000,
    }),
    memory: text('Bytes of all that is rendered for the resource, a quantity. Default: `64Mi`.'),
    cpu: duration('CPU time of its evaluations, if the steps do not end them before.', '1s'),
  }),
});

const spec: JsonSchema = struct('The operator.', {
  crd: crdSchema,
  crdPolicy: struct('How the CustomResourceDefinition is handled.', {
    adopt: flag('Take over one that exists and is not ours.', false),
    deletion: choice('When the definition is deleted.', ['Retain', 'Delete']),
    allowBreakingChanges: flag('Install also what breaks stored resources.', false),
  }),
  for: struct(
    'The operator is for a kind that exists already.',
    {
      apiVersion: text('`apps/v1`.'),
      kind: text('`StatefulSet`.'),
      selector: selector('Labels that resources must have.'),
      annotationSelector: selector('Annotations that resources must have.'),
    },
    ['apiVersion', 'kind'],
  ),
  vars: mapOf('Named values: `vars.<name>`.', template('A value; texts may hold expressions.')),
  reads: listOf('Objects that are read.', read),
  children: listOf('Objects that are made.', child),
  status: mapOf('Status fields of the resource.', template('A value; texts may hold expressions.')),
  conditions: listOf('Conditions of the resource.', condition),
  events: listOf('Events on the resource.', event),
  patches: listOf('Patches of other objects.', patch),
  schedule: struct('Run each resource at times.', {
    every: duration('At least this often.'),
    cron: text('Five fields, or six with seconds first.'),
    timeZone: text('`UTC`, `Europe/Berlin`.', { default: 'UTC' }),
  }),
  requeueAfter: text('A duration after which to run the resource again; may be an expression.'),
  onDelete,
  removalPolicy: choice('What becomes of children when the definition goes.', ['Retain', 'Delete']),
  controller,
  clusters: struct('Member clusters to run in.', { selector: selector('Labels of the clusters.') }),
});

/** The whole format of docs/definition.md, for editors and for the validator. What it cannot say well is in `rules/`. */
export const definitionSchema: JsonSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: 'https://homeostat.dev/schemas/operator-definition.schema.json',
  ...struct(
    'A Homeostat operator definition.',
    {
      apiVersion: { const: definitionApiVersion, description: 'Version of this format.' },
      kind: { const: definitionKind, description: 'Kind.' },
      metadata: struct(
        'Name, labels and annotations.',
        {
          name: text('The identity of the definition: a DNS label of at most 63 characters.'),
          labels: labels('Labels.'),
          annotations: labels('Annotations.'),
          ...serverFields(),
        },
        ['name'],
      ),
      spec,
      status: { type: 'object', description: 'Written by Homeostat; ignored in files.' },
    },
    ['apiVersion', 'kind', 'metadata', 'spec'],
  ),
  title: 'Homeostat operator definition',
  $defs: { schemaNode },
};

/** What a server adds; a definition copied from a cluster has it. Ignored. */
function serverFields(): Readonly<Record<string, JsonSchema>> {
  const ignored: JsonSchema = { description: 'Set by the API server; ignored in files.' };
  const fields = ['uid', 'resourceVersion', 'generation', 'creationTimestamp', 'deletionTimestamp'];
  fields.push('deletionGracePeriodSeconds', 'managedFields', 'finalizers', 'ownerReferences');
  return Object.fromEntries(fields.map((field) => [field, ignored]));
}
