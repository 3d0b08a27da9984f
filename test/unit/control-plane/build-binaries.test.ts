import assert from 'node:assert/strict';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { allBinaries } from '../../support/control-plane/binaries.ts';
import { buildBinaries } from '../../support/control-plane/build-binaries.ts';
import { newestMinor } from '../../support/control-plane/versions.ts';

const root = mkdtempSync(join(tmpdir(), 'build-binaries-'));

describe('test/control-plane/build-binaries', () => {
  after(() => rmSync(root, { recursive: true }));

  test('builds each binary once when several want them at the same time', async () => {
    const { go, calls } = fakeGo('once', 'while [ "$1" != -o ]; do shift; done; echo built > "$2"');
    const folder = join(root, 'once-cache');
    const build = { go, folder, names: allBinaries, minor: '1.29' } as const;
    await Promise.all([buildBinaries(build), buildBinaries(build)]);
    assert.equal(calls().length, 3);
    assert.deepEqual(readdirSync(folder).sort(), [...allBinaries].sort());
    assert.equal(readFileSync(join(folder, 'etcd'), 'utf8'), 'built\n');
    assert.match(calls().join('\n'), /component-base\/version\.gitVersion=v1\.29\./);
  });

  test('builds only what is wanted', async () => {
    const { go, calls } = fakeGo('some', 'while [ "$1" != -o ]; do shift; done; echo built > "$2"');
    const folder = join(root, 'some-cache');
    await buildBinaries({ go, folder, names: ['etcd'], minor: newestMinor });
    assert.equal(calls().length, 1);
    assert.match(calls()[0] ?? '', /go\.etcd\.io\/etcd\/server\/v3$/);
  });

  test('leaves nothing half made behind when a build fails', async () => {
    const { go } = fakeGo(
      'failing',
      'while [ "$1" != -o ]; do shift; done; echo half > "$2"; exit 1',
    );
    const folder = join(root, 'failing-cache');
    mkdirSync(join(folder, '.build-of-one-that-was-killed'), { recursive: true });
    const build = { go, folder, names: ['etcd'], minor: newestMinor } as const;
    await assert.rejects(buildBinaries(build), /go build .* failed/);
    assert.deepEqual(readdirSync(folder), []);
  });
});

/** A shell script in place of `go`, which notes its arguments. */
function fakeGo(name: string, script: string) {
  const go = join(root, `${name}-go`);
  const log = join(root, `${name}-calls`);
  writeFileSync(go, `#!/bin/sh\necho "$*" >> '${log}'\n${script}\n`);
  chmodSync(go, 0o755);
  return { go, calls: () => readFileSync(log, 'utf8').trim().split('\n') };
}
