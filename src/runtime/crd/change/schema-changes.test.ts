import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseYaml } from '../../../definition/index.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../util/json.ts';
import { breakingChanges } from './compare-crds.ts';

/** The schema of `spec.x`, before and after; `reason` is what must be said of it, nothing: it is safe. */
type Case = readonly [before: string, after: string, reason?: RegExp];

const cases: Readonly<Record<string, readonly Case[]>> = {
  'what is the same': [
    ['type: string', 'type: string'],
    ['type: string', '{ type: string, nullable: false }'],
    [
      '{ type: array, items: { type: string } }',
      '{ type: array, x-kubernetes-list-type: atomic, items: { type: string } }',
    ],
    [
      'type: object',
      '{ type: object, x-kubernetes-map-type: granular, properties: {}, required: [] }',
    ],
    ['{ type: string, minLength: 0 }', 'type: string'],
    ['{ type: integer, minimum: 1, exclusiveMinimum: false }', '{ type: integer, minimum: 1 }'],
  ],
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
    ['type: string', '{ type: string, format: date-time }', /format from nothing to "date-time"/],
    ['{ type: string, format: ipv4 }', '{ type: string, format: ipv6 }', /format/],
  ],
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
    ...['Length', 'Items', 'Properties'].flatMap((what): readonly Case[] => [
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
    ['{ type: string, nullable: true }', 'type: string', /is nullable no more/],
  ],
  defaults: [
    ['{ type: string, nullable: true, default: null }', '{ type: string, nullable: true }'],
    ['type: string', '{ type: string, default: a }', /default from nothing to "a"/],
    ['{ type: string, default: a }', 'type: string', /default from "a" to nothing/],
    ['{ type: string, default: a }', '{ type: string, default: b }', /default from "a" to "b"/],
    ['{ type: boolean, default: false }', 'type: boolean', /default from "false" to nothing/],
    ['{ type: object, default: { a: 1, b: 2 } }', '{ type: object, default: { b: 2, a: 1 } }'],
  ],
  fields: [
    ['type: object', '{ type: object, properties: { a: { type: string } } }'],
    ['type: object', '{ type: object, properties: { a: { type: string, default: x } } }'],
    [
      'type: object',
      '{ type: object, properties: { a: { type: object, required: [b], properties: { b: { type: string } } } } }',
    ],
    [
      '{ type: object, properties: { a: { type: string } } }',
      'type: object',
      /"spec.x.a" of version "v1" is removed/,
    ],
    [
      '{ type: object, properties: { a: { type: string } } }',
      '{ type: object, properties: { b: { type: string } } }',
      /"spec.x.a" .* is removed/,
    ],
    [
      '{ type: object, properties: { a: { type: string } } }',
      '{ type: object, required: [a], properties: { a: { type: string } } }',
      /requires "a" from now on/,
    ],
    [
      'type: object',
      '{ type: object, required: [a], properties: { a: { type: string } } }',
      /requires "a"/,
    ],
    [
      '{ type: object, required: [a], properties: { a: { type: string } } }',
      '{ type: object, properties: { a: { type: string } } }',
    ],
    [
      '{ type: object, maxProperties: 2 }',
      '{ type: object, maxProperties: 2, properties: { a: { type: string } } }',
    ],
    [
      '{ type: object, maxProperties: 2 }',
      '{ type: object, maxProperties: 2, properties: { a: { type: string, default: x } } }',
      /is new and has a default/,
    ],
    [
      '{ type: object, not: { required: [a] } }',
      '{ type: object, not: { required: [a] }, properties: { b: { type: string, default: x } } }',
      /is new and has a default/,
    ],
  ],
  'free fields': [
    [
      '{ type: object, properties: { a: { type: string } } }',
      '{ type: object, x-kubernetes-preserve-unknown-fields: true }',
    ],
    [
      '{ type: object, properties: { a: { type: object, properties: { b: { type: string, default: x } } } } }',
      '{ type: object, x-kubernetes-preserve-unknown-fields: true }',
      /"spec.x.a" .* is removed: its defaults would be missing/,
    ],
    [
      '{ type: object, required: [a], properties: { a: { type: string } } }',
      '{ type: object, x-kubernetes-preserve-unknown-fields: true }',
    ],
    ['type: object', '{ type: object, x-kubernetes-preserve-unknown-fields: true }'],
    [
      '{ type: object, x-kubernetes-preserve-unknown-fields: true }',
      'type: object',
      /preserves unknown fields no more/,
    ],
    [
      '{ type: object, x-kubernetes-preserve-unknown-fields: true }',
      '{ type: object, x-kubernetes-preserve-unknown-fields: true, properties: { a: { type: string } } }',
      /"spec.x.a" .* changes its type from "any" to "string"/,
    ],
    [
      '{ type: object, x-kubernetes-preserve-unknown-fields: true }',
      '{ type: object, x-kubernetes-preserve-unknown-fields: true, properties: { a: { x-kubernetes-preserve-unknown-fields: true } } }',
    ],
    [
      '{ type: object, x-kubernetes-preserve-unknown-fields: true }',
      '{ type: object, x-kubernetes-preserve-unknown-fields: true, properties: { a: { x-kubernetes-preserve-unknown-fields: true, default: 1 } } }',
      /default/,
    ],
  ],
  maps: [
    ['type: object', '{ type: object, additionalProperties: { type: string } }'],
    [
      '{ type: object, additionalProperties: { type: string } }',
      'type: object',
      /changes "additionalProperties"/,
    ],
    [
      '{ type: object, additionalProperties: { type: string } }',
      '{ type: object, properties: { a: { type: string } } }',
      /changes "additionalProperties"/,
    ],
    [
      '{ type: object, properties: { a: { type: string } } }',
      '{ type: object, additionalProperties: { type: string } }',
      /"spec.x.a" .* is removed/,
    ],
    [
      '{ type: object, additionalProperties: { type: string, maxLength: 3 } }',
      '{ type: object, additionalProperties: { type: string, maxLength: 4 } }',
    ],
    [
      '{ type: object, additionalProperties: { type: string } }',
      '{ type: object, additionalProperties: true }',
      /additionalProperties/,
    ],
    [
      '{ type: object, x-kubernetes-preserve-unknown-fields: true }',
      '{ type: object, x-kubernetes-preserve-unknown-fields: true, additionalProperties: { type: string } }',
      /additionalProperties/,
    ],
  ],
  lists: [
    [
      '{ type: array, items: { type: string, maxLength: 3 } }',
      '{ type: array, items: { type: string } }',
    ],
    [
      '{ type: array, items: { type: string } }',
      '{ type: array, items: { type: string, maxLength: 3 } }',
      /"spec.x\[\]" .* gets "maxLength: 3"/,
    ],
    [
      '{ type: array, items: { type: string } }',
      '{ type: array, x-kubernetes-list-type: set, items: { type: string } }',
      /"x-kubernetes-list-type" from "atomic" to "set"/,
    ],
    [
      '{ type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a], items: { type: object } }',
      '{ type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [b], items: { type: object } }',
      /list-map-keys/,
    ],
    [
      'type: object',
      '{ type: object, x-kubernetes-map-type: atomic }',
      /"x-kubernetes-map-type" from "granular" to "atomic"/,
    ],
    [
      '{ type: array, items: { type: object, properties: { a: { type: string } } } }',
      '{ type: array, items: { type: object } }',
      /"spec.x\[\].a" of version "v1" is removed/,
    ],
  ],
  'what Kubernetes adds': [
    [
      '{ x-kubernetes-int-or-string: true }',
      '{ x-kubernetes-int-or-string: true, anyOf: [{ type: integer }, { type: string }] }',
      /gets "anyOf"/,
    ],
    ['{ x-kubernetes-int-or-string: true }', 'type: string', /type/],
    ['{ type: object, x-kubernetes-embedded-resource: true }', 'type: object', /embedded-resource/],
    ['type: object', '{ type: object, x-kubernetes-embedded-resource: true }', /embedded-resource/],
    [
      '{ type: object, x-kubernetes-embedded-resource: true }',
      '{ type: object, x-kubernetes-embedded-resource: true, properties: { kind: { type: string, enum: [Pod] } } }',
      /"spec.x.kind" .* gets an enum/,
    ],
    [
      '{ type: object, x-kubernetes-embedded-resource: true }',
      '{ type: object, x-kubernetes-embedded-resource: true, properties: { kind: { type: string }, metadata: { type: object } } }',
    ],
    [
      '{ type: object, x-kubernetes-embedded-resource: true }',
      '{ type: object, x-kubernetes-embedded-resource: true, additionalProperties: { type: string } }',
      /additionalProperties/,
    ],
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
  logic: [
    ['{ type: string, allOf: [{ maxLength: 3 }] }', '{ type: string, allOf: [{ maxLength: 4 }] }'],
    ['{ type: string, allOf: [{ maxLength: 3 }] }', 'type: string'],
    [
      '{ type: string, allOf: [{ maxLength: 3 }] }',
      '{ type: string, allOf: [{ maxLength: 3 }, { pattern: a }] }',
      /gets a condition in "allOf"/,
    ],
    [
      '{ type: string, allOf: [{ maxLength: 3 }] }',
      '{ type: string, allOf: [{ maxLength: 2 }] }',
      /gets a condition in "allOf"/,
    ],
    ['type: string', '{ type: string, allOf: [{ maxLength: 3 }] }', /gets a condition in "allOf"/],
    [
      '{ type: string, anyOf: [{ pattern: a }] }',
      '{ type: string, anyOf: [{ pattern: b }, { pattern: a }] }',
    ],
    ['{ type: string, anyOf: [{ pattern: a }] }', 'type: string'],
    [
      '{ type: string, anyOf: [{ pattern: a }, { pattern: b }] }',
      '{ type: string, anyOf: [{ pattern: b }] }',
      /branch 1 of "anyOf"/,
    ],
    ['type: string', '{ type: string, anyOf: [{ pattern: b }] }', /gets "anyOf"/],
    [
      '{ type: object, anyOf: [{ required: [a] }] }',
      '{ type: object, anyOf: [{ required: [a] }, { required: [b] }] }',
    ],
    ['{ type: string, oneOf: [{ pattern: a }] }', 'type: string'],
    [
      '{ type: string, oneOf: [{ pattern: a, description: x }] }',
      '{ type: string, oneOf: [{ pattern: a }] }',
    ],
    [
      '{ type: string, oneOf: [{ pattern: a }] }',
      '{ type: string, oneOf: [{ pattern: a }, { pattern: b }] }',
      /changes "oneOf"/,
    ],
    [
      '{ type: string, oneOf: [{ maxLength: 2 }] }',
      '{ type: string, oneOf: [{ maxLength: 3 }] }',
      /changes "oneOf"/,
    ],
    ['type: string', '{ type: string, oneOf: [{ pattern: a }] }', /gets "oneOf"/],
    ['{ type: string, not: { pattern: a } }', 'type: string'],
    [
      '{ type: string, not: { pattern: a } }',
      '{ type: string, not: { pattern: b } }',
      /changes "not"/,
    ],
    ['type: string', '{ type: string, not: { pattern: b } }', /gets "not"/],
    [
      '{ type: object, allOf: [{ properties: { a: { maxLength: 1 } } }] }',
      '{ type: object, allOf: [{ properties: { a: { maxLength: 2 } } }] }',
    ],
    [
      '{ type: object, allOf: [{ properties: { a: { maxLength: 1 } } }] }',
      '{ type: object, allOf: [{ properties: { a: { maxLength: 1 }, b: { maxLength: 1 } } }] }',
      /allOf/,
    ],
    [
      '{ type: object, allOf: [{ properties: { a: { maxLength: 1 }, b: { maxLength: 1 } } }] }',
      '{ type: object, allOf: [{ properties: { a: { maxLength: 1 } } }] }',
    ],
    [
      '{ type: array, items: { type: string }, allOf: [{ items: { maxLength: 1 } }] }',
      '{ type: array, items: { type: string }, allOf: [{ maxItems: 4 }] }',
      /allOf/,
    ],
    [
      '{ type: array, items: { type: string }, allOf: [{ items: { maxLength: 1 }, maxItems: 4 }] }',
      '{ type: array, items: { type: string }, allOf: [{ maxItems: 4 }] }',
    ],
  ],
  'what nobody knows': [
    [
      'type: object',
      '{ type: object, x-kubernetes-new: 1 }',
      /changes "x-kubernetes-new" from nothing to "1": nobody knows/,
    ],
    ['{ type: object, dependencies: { a: [b] } }', 'type: object', /changes "dependencies"/],
    ['{ type: object, x-kubernetes-new: [1] }', '{ type: object, x-kubernetes-new: [1] }'],
  ],
};

function schemaOf(text: string): JsonObject {
  const schema = parseYaml(text) as Json;
  assert.ok(isJsonObject(schema));
  return schema;
}

function crdWith(x: JsonObject): JsonObject {
  const spec = { type: 'object', properties: { x } };
  const openAPIV3Schema = { type: 'object', properties: { spec } };
  return {
    group: 'a.example.com',
    names: { kind: 'A', plural: 'as' },
    scope: 'Namespaced',
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
  };
}

function reasonsOf(before: JsonObject, after: JsonObject) {
  return breakingChanges({
    installed: crdWith(before),
    wanted: crdWith(after),
    storedVersions: ['v1'],
    isOurs: true,
  });
}

for (const [group, pairs] of Object.entries(cases)) {
  describe(`runtime/crd/change: ${group}`, () => {
    for (const [before, after, reason] of pairs) {
      test(`${before} -> ${after} ${reason === undefined ? 'is safe' : 'breaks'}`, () => {
        const reasons = reasonsOf(schemaOf(before), schemaOf(after));
        if (reason === undefined) return assert.deepEqual(reasons, []);
        assert.notEqual(reasons.length, 0);
        assert.match(reasons.map(({ message }) => message).join('\n'), reason);
        for (const { path } of reasons)
          assert.match(
            path,
            /^\/spec\/versions\/0\/schema\/openAPIV3Schema\/properties\/spec\/properties\/x/,
          );
      });
    }
  });
}

describe('runtime/crd/change', () => {
  test('all reasons are told, each at its place', () => {
    const before =
      'type: object\nproperties: { a: { type: string }, b: { type: integer, minimum: 0 } }';
    const after = 'type: object\nrequired: [b]\nproperties: { b: { type: integer, minimum: 1 } }';
    const at = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/x';
    assert.deepEqual(
      reasonsOf(schemaOf(before), schemaOf(after))
        .map(({ path }) => path)
        .toSorted(),
      [`${at}/properties/a`, `${at}/properties/b/minimum`, `${at}/required`],
    );
  });
});
