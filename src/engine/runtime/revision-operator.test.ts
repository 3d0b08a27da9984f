import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { DecisionRecord } from '#reconcile';
import { hasFailure } from './revision-operator.ts';

function recordOf(...problemCodes: readonly string[]): DecisionRecord {
  return { children: [], status: 'written', isReady: false, problemCodes };
}

describe('runtime/revision-operator', () => {
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
});
