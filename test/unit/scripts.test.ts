import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { generators, namedPrograms } from '../../scripts/named-programs.ts';

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};
const { suites } = (await import(
  new URL('../../scripts/test/suites.mjs', import.meta.url).href
)) as { readonly suites: Readonly<Record<string, unknown>> };
const names = Object.keys(scripts);
/** Of the extension for VS Code, which has a package of its own. */
const ofExtension = ['package'];
const guide = readFileSync('CONTRIBUTING.md', 'utf8');

/** By script, the names that its first argument may be. */
const arguments_: Readonly<Record<string, readonly string[]>> = {
  test: Object.keys(suites),
  bench: Object.keys(namedPrograms.bench),
  build: Object.keys(namedPrograms.build),
  generate: Object.keys(generators),
};

describe('unit/scripts', () => {
  test('there are at most 20, and no hooks but those of npm itself', () => {
    assert.ok(names.length <= 20, names.join(', '));
    const hooks = names.filter((name) => /^(?:pre|post)/.test(name));
    assert.deepEqual(hooks, ['prepare', 'prepack']);
  });

  test('CONTRIBUTING.md lists every one, and every benchmark and suite', () => {
    const withName = (script: string) =>
      (arguments_[script] ?? [])
        .filter((name) => name !== '')
        .map((name) => `${script} -- ${name}`);
    const wanted = [
      ...names.filter((name) => !/^pre/.test(name)),
      ...['test', 'bench', 'build'].flatMap(withName),
    ];
    const missing = wanted.filter(
      (each) => !guide.includes(`npm ${each}`) && !guide.includes(`npm run ${each}`),
    );
    assert.deepEqual(missing, []);
  });

  test('every script that a text names exists', () => {
    const files = [
      '**/*.md',
      '.ci/run',
      'Dockerfile',
      'scripts/**/*.*',
      'bench/**/*.ts',
      'test/**/*.ts',
    ].flatMap((pattern) =>
      globSync(pattern, { exclude: ['**/node_modules/**', 'editors/**', 'test/fixtures/**'] }),
    );
    assert.ok(files.length > 100);
    const wrong = files.flatMap((file) =>
      [
        ...readFileSync(file, 'utf8').matchAll(
          /\bnpm (?:run (?:--silent )?)?(start|test|(?<=run (?:--silent )?)[a-z][\w:-]*)(?: --silent)?(?: -- ([a-z][\w-]*))?/g,
        ),
      ].flatMap(([whole, script = '', name]) => {
        const known = arguments_[script];
        const isKnown =
          [...names, ...ofExtension].includes(script) &&
          (name === undefined || known === undefined || known.includes(name));
        return isKnown ? [] : [`${file}: ${whole}`];
      }),
    );
    assert.deepEqual(wrong, []);
  });

  test('every program that a name stands for exists', () => {
    const programs = [...Object.values(namedPrograms)].flatMap((each) => Object.values(each));
    const files = [...programs.map(({ file }) => file), ...Object.values(generators)];
    assert.deepEqual(
      files.filter((file) => !existsSync(file)),
      [],
    );
  });

  test('a name that is none is answered with those that are', () => {
    for (const args of [
      ['scripts/run-named.mjs', 'bench', 'nothing'],
      ['scripts/generate.mjs', 'nothing'],
    ]) {
      const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
      assert.equal(status, 1);
      assert.match(stderr, /^Expected one of .*history|metrics.*, or none; found "nothing"\n$/);
    }
  });

  test('a mistyped flag of generate writes no file', () => {
    const args = ['scripts/generate.mjs', 'readmes', '--chek'];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    assert.equal(status, 1);
    assert.equal(stderr, 'Expected "--check" or no flag, found "--chek"\n');
  });

  test('without packages, a script asks for "npm ci"', () => {
    const folder = mkdtempSync(join(tmpdir(), 'homeostat-scripts-'));
    try {
      mkdirSync(join(folder, 'scripts'));
      for (const file of [
        'package.json',
        'package-lock.json',
        'scripts/ensure-installed.mjs',
        'scripts/install-node.mjs',
      ])
        cpSync(file, join(folder, file));
      const installs = ['start', 'test', 'start:cluster'];
      for (const name of names.filter((each) => !/^pre/.test(each) && !installs.includes(each))) {
        const { status, stderr } = spawnSync('sh', ['-c', scripts[name] ?? ''], {
          cwd: folder,
          encoding: 'utf8',
        });
        assert.equal(status, 1, name);
        assert.match(stderr, /^homeostat: packages are missing.*; run "npm ci"\n$/, name);
      }
      // Some shells remember where "node" was, and would not find the one that was just installed.
      for (const name of installs)
        assert.match(
          scripts[name] ?? '',
          /^node scripts\/ensure-installed\.mjs && hash -r && exec node /,
        );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
