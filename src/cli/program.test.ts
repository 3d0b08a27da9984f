import assert from 'node:assert/strict';
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
});
