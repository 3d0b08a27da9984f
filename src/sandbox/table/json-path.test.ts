import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseJsonPath } from './json-path.ts';

const object = {
  a: { b: 1, 'c.d': 'dotted', 'e/f': 'slash' },
  list: [
    { name: 'x', value: 1, ready: true },
    { name: 'y', value: 2 },
  ],
  nothing: null,
};

describe('sandbox/table/json-path', () => {
  for (const [path, found] of [
    ['.a.b', [1]],
    ['a.b', [1]],
    ['.a.none', []],
    ['.nothing', [null]],
    ['.nothing.x', []],
    ['.a.c\\.d', ['dotted']],
    [".a['c.d']", ['dotted']],
    ['.a["e/f"]', ['slash']],
    ['.a.*', [1, 'dotted', 'slash']],
    ['.list[0].name', ['x']],
    ['.list[-1].name', ['y']],
    ['.list[5].name', []],
    ['.list[*].name', ['x', 'y']],
    ['.list[0:1].name', ['x']],
    ['.list[1:].name', ['y']],
    ['.list[?(@.name=="y")].value', [2]],
    [".list[?(@.name=='y')].value", [2]],
    ['.list[?(@.value>1)].name', ['y']],
    ['.list[?(@.name!="y")].value', [1]],
    ['.list[?(@.ready==true)].name', ['x']],
    ['.list[?(@.ready)].name', ['x']],
    ['.a.b[0]', []],
  ] as const) {
    test(`${path} returns ${JSON.stringify(found)}`, () => {
      assert.deepEqual(parseJsonPath(path)(object), found);
    });
  }
});
