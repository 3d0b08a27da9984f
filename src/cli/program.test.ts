import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { homeostatCommand } from '../../test/support/recipes/homeostat-command.ts';

describe('cli/program', () => {
  for (const [args, error, help] of [
    [['plan'], "error: missing required argument 'path'", '(see homeostat plan --help)'],
    [
      ['validate', '--fast', '.'],
      "error: unknown option '--fast'",
      '(see homeostat validate --help)',
    ],
    [['valdate', '.'], "error: unknown command 'valdate'", '(see homeostat --help)'],
  ] as const)
    test(`"${args.join(' ')}" names the help of its command`, async () => {
      const lines = await homeostatCommand(args);
      assert.deepEqual([lines[0], lines.at(-1)], [error, help]);
    });

  test('"validate --watch -o json" is wrong use', async () => {
    const [first] = await homeostatCommand(['validate', '.', '--watch', '-o', 'json']);
    assert.match(first ?? '', /option '--watch' cannot be used with option '-o, --output/);
  });

  for (const [args, message] of [
    [
      ['--watch', '--coverage-output', 'x'],
      "error: option '--watch' cannot be used with option '--coverage-output <file>'",
    ],
  ] as const)
    test(`"test ${args.join(' ')}" is wrong use: the flag would have no effect`, async () => {
      const [first] = await homeostatCommand(['test', 'operators/tests/podset.yaml', ...args]);
      assert.equal(first, message);
    });

  test('"test --coverage-output" alone measures coverage', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'program-'));
    try {
      const file = join(folder, 'coverage.txt');
      const args = ['operators/tests/podset.yaml', '--coverage-output', file];
      await homeostatCommand(['test', ...args]);
      assert.match(readFileSync(file, 'utf8'), /^Coverage: /);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
