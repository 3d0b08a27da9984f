import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Json, JsonObject } from '#util/json.ts';
import { firstDifference, matches, matchOf, merged } from './compare.ts';
import { parseRecord, printRecord } from './record.ts';

describe('http-objects/core comparison', () => {
  for (const [desired, result, skip, expected] of [
    [{ a: 1 }, { a: 1, b: 2 }, [], undefined],
    [{ a: 1 }, { a: 2 }, [], 'a'],
    [{ a: 1 }, {}, [], 'a'],
    [{ a: { b: { c: 1 } } }, { a: { b: { c: 1, d: 2 } } }, [], undefined],
    [{ a: { b: { c: 1 } } }, { a: { b: { c: 2 } } }, [], 'a.b.c'],
    [{ a: { b: { c: 1 } } }, { a: { b: { c: 2 } } }, ['a.b'], undefined],
    [{ a: { b: { c: 1 }, d: 1 } }, { a: { b: { c: 2 }, d: 2 } }, ['a.b'], 'a.d'],
    [{ a: [1, 2] }, { a: [1, 2] }, [], undefined],
    [{ a: [{ b: 1 }] }, { a: [{ b: 1, c: 2 }] }, [], 'a'],
    [{ a: null }, {}, [], undefined],
    [{ a: null }, { a: 1 }, [], 'a'],
    [{ a: '1' }, { a: 1 }, [], 'a'],
    [{ 'a.b': 1 }, { 'a.b': 2 }, [], 'a\\.b'],
    [{ 'a.b': 1 }, { 'a.b': 2 }, ['a\\.b'], undefined],
    [{ a: 1 }, 'text', [], '.'],
    [{ toString: 'a' }, {}, [], 'toString'],
    [{ a: 9007199254740993n }, { a: 9007199254740993n }, [], undefined],
    [{ a: 9007199254740993n }, { a: 9007199254740992n }, [], 'a'],
  ] as const)
    test(`${show(desired)} against ${show(result)} without ${show(skip)} differs at ${expected}`, () => {
      assert.equal(firstDifference(desired as JsonObject, result as Json, skip), expected);
    });

  test('desired content is merged into what was observed, and lists are replaced', () => {
    const result = { id: 1, a: { b: 1, c: 2 }, list: [1, 2] };
    const desired = { a: { b: 3 }, list: [4] };
    assert.deepEqual(merged(result, desired), { id: 1, a: { b: 3, c: 2 }, list: [4] });
  });

  test('a field "__proto__" is a field', () => {
    const desired = JSON.parse('{"__proto__": {"a": 1}}') as JsonObject;
    const content = merged({ b: 1 }, desired);
    assert.equal(JSON.stringify(content), '{"b":1,"__proto__":{"a":1}}');
    assert.equal(Object.getPrototypeOf(content), Object.prototype);
  });

  test('an object is found by its fields, and never by a missing one', () => {
    const match = matchOf({ name: 'a', spec: { type: 'A' } }, ['name', 'spec.type']);
    assert.equal(matches(match, { name: 'a', spec: { type: 'A' }, other: 1 }), true);
    assert.equal(matches(match, { name: 'a' }), false);
    assert.equal(matches(matchOf({}, ['name']), {}), false);
  });
});

describe('http-objects/core records', () => {
  const record = {
    identity: {
      location: 'http://api',
      endpointUid: 'e',
      params: 'p',
      id: 'r1',
      observe: { method: 'GET', path: '/r/{id}', query: { a: 'b' } },
      delete: { method: 'DELETE', path: '/r/{id}' },
    },
    isOwned: true,
    creates: 2,
    createdBy: 'k',
    createdAtMs: 5,
    pending: { key: 'k', sinceMs: 5, match: { name: 'a' }, nones: 1, noneAtMs: 6 },
    sent: { desired: 'a', inputs: 'b' },
  } as const;

  test('a record is read as it was written', () => {
    assert.deepEqual(parseRecord(printRecord(record)), record);
    assert.deepEqual(parseRecord(undefined), {});
  });

  for (const [name, text] of [
    ['no JSON', '{'],
    ['no object', '[]'],
    ['an unknown field', '{"later":1}'],
    ['an owned object without an identity', '{"isOwned":true}'],
    [
      'a path that leaves the endpoint',
      printRecord({
        ...record,
        identity: { ...record.identity, observe: { method: 'GET', path: '/../x' } },
      }),
    ],
    [
      'a header of the runtime',
      printRecord({
        ...record,
        identity: {
          ...record.identity,
          observe: { method: 'GET', path: '/x', headers: { authorization: 'x' } },
        },
      }),
    ],
    ['an unknown method', printRecord(record).replace('"DELETE"', '"TRACE"')],
  ] as const)
    test(`${name} is damaged, so nothing is sent`, () => {
      assert.equal(parseRecord(text), undefined);
    });
});

function show(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'bigint' ? `${each}n` : each,
  );
}
