import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';

const folder = mkdtempSync(join(tmpdir(), 'homeostat-examples-'));
const hasPython = spawnSync('python3', ['--version']).status === 0;

/** A project that has this checkout as its package "homeostat". */
function typescriptProject(): string {
  const project = join(folder, 'typescript');
  const installed = join(project, 'node_modules', 'homeostat');
  mkdirSync(installed, { recursive: true });
  const manifest = { name: 'homeostat', type: 'module', exports: './index.js' };
  writeFileSync(join(installed, 'package.json'), JSON.stringify(manifest));
  const entry = pathToFileURL(resolve('src/authoring/library/index.ts')).href;
  writeFileSync(join(installed, 'index.js'), `export * from ${JSON.stringify(entry)};\n`);
  writeFileSync(join(project, 'package.json'), JSON.stringify({ type: 'module' }));
  for (const file of readdirSync('examples/typescript'))
    copyFileSync(join('examples/typescript', file), join(project, file));
  return project;
}

/** Without what the test runner of this process hands to its children. */
function environment(more: Readonly<Record<string, string>> = {}) {
  const { NODE_TEST_CONTEXT: _, NODE_OPTIONS: __, ...rest } = process.env;
  return { ...rest, ...more };
}

describe('examples', () => {
  after(() => rmSync(folder, { recursive: true, force: true }));

  test('the TypeScript tests pass with "node --test"', () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--test'], {
      cwd: typescriptProject(),
      encoding: 'utf8',
      env: environment(),
    });
    assert.equal(status, 0, `${stdout}${stderr}`);
    assert.match(stdout, /pass 2/);
  });

  test('the Python tests pass with "python3 -m unittest"', {
    skip: hasPython ? false : 'there is no python3 on this machine',
  }, () => {
    const { status, stderr } = spawnSync('python3', ['-B', '-m', 'unittest'], {
      cwd: 'examples/python',
      encoding: 'utf8',
      env: environment({ HOMEOSTAT: resolve('bin/homeostat') }),
    });
    assert.equal(status, 0, stderr);
    assert.match(stderr, /Ran 1 test/);
  });
});
