import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { isAlive, withFolderLock } from '../../support/control-plane/folder-lock.ts';

const root = mkdtempSync(join(tmpdir(), 'folder-lock-'));

describe('test/control-plane/folder-lock', () => {
  after(() => rmSync(root, { recursive: true }));

  test('lets one work at a time', async () => {
    const lock = join(root, 'one');
    const steps: string[] = [];
    const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
    const first = withFolderLock(lock, async () => {
      steps.push('first begins');
      await mayEnd;
      steps.push('first ends');
    });
    const second = withFolderLock(lock, async () => steps.push('second'));
    end();
    await Promise.all([first, second]);
    assert.deepEqual(steps, ['first begins', 'first ends', 'second']);
    assert.equal(existsSync(lock), false);
  });

  test('gives the lock back when the work fails', async () => {
    const lock = join(root, 'failing');
    await assert.rejects(
      withFolderLock(lock, () => Promise.reject(new Error('no'))),
      /no/,
    );
    assert.equal(await withFolderLock(lock, async () => 'next'), 'next');
  });

  test('takes over from a holder that died', async () => {
    const lock = join(root, 'dead');
    const { pid } = spawnSync(process.execPath, ['-e', '']);
    assert.equal(isAlive(pid), false);
    mkdirSync(lock);
    writeFileSync(join(lock, 'pid'), String(pid));
    assert.equal(await withFolderLock(lock, async () => 'mine'), 'mine');
  });

  test('takes over from a holder that died before it wrote its id', async () => {
    const lock = join(root, 'nameless');
    mkdirSync(lock);
    utimesSync(lock, 0, 0);
    assert.equal(await withFolderLock(lock, async () => 'mine'), 'mine');
  });
});
