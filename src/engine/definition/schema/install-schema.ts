import {
  enumWithDefault,
  type JsonSchema,
  listSchema,
  objectSchema,
  stringSchema,
} from './json-schema.ts';
import { conditionTemplate, listTemplate, manifest } from './template-schemas.ts';

/** An entry of `install`. */
export const installed: JsonSchema = objectSchema(
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
export const maxInstalled = 50;
