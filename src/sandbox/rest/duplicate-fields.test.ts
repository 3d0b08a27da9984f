import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findDuplicateFields } from './duplicate-fields.ts';

describe('sandbox/rest/duplicate-fields', () => {
  for (const [text, paths] of [
    ['{"a":1,"b":{"a":2},"c":[{"a":3},{"a":4}]}', []],
    ['{"a":1,"a":2}', ['a']],
    ['{ "spec" : { "x" : [ { "y" : "}{" , "y" : null } ] } }', ['spec.x[0].y']],
    ['{"a":{"b":1,"b":2,"b":3}}', ['a.b', 'a.b']],
    ['{"a\\"b":1,"a\\u0022b":2}', ['a"b']],
    ['{"a":"\\\\","a":true}', ['a']],
    ['[]', []],
    ['{}', []],
    ['7', []],
  ] as const) {
    test(`${text} has ${paths.length}`, () => {
      assert.deepEqual(findDuplicateFields(text), paths);
    });
  }
});
