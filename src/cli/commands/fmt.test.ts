import assert from 'node:assert/strict';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fmt } from './fmt.ts';

const folder = mkdtempSync(join(tmpdir(), 'homeostat-'));
const broken = 'apiVersion: homeostat.dev/v1alpha1\r\na: ${ b ? 1 : 2 } # c\r\n';
const mended = broken.replace('${ b ? 1 : 2 }', '"${ b ? 1 : 2 }"');

/** Runs the command. */
async function run(paths: readonly string[], check = false) {
  const printed: string[] = [];
  const errors: string[] = [];
  const output = {
    print: (text: string) => printed.push(text),
    error: (text: string) => errors.push(text),
    hasColor: false,
    isTerminal: false,
  };
  const code = await fmt(paths, { check }, { output, write: (text) => printed.push(text) });
  return { code, printed, errors: errors.join('\n') };
}

describe('cli/commands/fmt', () => {
  after(() => rmSync(folder, { recursive: true, force: true }));

  test('changes the files of a folder, and prints their names', async () => {
    const place = join(folder, 'some');
    mkdirSync(place);
    const [file, valid, target, link] = ['a.yaml', 'b.yaml', 'other.txt', 'c.yaml'].map((name) =>
      join(place, name),
    ) as [string, string, string, string];
    writeFileSync(file, broken);
    chmodSync(file, 0o640);
    writeFileSync(valid, mended);
    writeFileSync(target, broken);
    symlinkSync(target, link);
    assert.deepEqual(await run([place], true), { code: 1, printed: [file, link], errors: '' });
    assert.equal(readFileSync(file, 'utf8'), broken);
    assert.deepEqual(await run([place]), { code: 0, printed: [file, link], errors: '' });
    assert.equal(readFileSync(file, 'utf8'), mended);
    assert.equal(statSync(file).mode & 0o777, 0o640);
    assert.equal(readFileSync(target, 'utf8'), mended);
    assert.ok(lstatSync(link).isSymbolicLink());
    assert.deepEqual(readdirSync(place).sort(), ['a.yaml', 'b.yaml', 'c.yaml', 'other.txt']);
    assert.deepEqual(await run([place], true), { code: 0, printed: [], errors: '' });
  });

  test('reports other syntax errors, and keeps the file', async () => {
    const file = join(folder, 'error.yaml');
    writeFileSync(file, `${broken}d: [e\n`);
    const { code, printed, errors } = await run([file]);
    assert.deepEqual([code, printed], [1, []]);
    assert.match(errors, /error\.yaml:\d+:\d+: error\[yaml-syntax\]/);
    assert.equal(readFileSync(file, 'utf8'), `${broken}d: [e\n`);
  });

  test('a file that does not exist is an error of the command', async () => {
    await assert.rejects(run([join(folder, 'nothing.yaml')]), /Cannot read/);
  });
});
