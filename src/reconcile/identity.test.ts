import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '../util/kube-object.ts';
import { inMember } from '../util/member-cluster.ts';
import { identityOfObject, inFixedOrder, kindOf, parseIdentity } from './identity.ts';

function objectOf(apiVersion: string, kind: string, name: string, namespace?: string): KubeObject {
  return { apiVersion, kind, metadata: { name, ...(namespace !== undefined && { namespace }) } };
}

describe('reconcile/identity', () => {
  test('objects that leave are sorted by cluster, group, kind, namespace and name', () => {
    const sorted = [
      objectOf('v1', 'Namespace', 'a'),
      objectOf('v1', 'Service', 'z', 'team'),
      objectOf('v1', 'Service', 'a', 'team-b'),
      objectOf('v1', 'ServiceAccount', 'a', 'team'),
      objectOf('apps/v1', 'Deployment', 'a', 'team'),
      inMember(objectOf('v1', 'Secret', 'a', 'team'), 'a-1'),
      inMember(objectOf('apps/v1', 'Deployment', 'a', 'team'), 'a-1'),
      inMember(objectOf('v1', 'Secret', 'a', 'team'), 'b'),
    ].map((object) => ({ object }));
    for (const objects of [sorted, sorted.toReversed()])
      assert.deepEqual(
        inFixedOrder(objects).map(({ object }) => identityOfObject(object)),
        sorted.map(({ object }) => identityOfObject(object)),
      );
  });

  for (const [object, text] of [
    [objectOf('v1', 'Secret', 'db', 'team-a'), 'Secret team-a/db'],
    [
      objectOf('rbac.authorization.k8s.io/v1', 'ClusterRole', 'system:node'),
      'rbac.authorization.k8s.io/ClusterRole system:node',
    ],
    [inMember(objectOf('v1', 'Secret', 'db', 'team-a'), 'paris-1'), 'paris-1:Secret team-a/db'],
  ] as const)
    test(`an object is identified as "${text}", and read back`, () => {
      assert.equal(identityOfObject(object), text);
      const { name, namespace } = object.metadata;
      const { group, kind, cluster } = kindOf(object);
      const place = cluster === undefined ? {} : { cluster };
      assert.deepEqual(parseIdentity(text), { kind: { group, kind, ...place }, namespace, name });
    });

  for (const text of [undefined, 7, '', 'Secret', 'Secret a/b/c', 'Secret team/'])
    test(`"${text}" identifies nothing`, () => {
      assert.equal(parseIdentity(text), undefined);
    });
});
