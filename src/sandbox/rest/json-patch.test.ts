import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Json } from '#util/json.ts';
import { StatusError } from '../status/status-error.ts';
import { applyJsonPatch } from './json-patch.ts';

const document = { a: { b: 1, 'x/y': 2 }, list: ['p', 'q'] };

describe('sandbox/rest/json-patch', () => {
  for (const [name, patch, result] of [
    [
      'adds a field',
      { op: 'add', path: '/a/c', value: 3 },
      { ...document, a: { ...document.a, c: 3 } },
    ],
    [
      'adds an item before another',
      { op: 'add', path: '/list/1', value: 'x' },
      { ...document, list: ['p', 'x', 'q'] },
    ],
    [
      'adds an item at the end',
      { op: 'add', path: '/list/-', value: 'x' },
      { ...document, list: ['p', 'q', 'x'] },
    ],
    [
      'replaces an item',
      { op: 'replace', path: '/list/0', value: 'x' },
      { ...document, list: ['x', 'q'] },
    ],
    ['removes an escaped field', { op: 'remove', path: '/a/x~1y' }, { ...document, a: { b: 1 } }],
    [
      'moves',
      { op: 'move', from: '/list/0', path: '/a/b' },
      { a: { 'x/y': 2, b: 'p' }, list: ['q'] },
    ],
    ['copies', { op: 'copy', from: '/a', path: '/c' }, { ...document, c: document.a }],
    ['tests', { op: 'test', path: '/list', value: ['p', 'q'] }, document],
    ['replaces all', { op: 'replace', path: '', value: { z: 1 } }, { z: 1 }],
  ] as const) {
    test(name, () => assert.deepEqual(applyJsonPatch(document, [patch as Json]), result));
  }

  for (const patch of [
    { op: 'test', path: '/a/b', value: 2 },
    { op: 'remove', path: '/a/none' },
    { op: 'replace', path: '/none/x', value: 1 },
    { op: 'add', path: '/none/x', value: 1 },
    { op: 'add', path: '/list/9', value: 1 },
    { op: 'copy', from: '/none/x', path: '/a/c' },
    { op: 'dance', path: '/a' },
  ]) {
    test(`does not fit: ${JSON.stringify(patch)}`, () => {
      assert.throws(
        () => applyJsonPatch(document, [patch]),
        (error: unknown) => error instanceof StatusError && error.status === 422,
      );
    });
  }

  test('the document is not changed', () => {
    applyJsonPatch(document, [{ op: 'remove', path: '/a/b' }]);
    assert.deepEqual(document, { a: { b: 1, 'x/y': 2 }, list: ['p', 'q'] });
  });
});
