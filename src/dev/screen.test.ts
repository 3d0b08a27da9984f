import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Screen } from './screen.ts';

/** What a terminal of that size shows after all that was written to it. */
function startTerminal(columns = 40, rows = 10) {
  let lines: string[] = [];
  const written: string[] = [];
  return {
    columns,
    rows,
    written,
    write(text: string) {
      written.push(text);
      const back = new RegExp(`^${String.fromCharCode(27)}\\[(\\d+)A`).exec(text);
      if (back !== null) lines = lines.slice(0, lines.length - Number(back[1]));
      const rest = text.slice(text.indexOf('J') + 1);
      if (rest !== '') lines.push(...rest.split('\n').slice(0, -1));
    },
    get lines() {
      return lines;
    },
  };
}

describe('dev/screen', () => {
  test('text stays above an area that is drawn again', () => {
    const terminal = startTerminal();
    const screen = new Screen(terminal);
    screen.print('one');
    screen.show(['a', 'b']);
    screen.print('two\nthree');
    assert.deepEqual(terminal.lines, ['one', 'two', 'three', 'a', 'b']);
    screen.show(['c']);
    assert.deepEqual(terminal.lines, ['one', 'two', 'three', 'c']);
  });

  test('an area that stays as it is is not drawn again', () => {
    const terminal = startTerminal();
    const screen = new Screen(terminal);
    screen.show(['a']);
    screen.show(['a']);
    assert.equal(terminal.written.length, 1);
  });

  test('what does not fit the window is cut: lines that wrap or scroll could not be found again', () => {
    const terminal = startTerminal(10, 5);
    const screen = new Screen(terminal);
    screen.show(['x'.repeat(20), 'b', 'c', 'd', 'e']);
    assert.deepEqual(terminal.lines, ['x'.repeat(9), 'b', '... and 3']);
    screen.show(['a']);
    assert.deepEqual(terminal.lines, ['a']);
  });

  test('how to see the rest is said', () => {
    const terminal = startTerminal(40, 4);
    new Screen(terminal, ': there').show(['a', 'b', 'c']);
    assert.deepEqual(terminal.lines, ['a', '... and 2 more: there']);
  });
});
