import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError, type KubeErrorCode } from '../../kube/roles.ts';
import type { DecisionRecord } from '../../reconcile/index.ts';
import { hasFailure, isStalled, resultOfError } from './revision-operator.ts';

function recordOf(...problemCodes: readonly string[]): DecisionRecord {
  return { children: [], status: 'written', isReady: false, problemCodes };
}

function resource(...conditions: readonly object[]) {
  const metadata = { name: 'one' };
  return { apiVersion: 'example.com/v1', kind: 'Thing', metadata, status: { conditions } };
}

describe('runtime/rollout/revision-operator', () => {
  for (const [codes, isFailing] of [
    [[], false],
    [['waiting'], false],
    [['conflict', 'too-many-requests', 'namespace-terminating'], false],
    [['rejected'], true],
    [['forbidden'], true],
    [['kind-missing'], true],
    [['Conflict'], true],
    [['conflict', 'type-mismatch'], true],
  ] as const) {
    test(`a pass that found ${codes.join(' and ') || 'nothing'} is ${isFailing ? '' : 'not '}held against its text`, () => {
      assert.equal(hasFailure(recordOf(...codes)), isFailing);
    });
  }

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
      assert.equal(resultOfError(new KubeError(code, 'no', { status })), verdict);
    });
  }

  test('a pass that ended with an error of an unexpected type has failed', () => {
    assert.equal(resultOfError(new TypeError('x')), 'failed');
  });

  test('a resource reports by its report that a user has to do something', () => {
    assert.equal(isStalled(resource({ type: 'Stalled', status: 'True' })), true);
    assert.equal(isStalled(resource({ type: 'Stalled', status: 'False' })), false);
    assert.equal(isStalled(resource({ type: 'Ready', status: 'True' })), false);
    assert.equal(isStalled({ ...resource(), status: undefined }), false);
  });
});
