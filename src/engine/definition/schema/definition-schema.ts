import { crdSchema, schemaNode } from './crd-schema.ts';
import {
  booleanSchema,
  durationSchema,
  enumSchema,
  enumWithDefault,
  integerSchema,
  type JsonSchema,
  listSchema,
  mapSchema,
  objectSchema,
  stringSchema,
  templateSchema,
} from './json-schema.ts';

export const definitionApiVersion = 'homeostat.dev/v1alpha1';
export const definitionKind = 'OperatorDefinition';

const labels = (what: string) => mapSchema(what, stringSchema('Value.', { examples: ['web'] }));
const conditionTemplate = (description: string, defaultValue?: boolean): JsonSchema => ({
  type: ['boolean', 'string'],
  description,
  title: 'true, false or an expression "${ ... }"',
  examples: ['${ $exists(spec.host) }'],
  ...(defaultValue === undefined ? {} : { default: defaultValue }),
});

const listTemplate = (description: string): JsonSchema => ({
  type: ['array', 'string'],
  description,
  title: 'a list or an expression "${ ... }" that returns one',
  examples: ['${ spec.hosts }', '${ [0..spec.replicas - 1] }'],
});

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
const selector = (description: string): JsonSchema =>
  objectSchema(description, {
    matchLabels: {
      type: ['object', 'string'],
      description: 'Required keys and values. Values, or the whole map, may be expressions.',
      examples: [{ app: '${ metadata.name }' }],
      additionalProperties: { type: 'string' },
    },
    matchExpressions,
  });

const crossNamespace: JsonSchema = {
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

const placement: Readonly<Record<string, JsonSchema>> = {
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

const read: JsonSchema = objectSchema(
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

const cascade = (what: string): JsonSchema =>
  enumWithDefault(
    `${what}: they are deleted after it (\`Background\`), before it (\`Foreground\`), or kept (\`Orphan\`).`,
    ['Background', 'Foreground', 'Orphan'],
  );

const manifest: JsonSchema = {
  type: 'object',
  description:
    'The manifest. Strings may contain expressions, `apiVersion` and `kind` only with `kinds`. Default namespace: the namespace of the resource.',
  examples: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: '${ metadata.name }' } }],
};

