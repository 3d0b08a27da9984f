import { admissionOperations } from '../resolve-admission.ts';
import {
  enumSchema,
  enumWithDefault,
  type JsonSchema,
  listSchema,
  objectSchema,
  stringSchema,
} from './json-schema.ts';

const admissionRule: JsonSchema = objectSchema(
  'A rule for objects of the kind.',
  {
    rule: stringSchema(
      'A CEL expression that must be true, over `object`, `oldObject` and `request`.',
      {
        title: 'a CEL expression',
        examples: [
          "object.spec.?size.orValue(1) <= 10 || 'big' in object.metadata.?labels.orValue({})",
        ],
      },
    ),
    message: stringSchema('What the user reads whose request breaks the rule: one line.', {
      examples: ['More than 10 need the label "big"'],
    }),
    operations: {
      ...listSchema(
        'The requests that the rule checks.',
        enumSchema('A kind of request.', admissionOperations),
      ),
      default: ['Create', 'Update'],
      minItems: 1,
      uniqueItems: true,
    },
    field: stringSchema('The field that the message is about: it precedes the message.', {
      examples: ['spec.size'],
    }),
  },
  ['rule', 'message'],
);

const admissionDefault: JsonSchema = objectSchema(
  'A value for a field that a request leaves out.',
  {
    path: stringSchema(
      'The field: a path through fields and maps, with other keys in brackets. It cannot lead into a list.',
      { maxLength: 512, examples: ['spec.image', "metadata.labels['example.com/tier']"] },
    ),
    value: stringSchema(
      'A CEL expression over `object`, `oldObject`, `request` and `namespaceObject`.',
      {
        title: 'a CEL expression',
        examples: ["'registry.example.com/' + object.metadata.?name.orValue('app') + ':stable'"],
      },
    ),
  },
  ['path', 'value'],
);

/** `spec.admission`. */
export const admission: JsonSchema = objectSchema(
  'Rules and defaults that the API server enforces, also while the runtime is down.',
  {
    defaults: {
      ...listSchema(
        'Values for fields that a request leaves out, set in this order.',
        admissionDefault,
      ),
      minItems: 1,
      maxItems: 50,
    },
    rules: {
      ...listSchema('The rules; a request must satisfy all of them.', admissionRule),
      minItems: 1,
      maxItems: 50,
    },
    action: enumWithDefault(
      'What happens to a request that breaks a rule: it is rejected, its user gets a warning, or it is marked in the audit log.',
      ['Deny', 'Warn', 'Audit'],
    ),
    failurePolicy: enumSchema(
      'What happens to a request for which a rule or a default cannot be evaluated: it is rejected, or the rule or default is skipped. Default: `Fail` with `crd`, `Ignore` with `for`.',
      ['Fail', 'Ignore'],
    ),
  },
);
