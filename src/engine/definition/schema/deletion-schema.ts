import {
  durationSchema,
  enumWithDefault,
  type JsonSchema,
  listSchema,
  objectSchema,
  stringSchema,
} from './json-schema.ts';
import { crossNamespace } from './place-schemas.ts';
import { conditionTemplate, manifest } from './template-schemas.ts';

/** `onDelete`. */
export const onDelete: JsonSchema = objectSchema('What happens when a resource is deleted.', {
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
