import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, describe, test } from 'node:test';
import { createSystemRandom } from '#util/random.ts';
import { lockFile } from './file-lock.ts';

const folder = mkdtempSync(join(tmpdir(), 'homeostat-'));
const path = join(folder, 'file');
const lock = `${path}.lock`;
const random = createSystemRandom();
const claim = (file = path) => lockFile(file, random);

function heldBy(holder: object): void {
  writeFileSync(lock, JSON.stringify(holder));
}

describe('dev/file-lock', () => {
  afterEach(() => rmSync(lock, { force: true }));
  after(() => rmSync(folder, { recursive: true, force: true }));

  test('a claim is rejected while another one lives, and free when that has released', async () => {
    const first = await claim();
    await assert.rejects(claim(), { code: 'file-locked', lockPath: lock });
    await first.release();
    await (await claim()).release();
    assert.deepEqual(readdirSync(folder), []);
  });

  test('the claim of a process that is gone is taken over', async () => {
    const { pid } = spawnSync('true');
    heldBy({ pid, host: hostname() });
    const ours = await claim();
    assert.equal(JSON.parse(readFileSync(lock, 'utf8')).pid, process.pid);
    await ours.release();
  });

  test('so is that of a process whose number another one has now', {
    skip: !existsSync('/proc/self/stat'),
  }, async () => {
    heldBy({ pid: process.pid, host: hostname(), started: '1' });
    await (await claim()).release();
  });

  test('and one that says nothing', async () => {
    for (const text of ['', '{', 'null', '{"pid":"x"}', '{"pid":-1}']) {
      writeFileSync(lock, text);
      await (await claim()).release();
    }
  });

  test('of what another machine claims nothing can be known, and it is believed', async () => {
    heldBy({ pid: 1, host: 'elsewhere' });
    await assert.rejects(claim(), { code: 'file-locked', lockPath: lock });
  });

  test('of many at once one has it', async () => {
    heldBy({ pid: spawnSync('true').pid, host: hostname() });
    const claims = await Promise.allSettled(Array.from({ length: 20 }, () => claim()));
    const held = claims.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    assert.equal(held.length, 1);
    for (const each of held) await each.release();
    assert.deepEqual(readdirSync(folder), []);
  });

  test('who releases it leaves the claim that another one has by now', async () => {
    const ours = await claim();
    heldBy({ pid: 1, host: 'elsewhere' });
    await ours.release();
    assert.ok(existsSync(lock));
  });

  test('where nothing can be written it fails', async () => {
    await assert.rejects(claim(join(folder, 'none', 'file')), { code: 'ENOENT' });
  });
});
