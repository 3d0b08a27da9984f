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

  test('a right on many objects is reviewed for the first of them, so that a rule with its name is enough', () => {
    const reviewed: AccessRight[] = [];
    const onGranted = (right: AccessRight) => {
      reviewed.push(right);
      return () => undefined;
    };
    const rights = new MissingRights({ onGranted }, () => undefined);
    const right: AccessRight = { verb: 'patch', group: '', resource: 'secrets' };
    rights.retain('default/a', [{ ...right, name: 'a' }]);
    rights.retain('default/b', [{ ...right, name: 'b' }]);
    assert.deepEqual(reviewed, [{ ...right, name: 'a' }]);
    assert.deepEqual(rights.all, [right]);
  });
});
