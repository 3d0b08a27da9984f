import { testSchemaChanges } from '../../../../test/support/crd/schema-changes.ts';

testSchemaChanges({
  texts: [
    ['type: string', '{ type: string, description: a }'],
    ['{ type: string, title: a, example: x }', '{ type: string, title: b }'],
    ['type: string', '{ type: string, externalDocs: { url: a } }'],
  ],
  types: [
    ['type: string', 'type: integer', /changes its type from "string" to "integer"/],
    ['type: integer', 'type: number', /changes its type/],
    [
      'type: integer',
      'x-kubernetes-int-or-string: true',
      /changes its type from "integer" to "any"/,
    ],
    [
      'x-kubernetes-preserve-unknown-fields: true',
      '{ type: object, x-kubernetes-preserve-unknown-fields: true }',
      /changes its type from "any"/,
    ],
    [
      '{ type: array, items: { type: string } }',
      '{ type: array, items: { type: integer } }',
      /"spec.x\[\]" of version "v1" changes its type/,
    ],
    [
      '{ type: object, additionalProperties: { type: string } }',
      '{ type: object, additionalProperties: { type: integer } }',
      /"spec.x.\*" of version "v1" changes its type/,
    ],
  ],
  formats: [
    ['{ type: integer, format: int32 }', '{ type: integer, format: int64 }'],
    ['{ type: number, format: float }', '{ type: number, format: double }'],
    ['{ type: string, format: date-time }', 'type: string'],
    [
      '{ type: integer, format: int64 }',
      '{ type: integer, format: int32 }',
      /format from "int64" to "int32"/,
    ],
    ['type: integer', '{ type: integer, format: int64 }'],
    ['{ type: integer, nullable: true }', '{ type: integer, nullable: true, format: int64 }'],
    ['type: number', '{ type: number, format: double }'],
    ['type: string', '{ type: string, format: password }'],
    [
      '{ type: array, items: { type: integer } }',
      '{ type: array, items: { type: integer, format: int64 } }',
    ],
    ['type: integer', '{ type: integer, format: int32 }', /format from nothing to "int32"/],
    ['type: integer', '{ type: integer, format: uint64 }', /format from nothing to "uint64"/],
    ['type: integer', '{ type: integer, format: double }', /format from nothing to "double"/],
    ['type: number', '{ type: number, format: float }', /format from nothing to "float"/],
    ['type: number', '{ type: number, format: int64 }', /format from nothing to "int64"/],
    ['type: string', '{ type: string, format: int64 }', /format from nothing to "int64"/],
    ['type: string', '{ type: string, format: byte }', /format from nothing to "byte"/],
    ['{ type: string, format: ipv4 }', '{ type: string, format: password }', /format from "ipv4"/],
    ['type: number', '{ type: integer, format: int64 }', /changes its type/],
    [
      'x-kubernetes-int-or-string: true',
      '{ x-kubernetes-int-or-string: true, format: int64 }',
      /format from nothing to "int64"/,
    ],
    ['type: string', '{ type: string, format: date-time }', /format from nothing to "date-time"/],
    ['{ type: string, format: ipv4 }', '{ type: string, format: ipv6 }', /format/],
  ],
  enums: [
    ['{ type: string, enum: [a] }', '{ type: string, enum: [b, a] }'],
    ['{ type: string, enum: [a, b] }', '{ type: string, enum: [b, a] }'],
    ['{ type: string, enum: [a] }', 'type: string'],
    [
      '{ type: string, enum: [a, b, c] }',
      '{ type: string, enum: [b] }',
      /takes "a", "c" out of its enum/,
    ],
    ['type: string', '{ type: string, enum: [a] }', /gets an enum/],
    ['{ type: integer, enum: [1, 2] }', '{ type: integer, enum: [1] }', /takes "2" out/],
  ],
  nulls: [
    ['type: string', '{ type: string, nullable: true }'],
    ['{ type: string, nullable: true }', 'type: string', /is no longer nullable/],
  ],
  defaults: [
    ['{ type: string, nullable: true, default: null }', '{ type: string, nullable: true }'],
    ['type: string', '{ type: string, default: a }', /default from nothing to "a"/],
    ['{ type: string, default: a }', 'type: string', /default from "a" to nothing/],
    ['{ type: string, default: a }', '{ type: string, default: b }', /default from "a" to "b"/],
    ['{ type: boolean, default: false }', 'type: boolean', /default from "false" to nothing/],
    ['{ type: object, default: { a: 1, b: 2 } }', '{ type: object, default: { b: 2, a: 1 } }'],
  ],
  'rules in CEL': [
    ['{ type: string, x-kubernetes-validations: [{ rule: a }] }', 'type: string'],
    [
      'type: string',
      '{ type: string, x-kubernetes-validations: [{ rule: "self != \'\'" }] }',
      /gets the rule "self != ''"/,
    ],
    [
      '{ type: string, x-kubernetes-validations: [{ rule: a, message: m }] }',
      '{ type: string, x-kubernetes-validations: [{ rule: a, message: n, reason: FieldValueInvalid, fieldPath: .x }] }',
    ],
    [
      '{ type: string, x-kubernetes-validations: [{ rule: a }, { rule: b }] }',
      '{ type: string, x-kubernetes-validations: [{ rule: b }] }',
    ],
    [
      '{ type: string, x-kubernetes-validations: [{ rule: a }] }',
      '{ type: string, x-kubernetes-validations: [{ rule: b }] }',
      /gets the rule "b"/,
    ],
    [
      '{ type: string, x-kubernetes-validations: [{ rule: a }] }',
      '{ type: string, x-kubernetes-validations: [{ rule: a, optionalOldSelf: true }] }',
      /gets the rule "a"/,
    ],
    [
      '{ type: string, x-kubernetes-validations: [{ rule: a, optionalOldSelf: true }] }',
      '{ type: string, x-kubernetes-validations: [{ rule: a }] }',
    ],
  ],
});
