import {
  booleanSchema,
  enumWithDefault,
  type JsonSchema,
  objectSchema,
  stringSchema,
  templateSchema,
} from './json-schema.ts';
import { crossNamespace } from './place-schemas.ts';
import { conditionTemplate, listTemplate } from './template-schemas.ts';

/** An entry of `conditions`. */
export const condition: JsonSchema = objectSchema(
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

/** An entry of `events`. */
export const event: JsonSchema = objectSchema(
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

/** An entry of `patches`. */
export const patch: JsonSchema = objectSchema(
  'A server-side apply to an object that is not a child.',
  {
    id: stringSchema('Name of the patch; part of its field manager.', { examples: ['complete'] }),
    when: conditionTemplate(
      'Whether the patch is applied. An applied patch is withdrawn only if it has `conflicts` or `withdraw`.',
      true,
    ),
    forEach: {
      ...listTemplate(
        'A list, or an expression that returns one: the patch has a target for each element. `$item` is the element, `$index` its index.',
      ),
      examples: [['team-a', 'team-b'], '${ spec.namespaces }'],
    },
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
        'Whether the fields of the patch are removed when it no longer applies: `when` is false, the target changes or its element is removed, the resource or the patch is removed. Default: `true` with `conflicts`, otherwise `false`.',
      examples: [true],
    },
    crossNamespace,
  },
  ['id'],
);
