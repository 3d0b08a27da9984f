import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { errorLogFields, HomeostatError } from './homeostat-error.ts';

describe('util/failure-fields', () => {
  test('a failure outside the process is reported by code, reason and cause, without a stack', () => {
    const cause = new Error('connect ECONNREFUSED');
    assert.deepEqual(errorLogFields(new HomeostatError('unavailable', 'No answer', { cause })), {
      code: 'unavailable',
      reason: 'No answer',
      cause: 'connect ECONNREFUSED',
    });
  });

  test('anything else is logged whole', () => {
    const error = new TypeError('our bug');
    assert.deepEqual(errorLogFields(error), { err: error });
  });
});
