import assert from 'node:assert/strict';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { makeFolder, writeFileAtomically } from './snapshot-saver.ts';

const folder = mkdtempSync(join(tmpdir(), 'homeostat-'));

describe('dev/atomic-file', () => {
  after(() => rmSync(folder, { recursive: true, force: true }));

  test('writes a file for its owner only', async () => {
    const path = join(folder, 'a', 'b', 'file');
    await assert.rejects(writeFileAtomically(path, 'text'), { code: 'ENOENT' });
    await makeFolder(join(folder, 'a', 'b'));
    await makeFolder(join(folder, 'a', 'b'));
    await writeFileAtomically(path, 'text');
    assert.equal(readFileSync(path, 'utf8'), 'text');
    assert.equal(statSync(path).mode & 0o777, 0o600);
  });

  test('a write replaces the file as a whole and leaves nothing beside it', async () => {
    const path = join(folder, 'file');
    writeFileSync(path, 'something longer');
    await writeFileAtomically(path, 'new');
    assert.equal(readFileSync(path, 'utf8'), 'new');
    assert.deepEqual(readdirSync(folder).sort(), ['a', 'file']);
  });

  test('where no folder can be made it fails', { skip: !existsSync('/proc/self') }, async () => {
    await assert.rejects(makeFolder('/proc/none/folder'), { code: 'ENOENT' });
  });

  test('a write that fails leaves nothing', async () => {
    const path = join(folder, 'a');
    await assert.rejects(writeFileAtomically(path, 'text'));
    assert.deepEqual(readdirSync(folder).sort(), ['a', 'file']);
  });
});
