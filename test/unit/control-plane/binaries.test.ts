import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import { searchBinaries } from '../../support/control-plane/binaries.ts';
import { reasonToSkip } from '../../support/control-plane/use-control-plane.ts';
import { cacheFolder, skipBefore } from '../../support/control-plane/versions.ts';

const root = mkdtempSync(join(tmpdir(), 'binaries-'));

describe('test/control-plane/binaries', () => {
  after(() => rmSync(root, { recursive: true }));

  test('takes its own variable before the folder of assets before the cache', () => {
    const environment: NodeJS.ProcessEnv = { XDG_CACHE_HOME: join(root, 'cache') };
    assert.equal(searchBinaries(['etcd'], environment).found.etcd, undefined);
    const cached = executable(join(cacheFolder(environment), 'etcd'));
    assert.equal(searchBinaries(['etcd'], environment).found.etcd, cached);
    const asset = executable(join(root, 'assets', 'etcd'));
    environment.KUBEBUILDER_ASSETS = dirname(asset);
    assert.equal(searchBinaries(['etcd'], environment).found.etcd, asset);
    const own = executable(join(root, 'own-etcd'));
    environment.TEST_ASSET_ETCD = own;
    assert.equal(searchBinaries(['etcd'], environment).found.etcd, own);
  });

  test('looks on where the folder of assets lacks a binary, as those of envtest do', () => {
    const environment = {
      XDG_CACHE_HOME: join(root, 'cache-2'),
      KUBEBUILDER_ASSETS: dirname(executable(join(root, 'assets-2', 'kube-apiserver'))),
    };
    const manager = 'kube-controller-manager';
    assert.deepEqual(searchBinaries([manager], environment).missing, [manager]);
    const cached = executable(join(cacheFolder(environment), manager));
    assert.equal(searchBinaries([manager], environment).found[manager], cached);
  });

  test('rejects a variable that names no executable', () => {
    const environment = { TEST_ASSET_KUBE_APISERVER: join(root, 'nowhere') };
    assert.throws(
      () => searchBinaries(['kube-apiserver'], environment),
      /TEST_ASSET_KUBE_APISERVER/,
    );
  });

  test('keeps versions and platform apart in the cache', () => {
    const folder = cacheFolder({ XDG_CACHE_HOME: '/cache' });
    assert.match(folder, /^\/cache\/homeostat\/control-plane\/etcd-v3.*_kubernetes-v1.*/);
    assert.ok(folder.endsWith(`${process.platform}-${process.arch}`));
  });

  test('takes the servers of the version that is asked for, and lists them where there are none', () => {
    const environment = { XDG_CACHE_HOME: '/cache', HOMEOSTAT_TEST_KUBERNETES: '1.29' };
    assert.match(cacheFolder(environment), /_kubernetes-v1\.29\.\d+_/);
    assert.throws(
      () => cacheFolder({ HOMEOSTAT_TEST_KUBERNETES: '1.28' }),
      /one of 1\.36, 1\.33, 1\.29 .*found "1\.28"/,
    );
  });

  test('a test that needs a newer release is skipped with the reason, never on the sandbox', () => {
    const older = { HOMEOSTAT_TEST_KUBERNETES: '1.29' };
    assert.equal(skipBefore('1.31', older), 'needs Kubernetes 1.31, these servers are 1.29');
    assert.equal(skipBefore('1.29', older), false);
    assert.equal(skipBefore('1.36', {}), false);
    assert.equal(skipBefore('1.31', { ...older, HOMEOSTAT_TEST_BACKEND: 'sandbox' }), false);
  });

  test('runs without a control plane only where it can be neither found nor built, never in CI', () => {
    const found = { etcd: '/bin/etcd' };
    assert.equal(reasonToSkip({ found, missing: [], go: undefined }, true), false);
    assert.equal(reasonToSkip({ found: {}, missing: ['etcd'], go: '/bin/go' }, true), false);
    const nothing = { found: {}, missing: ['etcd'], go: undefined } as const;
    assert.match(String(reasonToSkip(nothing, false)), /etcd not found, and no Go/);
    assert.throws(() => reasonToSkip(nothing, true), /etcd not found, and no Go/);
  });
});

function executable(path: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, '');
  chmodSync(path, 0o755);
  return path;
}
