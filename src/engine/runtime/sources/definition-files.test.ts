import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { fileReason } from '#files';
import { loadDirectory, loadTree } from './definition-files.ts';

function folderWith(t: TestContext, files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-load-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

describe('runtime/sources/definition-files', () => {
  test('definition files directly in it, in order; folders are not entered, by a link neither', async (t) => {
    const folder = folderWith(t, { 'b.json': '{}', 'a.yml': 'a', '.c.yaml': 'c', notes: 'n' });
    mkdirSync(join(folder, 'd.yaml'));
    symlinkSync('d.yaml', join(folder, 'e.yaml'));
    symlinkSync('notes', join(folder, 'f.yaml'));
    assert.deepEqual(
      (await loadDirectory(folder)).map(({ file, text }) => [file, text]),
      [
        [join(folder, 'a.yml'), 'a'],
        [join(folder, 'b.json'), '{}'],
        [join(folder, 'f.yaml'), 'n'],
      ],
    );
  });

  test('all files below a folder, which may be hidden, but none in hidden folders below it', async (t) => {
    const folder = join(folderWith(t, {}), '.hidden');
    for (const below of ['a', '.b', 'node_modules'])
      mkdirSync(join(folder, below), { recursive: true });
    for (const file of ['z.yaml', 'a/b.json', 'a/notes', '.b/c.yaml', 'node_modules/d.yaml'])
      writeFileSync(join(folder, file), file);
    assert.deepEqual(
      (await loadTree(folder)).map(({ text }) => text),
      ['a/b.json', 'z.yaml'],
    );
    assert.deepEqual(
      (await loadTree(join(folder, 'a/notes'))).map(({ text }) => text),
      ['a/notes'],
    );
  });

  test('a pipe is not waited for', async (t) => {
    const folder = folderWith(t, { 'a.yaml': 'a' });
    execFileSync('mkfifo', [join(folder, 'b.yaml')]);
    const failure = await loadDirectory(folder).catch(fileReason);
    assert.equal(failure, 'b.yaml: it is not a regular file');
  });

  test('what no definition file is as large as is not read', async (t) => {
    const folder = folderWith(t, { 'a.yaml': 'a' });
    truncateSync(join(folder, 'a.yaml'), 5 * 2 ** 20);
    const failure = await loadDirectory(folder).catch(fileReason);
    assert.equal(failure, 'a.yaml: it is larger than 4 MiB');
  });
});
