import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { conditionsOf } from './kube-object.ts';

describe('util/conditions-of', () => {
  const ready = { type: 'Ready', status: 'True' };

  for (const [what, object] of [
    ['no status', { kind: 'Thing' }],
    ['a status that is no object', { status: [ready] }],
    ['a list that is null, as in the first event of a CRD', { status: { conditions: null } }],
    ['nothing at all', undefined],
  ] as const) {
    test(`${what}: none`, () => assert.deepEqual(conditionsOf(object), []));
  }

  test('what is no condition is left out', () => {
    assert.deepEqual(conditionsOf({ status: { conditions: [null, 'Ready', ready] } }), [ready]);
  });
});
