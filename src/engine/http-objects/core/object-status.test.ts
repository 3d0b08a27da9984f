import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#util/json.ts';
import { objectStatusOf } from './object-status.ts';

const settled = {
  synced: { status: 'True', reason: 'AsDesired', message: '' },
  isObserved: true,
  next: { kind: 'look' },
} as const;

function codeAfter(code: number | undefined, before?: number): unknown {
  const facts = { settled, id: 'a', code, changedAt: undefined, values: undefined, isReady: true };
  const object = {
    apiVersion: 'homeostat.dev/v1alpha1',
    kind: 'HttpObject',
    metadata: { name: 'a', generation: 1 },
    ...(before !== undefined && { status: { code: before } as JsonObject }),
  };
  return objectStatusOf(facts, { object, now: '2026-01-01T00:00:00Z' }).code;
}

describe('http-objects/core/object-status', () => {
  for (const [title, code, before, expected] of [
    ['the code of the first answer', 201, undefined, 201],
    ['a look after a create changes nothing', 200, 201, 201],
    ['a failure after a success', 500, 201, 500],
    ['a success after a failure', 200, 500, 200],
    ['no answer', undefined, 429, 429],
  ] as const)
    test(title, () => assert.equal(codeAfter(code, before), expected));
});
