import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createLogger } from '#telemetry';
import { FakeClock } from '../../../../test/support/fake-clock.ts';
import { freshMetrics } from '../../../../test/support/silent-telemetry.ts';
import { ServerAvailability } from './server-availability.ts';

function setUp() {
  const clock = new FakeClock();
  const log: string[] = [];
  const destination = {
    write: (line: string) => {
      const { level, msg, lostForMs } = JSON.parse(line);
      log.push([level, msg, lostForMs].filter((part) => part !== undefined).join(' '));
    },
  };
  const logger = createLogger({ level: 'info', destination });
  const availability = new ServerAvailability({ clock, logger, metrics: freshMetrics() });
  return { clock, log, availability };
}

describe('kube/server-availability', () => {
  test('an outage is reported once when it begins to last, and once when it is over, with how long it was', async () => {
    const { clock, log, availability } = setUp();
    availability.recordFailure('unreachable');
    for (let tries = 0; tries < 5; tries++) {
      await clock.advance(1_000);
      availability.recordFailure('unreachable');
    }
    assert.deepEqual(availability.unreachable, { kind: 'unreachable', forMs: 5_000 });
    assert.deepEqual(log, ['warn The API server does not respond']);
    await clock.advance(500);
    availability.recordResponse();
    availability.recordResponse();
    assert.equal(availability.unreachable, undefined);
    assert.deepEqual(log.slice(1), ['info The API server responds again 5500']);
  });

  test('single tries in vain are not worth a line', async () => {
    const { clock, log, availability } = setUp();
    for (let tries = 0; tries < 3; tries++) {
      availability.recordFailure('unreachable');
      availability.recordFailure('unreachable');
      await clock.advance(10_000);
      availability.recordResponse();
    }
    assert.deepEqual(log, []);
  });

  test('a server that does not let us in is reported as that, and anyone who waits for it hears when it does', async () => {
    const { clock, log, availability } = setUp();
    let admitted = 0;
    const unsubscribe = availability.onAuthenticated(() => {
      admitted += 1;
    });
    availability.recordFailure('unreachable');
    await clock.advance(1_000);
    availability.recordFailure('unreachable');
    availability.recordFailure('unauthorized');
    assert.equal(availability.unreachable?.kind, 'unauthorized');
    availability.recordResponse();
    assert.deepEqual(log, [
      'warn The API server does not respond',
      'warn The API server does not accept our credentials',
      'info The API server responds again 1000',
    ]);
    assert.equal(admitted, 1);
    availability.recordFailure('unreachable');
    availability.recordResponse();
    unsubscribe();
    availability.recordFailure('unauthorized');
    availability.recordResponse();
    assert.equal(admitted, 1);
  });
});
