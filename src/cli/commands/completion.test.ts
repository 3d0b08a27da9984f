import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { createProgram } from '../program.ts';
import { completionScript } from './completion.ts';

const program = createProgram({
  output: { print() {}, error() {}, hasColor: false, isTerminal: false },
  signal: new AbortController().signal,
  exit: () => {},
});

/** What bash offers for the words after `homeostat`; the last one is being typed. */
function offered(...words: readonly string[]): readonly string[] {
  const line = ['homeostat', ...words].map((word) => `'${word}'`).join(' ');
  const script = `${completionScript(program, 'bash')}
COMP_WORDS=(${line}); COMP_CWORD=${words.length}; _homeostat; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const text = execFileSync('bash', ['-c', script], { encoding: 'utf8' });
  return text.split('\n').filter((line) => line !== '');
}

describe('cli/commands/completion', () => {
  for (const [words, expected] of [
    [['va'], ['validate']],
    [['help', 'pl'], ['plan']],
    [['di'], ['diff']],
    [
      ['test', '--cov'],
      ['--coverage', '--coverage-output'],
    ],
    [['diff', '--ag'], ['--against']],
    [['run', '--log-level', 'w'], ['warn']],
    [
      ['validate', '-o', ''],
      ['text', 'json', 'sarif', 'github'],
    ],
    [['validate', 'package.js'], ['package.json']],
    [['unknown', '--f'], []],
  ] as const) {
    test(`bash: homeostat ${words.join(' ')}`, () => {
      assert.deepEqual(offered(...words), expected);
    });
  }

  test('every command is offered', () => {
    const names = program.commands.map((command) => command.name());
    for (const name of names) assert.ok(offered('').includes(name), name);
    for (const name of names)
      assert.match(completionScript(program, 'fish'), new RegExp(`-a ${name} -d '`));
  });

  test('zsh loads the completion of bash', () => {
    assert.match(
      completionScript(program, 'zsh'),
      /^autoload -U \+X bashcompinit && bashcompinit\n_homeostat/,
    );
  });
});
