import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Command } from 'commander';
import { addSourceFlags, chooseSources, type SourceFlags } from './source-flags.ts';

function chosen(...args: readonly string[]): readonly string[] {
  const command = addSourceFlags(new Command())
    .exitOverride()
    .configureOutput({ writeErr() {} });
  return chooseSources(command.parse(args, { from: 'user' }).opts<SourceFlags>());
}

describe('cli/source-flags', () => {
  for (const [args, sources] of [
    [[], ['configmaps', 'objects']],
    [['--definitions', 'a', 'b'], ['directories']],
    [
      ['--definitions', 'a', '--definitions-namespace', 'ns'],
      ['directories', 'configmaps'],
    ],
    [['--sources', 'objects'], ['objects']],
    [
      ['--sources', 'directories, configmaps', '--definitions', 'a'],
      ['configmaps', 'directories'],
    ],
  ] as const) {
    test(`"${args.join(' ')}" reads ${sources.join(' and ')}`, () => {
      assert.deepEqual(chosen(...args), sources);
    });
  }

  test('--definitions can be repeated', () => {
    const args = ['--definitions', 'a', 'b', '--definitions', 'c'];
    const { definitions } = addSourceFlags(new Command())
      .parse(args, { from: 'user' })
      .opts<SourceFlags>();
    assert.deepEqual(definitions, ['a', 'b', 'c']);
  });

  for (const [args, message] of [
    [['--sources', 'files'], /Expected some of configmaps, directories, objects/],
    [['--sources', ''], /Expected some of/],
    [['--sources', 'directories'], /needs --definitions/],
    [['--sources', 'objects', '--definitions', 'a'], /must hold "directories"/],
    [['--sources', 'objects', '--definitions-namespace', 'a'], /must hold "configmaps"/],
  ] as const) {
    test(`"${args.join(' ')}" is rejected`, () => {
      assert.throws(() => chosen(...args), message);
    });
  }
});
