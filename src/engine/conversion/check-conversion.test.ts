import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#util/json.ts';
import { checkConversion } from './check-conversion.ts';
import type { FieldRule } from './conversion-rules.ts';

const text = { type: 'string' };
const whole = { type: 'integer' };
const flag = { type: 'boolean' };
const listOf = (items: JsonObject, ...keys: string[]): JsonObject => ({
  type: 'array',
  items,
  ...(keys.length > 0 && { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys }),
});

const mapOf = (value: JsonObject): JsonObject => ({
  type: 'object',
  additionalProperties: value,
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
      'a path without "spec"',
      { size: whole },
      { replicas: whole },
      [{ here: 'size', there: 'replicas' }],
      [
        'error fields/0/here: Version "v1" has no field "size". Did you mean "spec.size"?',
        'error fields/0/there: Version "v2" has no field "replicas". Did you mean "spec.replicas"?',
      ],
    ],
    [
      'a map of texts that becomes a list',
      { labels: mapOf(text) },
      { labels: listOf(objectOf({ key: text, value: text })) },
      [{ here: 'spec.labels', there: 'spec.labels', as: { mapToList: 'key' } }],
      [
        'error fields/0/as: "mapToList" needs a map of objects in "here", found a map of texts. Only a map of objects becomes a list: keep the map in both versions, or see "What the table cannot express" in docs/versions.md',
      ],
    ],
    [
      'enums without a common value and without a table',
      { mode: { ...text, enum: ['a', 'b'] } },
      { mode: { ...text, enum: ['A', 'B'] } },
      [],
      [
        'warning : "spec.mode" of "v1" and "spec.mode" of "v2" have no common value in their enums: values are not copied. Add a rule with "values", or drop the field',
      ],
    ],
    [
      'a path into a list without "[]"',
      { rules: listOf(objectOf({ port: whole })) },
      { port: whole },
      [{ here: 'spec.rules.port', there: 'spec.port' }],
      [
        'error fields/0/here: Version "v1" has no field "spec.rules.port". Did you mean "spec.rules[].port"?',
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
      [
        'error fields/1/there: Rules 1 and 2 both have "spec.c" in "there". A field has one place in the other version: remove one of the rules',
      ],
    ],
    [
      'a rule inside of a value that another rule converts',
      { a: text, b: whole },
      { c: objectOf({ d: whole }) },
      [
        { here: 'spec.a', there: 'spec.c', as: 'textToYaml' },
        { here: 'spec.b', there: 'spec.c.d' },
      ],
      [
        'error fields/1/there: "spec.c.d" is part of "spec.c", which rule 1 converts as a whole. Remove this rule, or rule 1',
      ],
    ],
    [
      'a table with values that are lost',
      { a: { ...text, enum: ['x', 'y', 'z'] } },
      { b: { ...text, enum: ['X', 'Y'] } },
      [{ here: 'spec.a', there: 'spec.b', values: { x: 'X', y: 'X', w: 'W' } }],
      [
        'error fields/0/values/y: Values "x" and "y" both become "X": one of them is lost. Give each value one of its own',
        'error fields/0/values/w: Value "w" is not in the enum of "spec.a" of "v1". Values are x, y, z',
        'error fields/0/values/w: Value "W" is not in the enum of "spec.b" of "v2". Values are X, Y',
        'error fields/0/values: Value "z" of "spec.a" of "v1" has no value in "there". Add it to "values"; not used yet: Y',
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
        'error fields/0/there: "spec.a" of "v1" is an integer, and "spec.e" of "v2" is a text: a rule without "as" copies values. If the text is a duration such as "1m30s": "as: secondsToDuration"',
        'error fields/1/as: "durationToSeconds" needs a number in "there", found a text. Remove "as": values of these types are copied',
        'error fields/2/values: "values" needs texts or booleans, and "spec.g" of "v2" is an integer. Remove "values"',
        'error fields/3/as/itemsToObjects: "itemsToObjects" needs a list of objects with a text field "name" in "there", found a list of objects. Its text fields are id',
      ],
    ],
    [
      'a misspelt value once',
      { a: { ...text, enum: ['fast', 'slow'] } },
      { b: { ...text, enum: ['Parallel', 'Ordered'] } },
      [{ here: 'spec.a', there: 'spec.b', values: { fats: 'Paralel', slow: 'Ordered' } }],
      [
        'error fields/0/values/fats: Value "fats" is not in the enum of "spec.a" of "v1". Did you mean "fast"?',
        'error fields/0/values/fats: Value "Paralel" is not in the enum of "spec.b" of "v2". Did you mean "Parallel"?',
      ],
    ],
    [
      'paths of the other version',
      { size: whole },
      { replicas: whole },
      [{ here: 'spec.replicas', there: 'spec.size' }],
      [
        'error fields/0/here: Version "v1" has no field "spec.replicas". "v2" has it: "here" is a field of "v1", and "there" one of the hub "v2"',
        'error fields/0/there: Version "v2" has no field "spec.size". "v1" has it: "here" is a field of "v1", and "there" one of the hub "v2"',
      ],
    ],
    [
      'paths in the notation of other tools',
      { size: whole },
      { replicas: whole },
      [{ here: '$.spec.size', there: '/spec/replicas' }],
      [
        'error fields/0/here: Version "v1" has no field "$.spec.size". Did you mean "spec.size"?',
        'error fields/0/there: Version "v2" has no field "/spec/replicas". Did you mean "spec.replicas"?',
      ],
    ],
    [
      'types that need another form, or have none',
      {
        a: listOf(text),
        b: text,
        c: { type: 'boolean' },
        d: text,
        e: mapOf(objectOf({ w: whole })),
      },
      {
        a: listOf(objectOf({ size: whole, id: text }), 'id'),
        b: objectOf({ x: text }),
        c: whole,
        d: whole,
        e: listOf(objectOf({ id: text }), 'id'),
      },
      [
        { here: 'spec.a', there: 'spec.a' },
        { here: 'spec.b', there: 'spec.b' },
        { here: 'spec.c', there: 'spec.c' },
        { here: 'spec.d', there: 'spec.d', as: 'secondsToDuration' },
        { here: 'spec.e', there: 'spec.e', as: { mapToList: 'idd' } },
      ],
      [
        'error fields/0/there: "spec.a" of "v1" is a list of texts, and "spec.a" of "v2" is a list of objects: a rule without "as" copies values. The form for these types is "as: { itemsToObjects: id }"',
        'error fields/1/there: "spec.b" of "v1" is a text, and "spec.b" of "v2" is an object: a rule without "as" copies values. The form for these types is "as: textToYaml"',
        'error fields/2/there: "spec.c" of "v1" is a boolean, and "spec.c" of "v2" is an integer: a rule without "as" copies values. No form converts these types: remove the rule, and list the fields in "drop"',
        'error fields/3/as: "secondsToDuration" needs a number in "here", found a text. If the text is a duration such as "1m30s": "as: durationToSeconds"',
        'error fields/3/as: "secondsToDuration" needs a text in "there", found an integer. If the text is a duration such as "1m30s": "as: durationToSeconds"',
        'error fields/4/as/mapToList: "mapToList" needs a list of objects with a text field "idd" in "there", found a list of objects. Did you mean "id"?',
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
        'error : "spec.color" is required in "v2", and no field of "v1" has its value. Add "default" to "spec.color" in the schema of "v2", or to "fields" of version "v1" a rule { here: the field of "v1" with its value, there: spec.color }',
      ],
    ],
    [
      'a required field of the version without a value',
      { required: ['color'], color: text },
      { size: whole },
      [],
      [
        'error : "spec.color" is required in "v1", and no field of "v2" has its value. Add "default" to "spec.color" in the schema of "v1", or to "fields" of version "v1" a rule { here: spec.color, there: the field of "v2" with its value }',
      ],
    ],
    [
      'a boolean and a text without a table',
      { a: flag, b: { ...text, enum: ['On', 'Off'] }, c: flag },
      { a: { ...text, enum: ['Running', 'Paused'] }, b: flag, c: text },
      ['a', 'b', 'c'].map((name) => ({ here: `spec.${name}`, there: `spec.${name}` })),
      [
        `error fields/0/there: "spec.a" of "v1" is a boolean, and "spec.a" of "v2" is a text: a rule without "as" copies values. Name the values, such as "values: { 'true': Running, 'false': Paused }"`,
        `error fields/1/there: "spec.b" of "v1" is a text, and "spec.b" of "v2" is a boolean: a rule without "as" copies values. Name the values, such as "values: { On: 'true', Off: 'false' }"`,
        `error fields/2/there: "spec.c" of "v1" is a boolean, and "spec.c" of "v2" is a text: a rule without "as" copies values. Name the values, such as "values: { 'true': Enabled, 'false': Disabled }"`,
      ],
    ],
    [
      'a table of booleans with a value that is lost',
      { a: flag },
      { a: { ...text, enum: ['Running', 'Paused'] } },
      [{ here: 'spec.a', there: 'spec.a', values: { true: 'Paused', yes: 'Running' } }],
      [
        'error fields/0/values/yes: Value "yes" is not in the enum of "spec.a" of "v1". Values are true, false',
        'error fields/0/values: Value "false" of "spec.a" of "v1" has no value in "there". Add it to "values"',
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
      'error drop/0: Neither "v1" nor "v2" has a field "spec.sizes". Did you mean "spec.size"?',
    ]);
    const size = { here: 'spec.size', there: 'spec.replicas' };
    assert.deepEqual(check({ size: whole }, { replicas: whole }, [size], ['spec.size']), [
      'error drop/0: "spec.size" is dropped, and rule 1 is for spec.size and spec.replicas. Remove the rule, or the path from "drop"',
    ]);
  });

  test('a field that both versions have is not given up by chance', () => {
    const fields = { size: whole, name: text };
    assert.deepEqual(check(fields, fields, [], ['spec.size', 'spec.name', 'spec.name']), [
      'warning drop/0: "v1" and "v2" both have "spec.size": its values are lost, although they could be copied. Remove it from "drop", unless its values mean something else in the other version',
      'warning drop/1: "v1" and "v2" both have "spec.name": its values are lost, although they could be copied. Remove it from "drop", unless its values mean something else in the other version',
      'error drop/2: "spec.name" is dropped twice. Remove one of them',
    ]);
    assert.deepEqual(check(fields, fields, [], ['spec']), [
      'error drop/0: "v1" and "v2" both have "spec": without it, no field of a resource is converted. Drop single fields, such as spec.legacy',
    ]);
    assert.deepEqual(
      check(
        { size: whole },
        { replicas: whole },
        [{ here: 'spec.size', there: 'spec.replicas' }],
        ['spec'],
      ),
      [
        'error drop/0: "spec" is dropped, and rule 1 is for spec.size and spec.replicas. Remove the rule, or the path from "drop"',
      ],
    );
    // Another type cannot be copied.
    assert.deepEqual(check({ size: whole }, { size: objectOf({}) }, [], ['spec.size']), []);
  });

  test('reports versions that do not exist, without a second problem for the version that is meant', () => {
    const schemas = new Map([
      ['v1', kindOf({ size: whole })],
      ['v2', kindOf({ replicas: whole })],
    ]);
    const rules = { hub: 'v2', versions: [{ version: 'v3', fields: [], drop: [] }] };
    assert.deepEqual(
      checkConversion({ rules, schemas }).map(({ path, severity }) => [path, severity]),
      [['/versions/0/version', 'error']],
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
