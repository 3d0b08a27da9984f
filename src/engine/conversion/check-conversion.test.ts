import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#util/json.ts';
import { checkConversion } from './check-conversion.ts';
import type { FieldRule } from './conversion-rules.ts';

const text = { type: 'string' };
const whole = { type: 'integer' };
const listOf = (items: JsonObject, ...keys: string[]): JsonObject => ({
  type: 'array',
  items,
  ...(keys.length > 0 && { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys }),
});

describe('conversion/check-conversion', () => {
  test('rules that fit have no problem, and new optional fields need no rule', () => {
    const size = { here: 'spec.size', there: 'spec.replicas' };
    assert.deepEqual(check({ size: whole }, { replicas: whole, newer: text }, [size]), []);
    const rules = { here: 'spec.a[].b', there: 'spec.a[].c' };
    const [a, b] = [
      { name: text, b: text },
      { name: text, c: text, d: whole },
    ].map((fields) => listOf(objectOf(fields), 'name'));
    assert.deepEqual(check({ a }, { a: b }, [rules]), []);
  });

  const cases: readonly (readonly [string, JsonObject, JsonObject, FieldRule[], string[]])[] = [
    [
      'a path that does not exist',
      { size: whole },
      { replicas: whole },
      [{ here: 'spec.sise', there: 'spec.replica' }],
      [
        'error fields/0/here: Version "v1" has no field "spec.sise". Did you mean "spec.size"?',
        'error fields/0/there: Version "v2" has no field "spec.replica". Did you mean "spec.replicas"?',
      ],
    ],
    [
      'a path into a list without "[]"',
      { rules: listOf(objectOf({ port: whole })) },
      { port: whole },
      [{ here: 'spec.rules.port', there: 'spec.port' }],
      [
        'error fields/0/here: Version "v1" has no field "spec.rules.port". Did you mean "spec.rules[]"?',
      ],
    ],
    [
      'lists that do not belong together',
      { rules: listOf(objectOf({ port: whole }), 'port') },
      { routes: listOf(objectOf({ port: whole }), 'port') },
      [{ here: 'spec.rules[].port', there: 'spec.routes[].port' }],
      [
        'error fields/0/there: "spec.rules" and "spec.routes" are different lists. Add a rule { here: spec.rules, there: spec.routes } if they are the same',
      ],
    ],
    [
      'two rules for one place',
      { a: text, b: text },
      { c: text },
      [
        { here: 'spec.a', there: 'spec.c' },
        { here: 'spec.b', there: 'spec.c' },
      ],
      ['error fields/1/there: Rule 1 has "spec.c", too'],
    ],
    [
      'a rule inside of a value that another rule converts',
      { a: text, b: whole },
      { c: objectOf({ d: whole }) },
      [
        { here: 'spec.a', there: 'spec.c', as: 'textToYaml' },
        { here: 'spec.b', there: 'spec.c.d' },
      ],
      ['error fields/1/there: "spec.c.d" is part of "spec.c", which rule 1 converts as a whole'],
    ],
    [
      'a table with values that are lost',
      { a: { ...text, enum: ['x', 'y', 'z'] } },
      { b: { ...text, enum: ['X', 'Y'] } },
      [{ here: 'spec.a', there: 'spec.b', values: { x: 'X', y: 'X', w: 'W' } }],
      [
        'error fields/0/values: Values "x" and "y" both become "X": one of them is lost',
        'error fields/0/values: Value "w" is not in the enum of "here"',
        'error fields/0/values: Value "W" is not in the enum of "there"',
        'error fields/0/values: Value "z" of "here" has no value in "there". Add it to "values"',
      ],
    ],
    [
      'types that a rule cannot carry',
      { a: whole, b: text, c: text, d: listOf(text) },
      { e: text, f: text, g: whole, h: listOf(objectOf({ id: text })) },
      [
        { here: 'spec.a', there: 'spec.e' },
        { here: 'spec.b', there: 'spec.f', as: 'durationToSeconds' },
        { here: 'spec.c', there: 'spec.g', values: { a: 'b' } },
        { here: 'spec.d', there: 'spec.h', as: { itemsToObjects: 'name' } },
      ],
      [
        'error fields/0/there: A rule without "as" cannot carry an integer to a text',
        'error fields/1/as: "durationToSeconds" needs a number in "there", found a text',
        'error fields/2/values: "values" needs a text in "there", found an integer',
        'error fields/3/as: "itemsToObjects" needs a list of objects with its field as a text in "there", found a list of objects',
      ],
    ],
    [
      'a required field without a value',
      { size: whole },
      {
        required: ['replicas', 'color', 'mode'],
        replicas: whole,
        color: text,
        mode: { ...text, default: 'a' },
      },
      [{ here: 'spec.size', there: 'spec.replicas' }],
      [
        'error : "spec.color" is required in "v2", and no field of "v1" has its value. Add a rule, or a default to its schema',
      ],
    ],
    [
      'fields that look like one',
      { size: whole },
      { replicas: whole },
      [],
      [
        'warning : "spec.size" exists in "v1" only, and "spec.replicas" in "v2" only. Add a rule if they are the same field, or drop the first one',
      ],
    ],
    [
      'a field with another type',
      { port: whole },
      { port: text },
      [],
      [
        'warning : "spec.port" is an integer in "v1", and "spec.port" is a text in "v2": values are not copied. Add a rule with "as", or drop the field',
      ],
    ],
    [
      'a field of items without keys',
      { steps: listOf(objectOf({ run: text, shell: objectOf({ name: text }) })) },
      { steps: listOf(objectOf({ run: text })) },
      [],
      [
        'warning : "spec.steps[].shell" exists in "v1" only, and is lost when "spec.steps" is changed in "v2": items of that list have no keys. Set x-kubernetes-list-map-keys, or drop the field',
      ],
    ],
  ];

  for (const [title, here, there, fields, expected] of cases)
    test(`reports ${title}`, () => assert.deepEqual(check(here, there, fields), expected));

  test('a dropped field needs nothing else, and must exist', () => {
    assert.deepEqual(check({ size: whole }, { replicas: whole }, [], ['spec.size']), []);
    assert.deepEqual(check({ size: whole }, {}, [], ['spec.sizes']), [
      'error drop/0: No version has a field "spec.sizes". Did you mean "spec.size"?',
    ]);
    const size = { here: 'spec.size', there: 'spec.replicas' };
    assert.deepEqual(check({ size: whole }, { replicas: whole }, [size], ['spec.size']), [
      'error drop/0: Rule 1 is for "spec.size"',
    ]);
  });

  test('reports versions that do not exist, and checks those without rules', () => {
    const schemas = new Map([
      ['v1', kindOf({ size: whole })],
      ['v2', kindOf({ replicas: whole })],
    ]);
    const rules = { hub: 'v2', versions: [{ version: 'v3', fields: [], drop: [] }] };
    assert.deepEqual(
      checkConversion({ rules, schemas }).map(({ path, severity }) => [path, severity]),
      [
        ['/versions/0/version', 'error'],
        ['/versions', 'warning'],
      ],
    );
  });
});

function check(
  here: JsonObject,
  there: JsonObject,
  fields: readonly FieldRule[],
  drop: readonly string[] = [],
): readonly string[] {
  const schemas = new Map([
    ['v1', kindOf(here)],
    ['v2', kindOf(there)],
  ]);
  const rules = { hub: 'v2', versions: [{ version: 'v1', fields, drop }] };
  return checkConversion({ rules, schemas }).map(
    ({ severity, path, message, hint }) =>
      `${severity} ${path.replace(/^\/versions\/0\/?/, '')}: ${message}${hint === undefined ? '' : `. ${hint}`}`,
  );
}

function objectOf({ required, ...properties }: JsonObject): JsonObject {
  return { type: 'object', ...(required !== undefined && { required }), properties };
}

function kindOf(fields: JsonObject): JsonObject {
  return objectOf({ spec: objectOf(fields) });
}
