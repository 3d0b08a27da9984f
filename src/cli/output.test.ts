import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createTerminalOutput } from './output.ts';

interface Given {
  readonly out?: boolean;
  readonly error?: boolean;
  readonly argv?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

function outputOf({ out = true, error = true, argv = [], env = {} }: Given) {
  const write = () => undefined;
  return createTerminalOutput({
    stdout: { write, isTTY: out },
    stderr: { write, isTTY: error },
    argv,
    env,
  });
}

describe('cli/output', () => {
  for (const [what, given, hasColor] of [
    ['a terminal', {}, true],
    ['a terminal with an empty NO_COLOR', { env: { NO_COLOR: '' } }, true],
    ['a terminal with NO_COLOR', { env: { NO_COLOR: '1' } }, false],
    ['a terminal with --no-color', { argv: ['homeostat', 'test', '--no-color'] }, false],
    ['a pipe', { out: false }, false],
    ['a terminal whose errors are in a file', { error: false }, false],
  ] as const satisfies readonly (readonly [string, Given, boolean])[])
    test(`${what} shows ${hasColor ? '' : 'no '}colors`, () => {
      assert.equal(outputOf(given).hasColor, hasColor);
    });

  test('progress is shown only where standard error is a terminal', () => {
    assert.equal(typeof outputOf({ out: false }).progress, 'function');
    assert.equal(outputOf({ error: false }).progress, undefined);
  });

  test('text is printed without what acts on a terminal; only text with colors has codes, and only those of colors', () => {
    const written: string[] = [];
    const write = (text: string) => written.push(text);
    const output = createTerminalOutput({
      stdout: { write, isTTY: true },
      stderr: { write, isTTY: false },
      argv: [],
      env: {},
    });
    output.print('a\u001b[31mb\nc');
    output.error('d\u009b\u202e');
    output.print('\u001b[31me\u001b[39m\u001b[2J', 'colored');
    assert.deepEqual(written, [
      'a\\u001b[31mb\nc\n',
      'd\\u009b\\u202e\n',
      '\u001b[31me\u001b[39m\\u001b[2J\n',
    ]);
  });
});
