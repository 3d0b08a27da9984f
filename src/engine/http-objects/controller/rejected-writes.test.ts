import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type EventInput, KubeError } from '#kube/roles.ts';
import { httpObject, queueSpec } from '../../../../test/support/http-objects/test-objects.ts';
import { silentLogger } from '../../../../test/support/silent-telemetry.ts';
import { RejectedWrites } from './rejected-writes.ts';

function setUp() {
  const lines: string[] = [];
  const events: EventInput[] = [];
  const rejected = new RejectedWrites({
    logger: { ...silentLogger(), warn: (_, message) => void lines.push(message) },
    events: { record: (event) => void events.push(event) },
  });
  const fail = (code: KubeError['code'], message = 'no') =>
    rejected.note('shop/www', httpObject(queueSpec), new KubeError(code, message, { status: 403 }));
  return { rejected, fail, lines, events };
}

describe('http-objects/controller rejected writes', () => {
  test('a rejection is logged, with an Event, until it changes or ends', () => {
    const { rejected, fail, lines, events } = setUp();
    fail('forbidden');
    fail('forbidden');
    assert.equal(lines.length, 1);
    assert.deepEqual(
      events.map(({ reason, note }) => [reason, note]),
      [['WriteRejected', 'no']],
    );
    fail('denied', 'policy');
    assert.equal(lines.length, 2);
    rejected.forget('shop/www');
    fail('denied', 'policy');
    assert.equal(lines.length, 3);
  });

  for (const code of ['conflict', 'unavailable', 'timeout', 'not-found', 'aborted'] as const)
    test(`${code} is retried without a word`, () => {
      const { fail, lines, events } = setUp();
      fail(code);
      assert.equal(lines.length + events.length, 0);
    });
});
