import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AccessRight } from '#kube/roles.ts';
import { MissingRights } from './missing-rights.ts';

describe('reconcile/ledger/missing-rights', () => {
  test('a right that is missing in two members is granted in one: only that one is left', () => {
    const grants = new Map<string | undefined, () => void>();
    const granted: string[] = [];
    const rights = new MissingRights(
      {
        onGranted({ cluster }, listener) {
          grants.set(cluster, listener);
          return () => void grants.delete(cluster);
        },
      },
      (key) => void granted.push(key),
    );
    const right: AccessRight = { verb: 'list', group: '', resource: 'secrets' };
    rights.retain('default/a', [
      { ...right, cluster: 'berlin' },
      { ...right, cluster: 'paris' },
    ]);
    assert.deepEqual([...grants.keys()], ['berlin', 'paris']);
    grants.get('berlin')?.();
    assert.deepEqual(granted, ['default/a']);
    assert.deepEqual(
      rights.all.map(({ cluster }) => cluster),
      ['paris'],
    );
  });
});
