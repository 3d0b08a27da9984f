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

  test('pinned errors stay above the area, whatever is printed, until they are replaced', () => {
    const terminal = startTerminal();
    const screen = new Screen(terminal);
    screen.show(['a']);
    screen.pin('wrong\nhint');
    screen.print('one\ntwo');
    screen.show(['b']);
    assert.deepEqual(terminal.lines, ['one', 'two', 'wrong', 'hint', 'b']);
    screen.pin('');
    assert.deepEqual(terminal.lines, ['one', 'two', 'b']);
  });

  test('pinned errors leave half of the window to the area, and take what it does not need', () => {
    const terminal = startTerminal(40, 10);
    const screen = new Screen(terminal);
    screen.pin(['1', '2', '3', '4', '5', '6', '7', '8', '9'].join('\n'));
    assert.deepEqual(terminal.lines, ['1', '2', '3', '4', '5', '6', '7', '... and 2 more lines']);
    screen.show(['a', 'b', 'c', 'd', 'e', 'f']);
    assert.deepEqual(terminal.lines, [
      ...['1', '2', '3', '... and 6 more lines'],
      ...['a', 'b', 'c', '... and 3 more'],
    ]);
  });

  test('a pinned line wraps, and codes of colors take no room', () => {
    const [red, plain] = ['\u001b[31m', '\u001b[0m'];
    const terminal = startTerminal(10, 10);
    new Screen(terminal).pin(`${red}error${plain}: too long a line`);
    assert.deepEqual(terminal.lines, [`${red}error${plain}: to`, 'o long a ', 'line']);
  });

  test('how to see the rest is said', () => {
    const terminal = startTerminal(40, 4);
    new Screen(terminal, ': there').show(['a', 'b', 'c']);
    assert.deepEqual(terminal.lines, ['a', '... and 2 more: there']);
  });

  test('no text acts on the terminal', () => {
    const terminal = startTerminal(60);
    const screen = new Screen(terminal);
    screen.show(['a\u001b[31mb', 'c\u009bd']);
    screen.print('e\u001b[2J');
    screen.pin('\u001b[31mf\u001b[0m\u001b[8m');
    assert.deepEqual(terminal.lines, [
      'e\\u001b[2J',
      '\u001b[31mf\u001b[0m\\u001b[8m',
      ...['a\\u001b[31mb', 'c\\u009bd'],
    ]);
  });
});
