import { type SchemaCase, testSchemaChanges } from '../../../../test/support/crd/schema-changes.ts';

testSchemaChanges({
  bounds: [
    ['{ type: integer, minimum: 1 }', '{ type: integer, minimum: 0 }'],
    ['{ type: integer, minimum: 1 }', 'type: integer'],
    [
      '{ type: integer, minimum: 0 }',
      '{ type: integer, minimum: 1 }',
      /raises "minimum" from "0" to "1"/,
    ],
    ['type: integer', '{ type: integer, minimum: 0 }', /gets "minimum: 0"/],
    [
      '{ type: integer, minimum: 1 }',
      '{ type: integer, minimum: 1, exclusiveMinimum: true }',
      /gets "exclusiveMinimum"/,
    ],
    ['{ type: integer, minimum: 1, exclusiveMinimum: true }', '{ type: integer, minimum: 1 }'],
    ['{ type: integer, minimum: 5 }', '{ type: integer, minimum: 1, exclusiveMinimum: true }'],
    ['{ type: integer, maximum: 9 }', '{ type: integer, maximum: 10 }'],
    ['{ type: integer, maximum: 9 }', 'type: integer'],
    [
      '{ type: integer, maximum: 9 }',
      '{ type: integer, maximum: 8 }',
      /lowers "maximum" from "9" to "8"/,
    ],
    ['type: integer', '{ type: integer, maximum: 8 }', /gets "maximum: 8"/],
    [
      '{ type: integer, maximum: 9 }',
      '{ type: integer, maximum: 9, exclusiveMaximum: true }',
      /gets "exclusiveMaximum"/,
    ],
    ['{ type: integer, maximum: 9, exclusiveMaximum: true }', '{ type: integer, maximum: 9 }'],
    ['{ type: integer, multipleOf: 6 }', '{ type: integer, multipleOf: 3 }'],
    ['{ type: integer, multipleOf: 6 }', 'type: integer'],
    [
      '{ type: integer, multipleOf: 3 }',
      '{ type: integer, multipleOf: 6 }',
      /"multipleOf" from "3" to "6"/,
    ],
    ['type: integer', '{ type: integer, multipleOf: 2 }', /"multipleOf" from nothing/],
    ['{ type: number, multipleOf: 0.3 }', '{ type: number, multipleOf: 0.1 }', /multipleOf/],
    ...['Length', 'Items', 'Properties'].flatMap((what): readonly SchemaCase[] => [
      [`{ type: string, min${what}: 2 }`, `{ type: string, min${what}: 1 }`],
      [`{ type: string, min${what}: 2 }`, 'type: string'],
      [
        `{ type: string, min${what}: 1 }`,
        `{ type: string, min${what}: 2 }`,
        /raises "min.*" from "1" to "2"/,
      ],
      ['type: string', `{ type: string, min${what}: 1 }`, /raises "min.*" from "0" to "1"/],
      [`{ type: string, max${what}: 2 }`, `{ type: string, max${what}: 3 }`],
      [`{ type: string, max${what}: 2 }`, 'type: string'],
      [
        `{ type: string, max${what}: 2 }`,
        `{ type: string, max${what}: 1 }`,
        /lowers "max.*" from "2" to "1"/,
      ],
      ['type: string', `{ type: string, max${what}: 0 }`, /gets "max.*: 0"/],
    ]),
    ['{ type: string, pattern: "^a" }', 'type: string'],
    ['type: string', '{ type: string, pattern: "^a" }', /pattern from nothing to "\^a"/],
    [
      '{ type: string, pattern: "^a" }',
      '{ type: string, pattern: "^b" }',
      /pattern from "\^a" to "\^b"/,
    ],
  ],
});
