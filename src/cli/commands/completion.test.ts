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
    [
      ['diff', '-o', ''],
      ['text', 'json', 'markdown'],
    ],
    [['plan', '--output', '=', 'm'], ['markdown']],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [
      ['dev', 'cluster', ''],
      ['stop', 'start'],
    ],
    [['dev', 'cluster', 'stop', '--kube'], ['--kubeconfig']],
    [['--no-color', 'va'], ['validate']],
    [['validate', '--no-c'], ['--no-color']],
    [['unknown', '--f'], []],
    // Nothing: the shell completes files, also those with blanks in their names.
    [['validate', 'package.js'], []],
    [['dev', ''], []],
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

  test('bash completes files where the script has no word', () => {
    assert.match(
      completionScript(program, 'bash'),
      /^complete -o default -F _homeostat homeostat$/m,
    );
  });

  test('fish has the values of arguments and flags, commands of commands, and other names', () => {
    const script = completionScript(program, 'fish');
    const plan = '__fish_seen_subcommand_from plan diff';
    for (const line of [
      `complete -c homeostat -n '__fish_use_subcommand' -f -a diff -d `,
      `complete -c homeostat -n '${plan}' -s o -l output -xa 'text json markdown' -d `,
      `complete -c homeostat -n '${plan}' -l against -r -d `,
      `complete -c homeostat -n '__fish_seen_subcommand_from completion' -f -a fish`,
      `complete -c homeostat -n '__fish_seen_subcommand_from dev; and __fish_seen_subcommand_from cluster; and not __fish_seen_subcommand_from stop start' -f -a stop -d `,
    ])
      assert.ok(
        script.split('\n').some((each) => each.startsWith(line)),
        line,
      );
  });

  test('zsh loads the completion of bash', () => {
    assert.match(
      completionScript(program, 'zsh'),
      /^autoload -U \+X bashcompinit && bashcompinit\n_homeostat/,
    );
  });
});
