import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createTextLogger } from './text-logger.ts';

describe('dev/text-logger', () => {
  test('writes a line with the fields of all its parents, from its level on', () => {
    const lines: string[] = [];
    const logger = createTextLogger({ level: 'warn', print: (line) => lines.push(line) });
    const child = logger.child({ definition: 'podset' });
    child.info({}, 'Not urgent');
    child.warn({ code: 'forbidden', reason: 'No right', afterMs: 5 }, 'Cannot start');
    logger.error({ err: new Error('bug') }, 'Failed');
    assert.equal(
      lines[0],
      'warn  Cannot start  definition=podset  code=forbidden  reason="No right"  afterMs=5',
    );
    assert.match(lines[1] ?? '', /^error Failed {2}err=Error: bug\n +at /);
    assert.equal(lines.length, 2);
  });
});
