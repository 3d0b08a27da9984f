import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { OperatorContext } from './context.ts';
import { type ResourceState, stateOf } from './resource-state.ts';

describe('reconcile/pass state of a resource', () => {
  test('is kept between its passes, and is not that of an earlier resource of its name', () => {
    const states = new Map<string, ResourceState>();
    const of = (uid: string) =>
      stateOf({ states } as unknown as OperatorContext, 'default/a', {
        apiVersion: 'a/v1',
        kind: 'A',
        metadata: { name: 'a', namespace: 'default', uid },
      });
    const first = of('1');
    first.isOrphaning = true;
    assert.equal(of('1'), first);
    const next = of('2');
    assert.deepEqual([next.uid, next.isOrphaning], ['2', false]);
    assert.equal(states.get('default/a'), next);
  });
});