const child: JsonSchema = objectSchema(
  'An object that the operator manages for each resource.',
  {
    id: stringSchema('Name in expressions: `children.<id>`.', { examples: ['deployment'] }),
    template: manifest,
    kinds: listSchema(
      'The kinds that `apiVersion` and `kind` of the template may choose from by an expression.',
      stringSchema('API version and kind of an object.', {
        examples: ['apps/v1/Deployment', 'v1/ConfigMap'],
      }),
    ),
    crossNamespace,
    ...placement,
    when: conditionTemplate('Whether the child exists. `false` deletes it.', true),
    forEach: listTemplate(
      'A list, or an expression that returns one: one object for each element. `$item` is the element, `$index` its index.',
    ),
    ordered: booleanSchema(
      'With `forEach`: each object is created when the previous one is ready; objects are deleted in reverse order.',
      false,
    ),
    after: listSchema('Children that must be ready first: their ids, or maps.', {
      type: ['string', 'object'],
      description: 'Id of a child, or a map.',
      examples: ['database', { child: 'leader', element: 'same' }],
      properties: {
        child: stringSchema('Id of a child.', { examples: ['leader'] }),
        element: enumWithDefault(
          'With `forEach` in both children: whether all elements of the other child must be ready first, or only the one with the same key.',
          ['all', 'same'],
        ),
      },
      required: ['child'],
      additionalProperties: false,
    }),
    ready: conditionTemplate(
      'When the child (`$child`) is ready. Default: the readiness rules of its kind.',
    ),
    gate: conditionTemplate(
      'While it is false, existing objects are not changed. Missing objects are created.',
      true,
    ),
    updateStrategy: objectSchema('How a change of the template is applied to an existing child.', {
      type: enumWithDefault(
        '`Apply` updates the object in place, `Recreate` deletes and recreates it, `RecreateIfImmutable` does so only if the API server rejects the change of an immutable field, `OnDelete` does not update it.',
        ['Apply', 'Recreate', 'RecreateIfImmutable', 'OnDelete'],
      ),
      cascade: cascade('What happens to the dependents of an object that is recreated'),
      rollingUpdate: objectSchema('With `forEach`: how a change is rolled out to the elements.', {
        maxUnavailable: {
          type: ['integer', 'string'],
          description: 'How many elements may be unready at a time: a number or a percentage.',
          examples: [1, '25%'],
          default: 1,
        },
        partition: integerSchema('Elements with a lower index keep the old template.', {
          minimum: 0,
          default: 0,
        }),
        order: enumWithDefault('Order of the elements by index.', ['Ascending', 'Descending']),
      }),
    }),
    runs: enumSchema(
      '`Once`: an object that has finished is not created again until its template renders something else. `Always`: it is. Default: `Once` for a Job with `ttlSecondsAfterFinished`, else `Always`.',
      ['Once', 'Always'],
    ),
    conflicts: enumWithDefault(
      'Fields that another field manager has changed: `Force` applies them again, `Report` leaves them and reports the conflict.',
      ['Force', 'Report'],
    ),
    fields: objectSchema('Fields of the object that are not kept as the template has them.', {
      leave: listSchema(
        'Fields that get the value of the template when the object is created, and keep the value that they have afterwards. A field that the object lacks is set again.',
        stringSchema('Path of a field. An item of a list is named by its keys.', {
          examples: ['spec.replicas', 'spec.template.spec.containers[name=web].resources'],
        }),
      ),
    }),
    adopt: enumWithDefault(
      'If an object of that name exists: `Never` reports a conflict, `IfUnowned` adopts it unless it has an owner.',
      ['Never', 'IfUnowned'],
    ),
    deletionPolicy: enumWithDefault(
      'What happens to the object when the child is removed or the resource is deleted. `Orphan` keeps it.',
      ['Delete', 'Orphan'],
    ),
    cascade: cascade('What happens to the dependents of the object when Homeostat deletes it'),
    prune: {
      type: 'string',
      description:
        'When an object that is no longer desired is deleted: at once, or when all children are ready. Default: `AfterReady` for a ConfigMap or Secret whose name contains `$hash`, otherwise `Immediately`.',
      enum: ['Immediately', 'AfterReady'],
    },
    holdsData: {
      type: 'boolean',
      description:
        'Whether the object holds data: then a changed definition deletes it only with approval. Default: decided by its kind.',
      examples: [true],
    },
    deleteWhen: conditionTemplate('While it is false, the child is not deleted.', true),
  },
  ['id', 'template'],
);

const installed: JsonSchema = objectSchema(
  'An object of the definition itself: one for all resources.',
  {
    id: stringSchema('Name in expressions of `install`: `children.<id>`.', {
      examples: ['viewRole'],
    }),
    template: {
      ...manifest,
      description:
        'The manifest. Strings may contain expressions, except `apiVersion`, `kind` and the namespace, which an object of a namespaced kind must have.',
      examples: [
        {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: '${ definition.metadata.name }-dashboard', namespace: 'monitoring' },
        },
      ],
    },
    when: {
      ...conditionTemplate('Whether the object exists. `false` deletes it.', true),
      examples: ['${ $exists(reads.settings) }'],
    },
    forEach: {
      ...listTemplate(
        'A list, or an expression that returns one: one object for each element. `$item` is the element, `$index` its index.',
      ),
      examples: [['view', 'edit'], '${ vars.roles }'],
    },
    after: listSchema(
      'Ids of other objects of `install` that must be ready first.',
      stringSchema('Id of an object of `install`.', { examples: ['viewRole'] }),
    ),
    ready: {
      ...conditionTemplate(
        'When the object (`$child`) is ready. Default: the readiness rules of its kind.',
      ),
      examples: ['${ $exists($child.status) }'],
    },
    conflicts: enumWithDefault(
      'Fields that another field manager has changed: `Force` applies them again, `Report` leaves them and reports the conflict.',
      ['Force', 'Report'],
    ),
    adopt: enumWithDefault(
      'If an object of that name exists: `Never` reports a conflict, `IfUnowned` adopts it unless it has an owner.',
      ['Never', 'IfUnowned'],
    ),
    deletionPolicy: enumWithDefault(
      'What happens to the object when it leaves `install` or the definition is deleted with `removalPolicy: Delete`. `Orphan` keeps it.',
      ['Delete', 'Orphan'],
    ),
  },
  ['id', 'template'],
);

