import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#util/json.ts';
import { dnsLabel } from '../metadata/name-rules.ts';
import {
  between,
  type Checks,
  errorsOf,
  fields,
  matching,
  named,
  notNegative,
  oneOf,
  optional,
  required,
  unlessEmpty,
} from './field-checks.ts';

const none: JsonObject = {};

describe('sandbox/kinds/field-checks', () => {
  for (const [sentence, checks, object, places] of [
    ['an absent field is checked', { a: required() }, none, ['a']],
    ['a path ends where a field is absent', { 'a.b': required() }, none, []],
    ['an absent struct is checked as an empty one', { 'a!.b': required() }, none, ['a.b']],
    ['a struct that is null is absent', { 'a.b': required() }, { a: null }, []],
    [
      'items are numbered',
      { 'list[].name': required() },
      { list: [{ name: 'x' }, {}] },
      ['list[1].name'],
    ],
    [
      'values have the names of their keys',
      { 'map{}': notNegative },
      { map: { x: -1 } },
      ['map[x]'],
    ],
    ['an empty text is no name', { a: matching(dnsLabel) }, { a: '' }, ['a']],
    ['an empty text needs no name', { a: named(dnsLabel) }, { a: '' }, []],
    ['an absent text is no choice', { a: oneOf('x') }, none, ['a']],
    ['an optional field can be absent', { a: optional(oneOf('x')) }, none, []],
    ['an optional field cannot be empty', { a: optional(oneOf('x')) }, { a: '' }, ['a']],
    ['a field that may be empty', { a: unlessEmpty(oneOf('x')) }, { a: '' }, []],
    ['a number out of its range', { a: between(1, 5) }, { a: 6 }, ['a']],
    ['several checks of a field', { a: [required(), oneOf('x')] }, { a: '' }, ['a', 'a']],
  ] satisfies readonly (readonly [string, Checks, JsonObject, readonly string[]])[]) {
    test(sentence, () => {
      const found = errorsOf(fields(checks), object).map(({ field }) => field);
      assert.deepEqual(found, places);
    });
  }

  test('the path of the object comes before those of its fields', () => {
    const [error] = errorsOf(fields({ kind: required('name one') }), none, 'spec.ref');
    assert.deepEqual(error, {
      reason: 'FieldValueRequired',
      message: 'Required value: name one',
      field: 'spec.ref.kind',
    });
  });
});
