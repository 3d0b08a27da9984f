import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createTextLogger } from './text-logger.ts';

describe('dev/text-logger', () => {
  test('writes a line with the fields of all its parents, from its level on', () => {
    const lines: string[] = [];
    const logger = createTextLogger({ level: 'warn', print: (line) => lines.push(line) });
    const child = logger.child({ definition: 'podset' });
    child.info({}, 'Reconciled');
    child.warn({ code: 'forbidden', reason: 'No right', afterMs: 5 }, 'Definition rejected');
    logger.error({ err: new Error('bug') }, 'The sandbox failed');
    assert.equal(
      lines[0],
      'warn  Definition rejected  definition=podset  code=forbidden  reason="No right"  afterMs=5',
    );
    assert.match(lines[1] ?? '', /^error The sandbox failed {2}err=Error: bug\n +at /);
    assert.equal(lines.length, 2);
  });
});