/** The status of a definition records all of them. */
const maxInstalled = 50;

const condition: JsonSchema = objectSchema(
  'A condition of the resource, in addition to the standard ones.',
  {
    type: stringSchema('Type of the condition, in CamelCase.', { examples: ['Available'] }),
    status: conditionTemplate('`true` or `false`; a missing value results in `Unknown`.'),
    reason: stringSchema('Reason in CamelCase. May be an expression.', {
      examples: ['MinimumReplicas'],
    }),
    message: stringSchema('Human-readable message. May contain expressions.', {
      examples: ['${ children.web.status.readyReplicas ?? 0 } of ${ spec.replicas } are ready'],
    }),
  },
  ['type', 'status'],
);

const event: JsonSchema = objectSchema(
  'A Kubernetes Event on the resource.',
  {
    when: conditionTemplate('Each reconcile in which this is true emits the Event.'),
    type: enumWithDefault('Type of the Event.', ['Normal', 'Warning']),
    reason: stringSchema('Reason in CamelCase. May be an expression.', { examples: ['Completed'] }),
    message: stringSchema('Human-readable message. May contain expressions.', {
      examples: ['all ${ spec.size } done'],
    }),
  },
  ['when', 'reason'],
);

const patch: JsonSchema = objectSchema(
  'A server-side apply to an object that is not a child.',
  {
    id: stringSchema('Name of the patch; part of its field manager.', { examples: ['complete'] }),
    when: conditionTemplate(
      'Whether the patch is applied. An applied patch is withdrawn only if it has `conflicts` or `withdraw`.',
      true,
    ),
    target: objectSchema('The object to patch. Default: the resource itself.', {
      apiVersion: stringSchema(
        'API version of the object. May be an expression only for an object recorded by a read with `history`.',
        { examples: ['v1'] },
      ),
      kind: stringSchema(
        'Kind of the object. May be an expression only for an object recorded by a read with `history`.',
        { examples: ['ConfigMap'] },
      ),
      name: stringSchema('Name of the object. May be an expression.', {
        examples: ['${ spec.target }'],
      }),
      namespace: stringSchema(
        'Namespace of the object. Default: the namespace of the resource. May be an expression.',
        {
          examples: ['shared'],
        },
      ),
    }),
    patch: {
      type: ['object', 'string'],
      title: 'a map, or an expression "${ ... }" that returns a recorded object',
      description:
        'The fields to set; required without `delete`. Strings may contain expressions. With a read with `history`, one expression may return the whole map.',
      examples: [{ spec: { status: 'complete' } }],
    },
    create: booleanSchema('Create the target if it does not exist.', false),
    once: {
      ...templateSchema(
        'A value: the patch is sent once for each value, and not without a value. By default it is sent whenever a field differs.',
      ),
      examples: ['${ spec.rollback }'],
    },
    replace: booleanSchema(
      'Remove the fields that the patch does not set, except status and metadata. Requires a read with `history`.',
      false,
    ),
    delete: booleanSchema(
      'Delete the target, once for each value of `once`, instead of patching it. It is not a child.',
      false,
    ),
    status: booleanSchema(
      'Patch the status of the target, through its subresource. The patch sets only `status`.',
      false,
    ),
    at: enumWithDefault(
      'When the patch is sent: in each reconcile, or once when the resource is being deleted, before its children are.',
      ['Reconcile', 'Deletion'],
    ),
    conflicts: {
      type: 'string',
      description:
        'Fields that another field manager owns: `Report` leaves them and reports the conflict, `Force` takes them. Default: `Report` with `withdraw`, otherwise `Force`.',
      enum: ['Report', 'Force'],
    },
    withdraw: {
      type: 'boolean',
      description:
        'Whether the fields of the patch are removed when it no longer applies: `when` is false, the target changes, the resource or the patch is removed. Default: `true` with `conflicts`, otherwise `false`.',
      examples: [true],
    },
    crossNamespace,
  },
  ['id'],
);

