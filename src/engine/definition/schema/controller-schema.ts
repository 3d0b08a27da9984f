import {
  durationSchema,
  integerSchema,
  type JsonSchema,
  listSchema,
  objectSchema,
  stringSchema,
} from './json-schema.ts';
import { selector } from './place-schemas.ts';

/** `controller`. */
export const controller: JsonSchema = objectSchema('How the controller of this kind works.', {
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
