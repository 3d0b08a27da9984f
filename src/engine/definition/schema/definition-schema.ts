import { admission } from './admission-schema.ts';
import { child } from './child-schema.ts';
import { controller } from './controller-schema.ts';
import { conversions } from './conversions-schema.ts';
import { crdSchema, schemaNode } from './crd-schema.ts';
import { onDelete } from './deletion-schema.ts';
import { installed, maxInstalled } from './install-schema.ts';
import {
  booleanSchema,
  durationSchema,
  enumWithDefault,
  type JsonSchema,
  listSchema,
  mapSchema,
  objectSchema,
  stringSchema,
  templateSchema,
} from './json-schema.ts';
import { selector } from './place-schemas.ts';
import { read } from './read-schema.ts';
import { condition, event, patch } from './reporting-schema.ts';

export const definitionApiVersion = 'homeostat.dev/v1alpha1';
export const definitionKind = 'OperatorDefinition';

const labels = (what: string) => mapSchema(what, stringSchema('Value.', { examples: ['web'] }));

const acceptedWarning: JsonSchema = objectSchema(
  'A warning that is not reported, because the definition is right as it is.',
  {
    code: stringSchema('Code of the warning.', {
      examples: ['suspicious-expression', 'ambiguous-yaml'],
    }),
    path: stringSchema(
      'JSON pointer of the place; warnings below it are accepted, too. Items of lists by position, `id`, `name` or `type`. Default: the whole definition.',
      { examples: ['/spec/children/web/when'] },
    ),
    reason: stringSchema('Why the definition is right as it is.', {
      examples: ['Both sides of the comparison are required fields of the other operator.'],
    }),
  },
  ['code', 'reason'],
);

const spec: JsonSchema = objectSchema('The operator.', {
  crd: crdSchema,
  conversions,
  crdPolicy: objectSchema('How the CustomResourceDefinition is handled.', {
    adopt: booleanSchema(
      'Take over an existing CustomResourceDefinition with another owner.',
      false,
    ),
    deletion: enumWithDefault(
      'What happens to the CustomResourceDefinition when the definition is deleted.',
      ['Retain', 'Delete'],
    ),
    allowBreakingChanges: booleanSchema('Install changes that break stored resources.', false),
  }),
  for: objectSchema(
    'The existing kind that the operator serves.',
    {
      apiVersion: stringSchema('API version of the kind.', { examples: ['apps/v1'] }),
      kind: stringSchema('Name of the kind.', { examples: ['StatefulSet'] }),
      selector: selector('Labels that resources must have.'),
      annotationSelector: selector('Annotations that resources must have.'),
    },
    ['apiVersion', 'kind'],
  ),
  vars: {
    ...mapSchema(
      'Named values: `vars.<name>`.',
      templateSchema('A value. Strings may contain expressions.'),
    ),
    examples: [{ labels: { app: '${ metadata.name }' } }],
  },
  reads: listSchema('Other objects that expressions read.', read),
  children: listSchema('Objects that the operator creates for each resource.', child),
  install: {
    ...listSchema('Objects of the definition itself, such as roles and alert rules.', installed),
    maxItems: maxInstalled,
  },
  admission,
  status: {
    ...mapSchema(
      'Status fields of the resource.',
      templateSchema('A value. Strings may contain expressions.'),
    ),
    examples: [{ readyReplicas: '${ children.web.status.readyReplicas ?? 0 }' }],
  },
  conditions: listSchema(
    'Conditions of the resource, in addition to the standard ones.',
    condition,
  ),
  events: listSchema('Kubernetes Events on the resource.', event),
  patches: listSchema('Changes to objects that are not children.', patch),
  schedule: objectSchema('Times at which each resource is reconciled.', {
    every: durationSchema('Reconcile each resource at least this often.'),
    cron: stringSchema(
      'Cron schedule: five fields, or six with seconds first. May be an expression: then each resource has its own.',
      { examples: ['*/5 * * * *', '${ spec.schedule }'] },
    ),
    timeZone: stringSchema('Time zone of `cron`.', {
      default: 'UTC',
      examples: ['Europe/Berlin'],
    }),
  }),
  requeueAfter: stringSchema(
    'A duration after which the resource is reconciled again. May be an expression.',
    {
      title: 'an expression, or a duration such as "30s"',
      examples: ['${ status.phase = "Cooling" ? "10s" }'],
    },
  ),
  deleteAfter: objectSchema(
    'A resource deletes itself this long after a time. Without a value of one of them it is kept.',
    {
      ttl: stringSchema('A duration. May be an expression.', {
        title: 'an expression, or a duration such as "1h"',
        examples: ['1h', '${ spec.ttl }'],
      }),
      since: stringSchema('An expression that returns a time.', {
        title: 'an expression that returns a time',
        examples: ['${ status.finishedAt }'],
      }),
    },
    ['ttl', 'since'],
  ),
  onDelete,
  removalPolicy: enumWithDefault(
    'What happens to the children and to the objects of `install` when the definition is deleted.',
    ['Retain', 'Delete'],
  ),
  controller,
  acceptedWarnings: listSchema(
    'Warnings about this definition that are accepted: they are not reported. They are no part of the revision.',
    acceptedWarning,
  ),
});

/**
 * The format of docs/definition/, for editors and for the validator. `rules/` contains the checks that a schema
 * cannot express.
 */
export const definitionSchema: JsonSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: 'https://homeostat.dev/schemas/operator-definition.schema.json',
  ...objectSchema(
    'A Homeostat operator definition.',
    {
      apiVersion: { const: definitionApiVersion, description: 'Version of this format.' },
      kind: { const: definitionKind, description: 'Always `OperatorDefinition`.' },
      metadata: objectSchema(
        'Name, labels and annotations.',
        {
          name: stringSchema(
            'Name that identifies the definition: a DNS label of at most 63 characters.',
            {
              examples: ['web-app'],
            },
          ),
          labels: labels('Labels of the definition.'),
          annotations: labels('Annotations of the definition.'),
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

/** Fields that the API server sets. A definition copied from a cluster has them; they are ignored. */
function serverFields(): Readonly<Record<string, JsonSchema>> {
  const ignored: JsonSchema = { description: 'Set by the API server; ignored in files.' };
  const fields = ['uid', 'resourceVersion', 'generation', 'creationTimestamp', 'deletionTimestamp'];
  fields.push('deletionGracePeriodSeconds', 'managedFields', 'finalizers', 'ownerReferences');
  return Object.fromEntries(fields.map((field) => [field, ignored]));
}
