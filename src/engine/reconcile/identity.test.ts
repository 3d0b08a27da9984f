import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import {
  identityOfObject,
  inFixedOrder,
  kindOf,
  type ObjectAt,
  parseIdentity,
} from './identity.ts';

function objectOf(apiVersion: string, kind: string, name: string, namespace?: string): KubeObject {
  return { apiVersion, kind, metadata: { name, ...(namespace !== undefined && { namespace }) } };
}

function at(object: KubeObject, cluster?: string): ObjectAt {
  return { object, cluster };
}

describe('reconcile/identity', () => {
  test('objects that leave are sorted by cluster, group, kind, namespace and name', () => {
    const sorted = [
      at(objectOf('v1', 'Namespace', 'a')),
      at(objectOf('v1', 'Service', 'z', 'team')),
      at(objectOf('v1', 'Service', 'a', 'team-b')),
      at(objectOf('v1', 'ServiceAccount', 'a', 'team')),
      at(objectOf('apps/v1', 'Deployment', 'a', 'team')),
      at(objectOf('v1', 'Secret', 'a', 'team'), 'a-1'),
      at(objectOf('apps/v1', 'Deployment', 'a', 'team'), 'a-1'),
      at(objectOf('v1', 'Secret', 'a', 'team'), 'b'),
    ];
    for (const objects of [sorted, sorted.toReversed()])
      assert.deepEqual(inFixedOrder(objects).map(identityOfObject), sorted.map(identityOfObject));
  });

  for (const [stored, text] of [
    [at(objectOf('v1', 'Secret', 'db', 'team-a')), 'Secret team-a/db'],
    [
      at(objectOf('rbac.authorization.k8s.io/v1', 'ClusterRole', 'system:node')),
      'rbac.authorization.k8s.io/ClusterRole system:node',
    ],
    [at(objectOf('v1', 'Secret', 'db', 'team-a'), 'paris-1'), 'paris-1:Secret team-a/db'],
  ] as const)
    test(`an object is identified as "${text}", and read back`, () => {
      assert.equal(identityOfObject(stored), text);
      const { name, namespace } = stored.object.metadata;
      const { group, kind, cluster } = kindOf(stored);
      assert.deepEqual(parseIdentity(text), { kind: { group, kind, cluster }, namespace, name });
    });

  for (const text of [undefined, 7, '', 'Secret', 'Secret a/b/c', 'Secret team/'])
    test(`"${text}" identifies nothing`, () => {
      assert.equal(parseIdentity(text), undefined);
    });
});
