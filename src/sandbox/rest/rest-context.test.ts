import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { badRequest } from '../status/api-errors.ts';
import { StatusError } from '../status/status-error.ts';
import { answerWithWarnings } from './rest-context.ts';

describe('sandbox/rest/answer-with-warnings', () => {
  test('earlier warnings precede those of the answer', () => {
    const answer = () => ({ code: 200, body: {}, warnings: ['later'] });
    assert.deepEqual(answerWithWarnings(['first'], answer).warnings, ['first', 'later']);
  });

  test('a rejection gets the warnings, too, and is otherwise unchanged', () => {
    const rejection = badRequest('no').withWarnings(['later']);
    const reject = () => {
      throw rejection;
    };
    assert.throws(
      () => answerWithWarnings(['first'], reject),
      (error) => {
        assert.ok(error instanceof StatusError);
        assert.deepEqual(error.warnings, ['first', 'later']);
        assert.deepEqual(error.body(), rejection.body());
        return true;
      },
    );
  });
});
