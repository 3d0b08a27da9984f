import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { limits } from './limits.ts';
import { Meter } from './meter.ts';

describe('compile/language/meter', () => {
  test('the steps of one evaluation are bounded', () => {
    const meter = new Meter();
    meter.spend(limits.steps);
    assert.throws(() => meter.spend(1), { code: 'limit-exceeded', message: /500000 steps/ });
  });

  test('the bytes of one evaluation are bounded', () => {
    const meter = new Meter();
    meter.allocate(limits.producedBytes);
    assert.throws(() => meter.allocate(1), { code: 'too-large', message: /16777216 bytes/ });
  });
});
