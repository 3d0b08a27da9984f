import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createLogger } from './logger.ts';

function capture(level: 'debug' | 'info' | 'silent') {
  const lines: string[] = [];
  const logger = createLogger({ level, destination: { write: (line) => lines.push(line) } });
  return { logger, entries: () => lines.map((line) => JSON.parse(line)) };
}

describe('telemetry/logger', () => {
  test('writes a constant message, the level as a word, and the fields of the child logger', () => {
    const { logger, entries } = capture('info');
    logger.child({ definition: 'podset' }).info({ applied: 2 }, 'Reconciled');
    const [{ time, ...entry }] = entries();
    assert.deepEqual(entry, { level: 'info', definition: 'podset', applied: 2, msg: 'Reconciled' });
    assert.ok(!Number.isNaN(Date.parse(time)));
  });

  test('puts an error with its code and stack under err', () => {
    const { logger, entries } = capture('info');
    logger.warn({ err: new TypeError('No') }, 'Preview failed');
    assert.equal(entries()[0].err.type, 'TypeError');
    assert.equal(entries()[0].err.message, 'No');
  });

  test('drops lines below its level', () => {
    const { logger, entries } = capture('info');
    logger.debug({}, 'Reconciled');
    assert.deepEqual(entries(), []);
  });

  test('a line has no character that acts on a terminal, and the same values', () => {
    const lines: string[] = [];
    const destination = { write: (line: string) => lines.push(line) };
    createLogger({ level: 'info', destination }).info(
      { text: 'a\u009b\u202e\u001b' },
      'Reconciled',
    );
    assert.match(lines[0] ?? '', /^[\x20-\x7e]+\n$/);
    assert.equal(JSON.parse(lines[0] ?? '').text, 'a\u009b\u202e\u001b');
  });
});
