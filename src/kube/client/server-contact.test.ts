import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { freshMetrics } from '../../../test/support/silent-telemetry.ts';
import { createLogger } from '../../telemetry/index.ts';
import { ServerContact } from './server-contact.ts';

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
  const contact = new ServerContact({ clock, logger, metrics: freshMetrics() });
  return { clock, log, contact };
}

describe('kube/server-contact', () => {
  test('an outage is told once when it begins to last, and once when it is over, with how long it was', async () => {
    const { clock, log, contact } = setUp();
    contact.missed('unanswered');
    for (let tries = 0; tries < 5; tries++) {
      await clock.advance(1_000);
      contact.missed('unanswered');
    }
    assert.deepEqual(contact.silence, { kind: 'unanswered', forMs: 5_000 });
    assert.deepEqual(log, ['warn The API server does not answer']);
    await clock.advance(500);
    contact.heard();
    contact.heard();
    assert.equal(contact.silence, undefined);
    assert.deepEqual(log.slice(1), ['info The API server answers again 5500']);
  });

  test('single tries in vain are not worth a line', async () => {
    const { clock, log, contact } = setUp();
    for (let tries = 0; tries < 3; tries++) {
      contact.missed('unanswered');
      contact.missed('unanswered');
      await clock.advance(10_000);
      contact.heard();
    }
    assert.deepEqual(log, []);
  });

  test('a server that does not let us in is told as that, and whoever waits for it hears when it does', async () => {
    const { clock, log, contact } = setUp();
    let admitted = 0;
    const unsubscribe = contact.onAdmitted(() => {
      admitted += 1;
    });
    contact.missed('unanswered');
    await clock.advance(1_000);
    contact.missed('unanswered');
    contact.missed('unauthorized');
    assert.equal(contact.silence?.kind, 'unauthorized');
    contact.heard();
    assert.deepEqual(log, [
      'warn The API server does not answer',
      'warn The API server does not accept our credentials',
      'info The API server answers again 1000',
    ]);
    assert.equal(admitted, 1);
    contact.missed('unanswered');
    contact.heard();
    unsubscribe();
    contact.missed('unauthorized');
    contact.heard();
    assert.equal(admitted, 1);
  });
});
