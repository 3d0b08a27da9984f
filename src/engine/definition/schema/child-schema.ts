import {
  booleanSchema,
  enumSchema,
  enumWithDefault,
  integerSchema,
  type JsonSchema,
  listSchema,
  objectSchema,
  stringSchema,
} from './json-schema.ts';
import { crossNamespace, placement } from './place-schemas.ts';
import { conditionTemplate, listTemplate, manifest } from './template-schemas.ts';

const cascade = (what: string): JsonSchema =>
  enumWithDefault(
    `${what}: they are deleted after it (\`Background\`), before it (\`Foreground\`), or kept (\`Orphan\`).`,
    ['Background', 'Foreground', 'Orphan'],
  );

/** An entry of `children`. */
export const child: JsonSchema = objectSchema(
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
          description:
            'How many elements may be unready at a time: a number or a percentage. Default: 1, with `maxSurge` 0.',
          examples: [1, '25%'],
        },
        maxSurge: {
          type: ['integer', 'string'],
          description:
            'If elements get other names: how many objects may exist beyond the number of elements, as a number or a percentage of it. Earlier objects are deleted when new ones are ready. Default: all at once.',
          examples: [1, '25%'],
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
