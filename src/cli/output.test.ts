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
});