const onDelete: JsonSchema = objectSchema('What happens when a resource is deleted.', {
  children: listSchema(
    'Objects that are created before anything is deleted. The deletion continues when they are ready.',
    objectSchema(
      'An object that is created for the deletion, such as a backup Job.',
      {
        id: stringSchema('Name of the child.', { examples: ['backup'] }),
        template: manifest,
        crossNamespace,
        when: conditionTemplate('Whether the child is created.', true),
        forEach: {
          type: ['array', 'string'],
          description: 'A list, or an expression that returns one: one object for each element.',
          examples: ['${ spec.volumes }'],
        },
        after: listSchema(
          'Ids of children of `onDelete` that must be ready first.',
          stringSchema('Id of a child.', { examples: ['backup'] }),
        ),
        ready: conditionTemplate(
          'When the child is ready. Default: the readiness rules of its kind.',
        ),
      },
      ['id', 'template'],
    ),
  ),
  order: enumWithDefault(
    'Order in which the children are deleted: dependents first, or all at once.',
    ['Reverse', 'Parallel'],
  ),
  timeout: durationSchema('How long the deletion may take before `onTimeout` applies.', '10m'),
  onTimeout: enumWithDefault(
    'After the timeout: keep waiting and report it, or delete the remaining objects.',
    ['Wait', 'Continue'],
  ),
});

const controller: JsonSchema = objectSchema('How the controller of this kind works.', {
  concurrency: integerSchema('Resources that are reconciled at the same time.', {
    minimum: 1,
    maximum: 1000,
    default: 10,
  }),
  clusters: objectSchema(
    'Runs the operator in member clusters, and not in the cluster of the runtime. The other settings count for each member.',
    {
      selector: {
        ...selector('Labels of the `Cluster` objects, or `all`. Expressions are not allowed.'),
        type: ['object', 'string'],
        examples: ['all', { matchLabels: { tier: 'prod' } }],
      },
    },
    ['selector'],
  ),
  resync: durationSchema('Each resource is reconciled at least this often.', '10h'),
  namespaces: objectSchema(
    'Namespaces whose resources are reconciled, as globs. Default: all except the namespaces of Homeostat and its definitions.',
    {
      include: listSchema(
        'Reconcile resources in these namespaces only. A namespace of Homeostat must be named in full.',
        stringSchema('A glob such as `team-*`.', { examples: ['team-*'] }),
      ),
      exclude: listSchema(
        'Do not reconcile resources in these namespaces.',
        stringSchema('A glob such as `kube-*`.', { examples: ['kube-*'] }),
      ),
    },
  ),
  retry: objectSchema(
    'Delays after a failure, for each resource. The delay doubles until a reconcile succeeds.',
    {
      initial: durationSchema('Delay after the first failure.', '5ms'),
      max: durationSchema('Longest delay.', '1000s'),
      permanent: durationSchema('Delay after a failure that a retry cannot fix.', '10m'),
    },
  ),
  rollout: objectSchema('How a changed definition is rolled out to existing resources.', {
    perSecond: {
      type: 'number',
      description: 'Resources updated per second. 0: all at once.',
      minimum: 0,
      default: 50,
    },
    stopAfterFailures: integerSchema(
      'Stop the rollout when this many resources fail because of it.',
      {
        minimum: 1,
        default: 10,
      },
    ),
    maxDeletions: integerSchema(
      'If a change would delete more objects than this, none is deleted until a user approves it.',
      {
        minimum: 0,
        default: 10,
      },
    ),
  }),
  limits: objectSchema('Limits of one reconcile. A resource that exceeds them fails.', {
    steps: integerSchema('Evaluation steps.', {
      minimum: 1000,
      maximum: 1_000_000_000,
      default: 1_000_000,
    }),
    memory: stringSchema('Size of all rendered objects, as a quantity. Default: `64Mi`.', {
      examples: ['64Mi'],
    }),
    cpu: durationSchema('CPU time of evaluations.', '1s'),
  }),
});

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
