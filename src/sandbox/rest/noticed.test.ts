import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { badRequest, StatusError } from '../status/index.ts';
import { answerNoticing } from './noticed.ts';

describe('sandbox/rest/noticed', () => {
  test('what was noticed stands before what the answer says', () => {
    const answer = () => ({ code: 200, body: {}, warnings: ['later'] });
    assert.deepEqual(answerNoticing(['first'], answer).warnings, ['first', 'later']);
  });

  test('a refusal says it, too, and stays the refusal that it is', () => {
    const refusal = badRequest('no').withWarnings(['later']);
    const refuse = () => {
      throw refusal;
    };
    assert.throws(
      () => answerNoticing(['first'], refuse),
      (error) => {
        assert.ok(error instanceof StatusError);
        assert.deepEqual(error.warnings, ['first', 'later']);
        assert.deepEqual(error.body(), refusal.body());
        return true;
      },
    );
  });
});
