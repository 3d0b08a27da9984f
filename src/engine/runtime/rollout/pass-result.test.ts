import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError, type KubeErrorCode } from '#kube/roles.ts';
import { isStalled, resultOf } from './pass-result.ts';

function resource(...conditions: readonly object[]) {
  const metadata = { name: 'one' };
  return { apiVersion: 'example.com/v1', kind: 'Thing', metadata, status: { conditions } };
}

describe('runtime/rollout/pass-result', () => {
  for (const [code, status, verdict] of [
    ['unavailable', 0, 'blocked'],
    ['unauthorized', 401, 'blocked'],
    ['unavailable', 503, 'transient'],
    ['conflict', 409, 'transient'],
    ['not-found', 404, 'failed'],
    ['rejected', 422, 'failed'],
    ['webhook-failed', 500, 'failed'],
  ] satisfies readonly (readonly [KubeErrorCode, number, string])[]) {
    test(`a pass that ended with ${code} (${status}) is ${verdict}`, () => {
      const error = new KubeError(code, 'no', { status });
      assert.equal(resultOf({ kind: 'error', error }), verdict);
    });
  }

  test('a pass that ended with an error of an unexpected type has failed', () => {
    assert.equal(resultOf({ kind: 'error', error: new TypeError('x') }), 'failed');
  });

  test('a resource reports by its report that a user has to do something', () => {
    assert.equal(isStalled(resource({ type: 'Stalled', status: 'True' })), true);
    assert.equal(isStalled(resource({ type: 'Stalled', status: 'False' })), false);
    assert.equal(isStalled(resource({ type: 'Ready', status: 'True' })), false);
    assert.equal(isStalled({ ...resource(), status: undefined }), false);
  });
});
