import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ProgressLine } from './progress-line.ts';

function createLine(columns = 80) {
  const state = { nowMs: 0, written: '' };
  const write = (text: string) => {
    state.written += text;
  };
  const stream = { columns, write };
  return { state, line: new ProgressLine({ stream, nowMs: () => state.nowMs }) };
}

const erased = '\r\u001b[2K';

describe('cli/progress-line', () => {
  test('shows nothing for work that is done soon', () => {
    const { state, line } = createLine();
    line.show('1 of 2');
    state.nowMs = 299;
    line.show('2 of 2');
    line.erase();
    assert.equal(state.written, '');
  });

  test('replaces its text, at most every 50 ms', () => {
    const { state, line } = createLine();
    line.show('1 of 9');
    for (const [nowMs, text] of [
      [300, '2 of 9'],
      [320, '3 of 9'],
      [350, '4 of 9'],
    ] as const) {
      state.nowMs = nowMs;
      line.show(text);
    }
    assert.equal(state.written, `${erased}2 of 9${erased}4 of 9`);
  });

  test('is erased before other output, once', () => {
    const { state, line } = createLine();
    line.show('1 of 9');
    state.nowMs = 300;
    line.show('2 of 9');
    line.erase();
    line.erase();
    assert.equal(state.written, `${erased}2 of 9${erased}`);
  });

  test('is cut to the width of the terminal', () => {
    const { state, line } = createLine(6);
    line.show('');
    state.nowMs = 300;
    line.show('123456789');
    assert.equal(state.written, `${erased}12345`);
  });
});
