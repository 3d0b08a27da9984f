import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { writeNewFiles } from './new-files.ts';

describe('cli/commands/new-files', () => {
  const root = mkdtempSync(join(tmpdir(), 'homeostat-new-files-'));
  after(() => rmSync(root, { recursive: true, force: true }));
  let count = 0;
  /** A folder with a file, and all that is in it. */
  function folder() {
    const path = join(root, String(++count));
    mkdirSync(path);
    writeFileSync(join(path, 'there.yaml'), 'as it was');
    const list = () => readdirSync(path, { recursive: true, encoding: 'utf8' }).sort();
    return { at: (name: string) => join(path, name), list };
  }

  test('creates files in new folders', async () => {
    const { at, list } = folder();
    await writeNewFiles([
      { file: at('a/b/c.yaml'), text: 'c' },
      { file: at('a/d.yaml'), text: 'd' },
    ]);
    assert.deepEqual(list(), ['a', 'a/b', 'a/b/c.yaml', 'a/d.yaml', 'there.yaml']);
    assert.equal(readFileSync(at('a/b/c.yaml'), 'utf8'), 'c');
  });

  test('two files of one name: nothing is written, and both sources are named', async () => {
    const { at, list } = folder();
    const files = [
      { file: at('new/a.yaml'), text: '1', source: 'x.yaml: Graph "My.A"' },
      { file: at('new/./A.yaml'), text: '2', source: 'y.yaml: Graph "my-a"' },
    ];
    await assert.rejects(
      writeNewFiles(files),
      /^Error: x\.yaml: Graph "My\.A" and y\.yaml: Graph "my-a" would both be written to ".*A\.yaml"/,
    );
    assert.deepEqual(list(), ['there.yaml']);
  });

  test('a file that exists: nothing is written or changed', async () => {
    const { at, list } = folder();
    const files = ['new/a.yaml', 'there.yaml'].map((name) => ({ file: at(name), text: 'new' }));
    await assert.rejects(writeNewFiles(files), /there\.yaml" exists already/);
    assert.deepEqual(list(), ['there.yaml']);
    assert.equal(readFileSync(at('there.yaml'), 'utf8'), 'as it was');
  });

  test('a file that cannot be written: what was written before it is removed', async () => {
    const { at, list } = folder();
    // A file is in the place of a folder.
    const files = ['new/deep/a.yaml', 'b.yaml', 'there.yaml/c.yaml'];
    await assert.rejects(
      writeNewFiles(files.map((name) => ({ file: at(name), text: 'new' }))),
      /Cannot write ".*there\.yaml\/c\.yaml": file already exists/,
    );
    assert.deepEqual(list(), ['there.yaml']);
  });

  test('folders that have other files by now are kept', async () => {
    const { at, list } = folder();
    mkdirSync(at('old'));
    const files = ['old/new/a.yaml', 'there.yaml/c.yaml'];
    await assert.rejects(writeNewFiles(files.map((name) => ({ file: at(name), text: 'new' }))));
    assert.deepEqual(list(), ['old', 'there.yaml']);
  });
});
