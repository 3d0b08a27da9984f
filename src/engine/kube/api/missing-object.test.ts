import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { KubeError, type NotFoundObject } from '../kube-error.ts';
import { missingObject } from './missing-object.ts';

const rbac = 'rbac.authorization.k8s.io';
const types = [
  ['v1', 'Namespace', 'namespaces', false],
  ['v1', 'ConfigMap', 'configmaps', true],
  [`${rbac}/v1`, 'Role', 'roles', true],
  [`${rbac}/v1`, 'ClusterRole', 'clusterroles', false],
  [`${rbac}/v1`, 'RoleBinding', 'rolebindings', true],
] as const;
const served = types.map(([apiVersion, kind, plural, namespaced]) => ({
  gvk: gvkOf(apiVersion, kind),
  plural,
  namespaced,
  hasStatus: false,
  verbs: [],
}));
const discovery = {
  resourceFor: ({ kind }: { readonly kind: string }) => served.find(({ gvk }) => gvk.kind === kind),
  withPlural: (group: string, resource: string) =>
    served.find(({ gvk, plural }) => gvk.group === group && plural === resource),
};

function missingOf(manifest: KubeObject, notFound: NotFoundObject) {
  const { namespace, name } = manifest.metadata;
  const gvk = gvkOf(manifest.apiVersion, manifest.kind);
  const ref = { gvk, name, ...(namespace !== undefined && { namespace }) };
  const error = new KubeError('not-found', 'x', { status: 404, notFound });
  return missingObject(error, { ref, manifest }, discovery);
}

const metadata = { name: 'web', namespace: 'team' };
const map: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
const binding = (kind: string, name = 'web'): KubeObject => ({
  apiVersion: `${rbac}/v1`,
  kind: 'RoleBinding',
  metadata,
  roleRef: { apiGroup: rbac, kind, name },
});

describe('kube/api missing-object', () => {
  test('a namespace is missing, without a namespace of its own', () => {
    const notFound = { group: '', resource: 'namespaces', name: 'team' };
    assert.deepEqual(missingOf(map, notFound), { ...notFound, gvk: gvkOf('v1', 'Namespace') });
  });

  test('the object of the request itself is none', () => {
    assert.equal(missingOf(map, { group: '', resource: 'configmaps', name: 'web' }), undefined);
  });

  test('another object of the same kind is missing in the same namespace', () => {
    const notFound = { group: '', resource: 'configmaps', name: 'base' };
    assert.deepEqual(missingOf(map, notFound), {
      ...notFound,
      gvk: gvkOf('v1', 'ConfigMap'),
      namespace: 'team',
    });
  });

  for (const [kind, plural, namespace] of [
    ['Role', 'roles', 'team'],
    ['ClusterRole', 'clusterroles', undefined],
  ] as const) {
    test(`the ${kind} of a binding is missing, though the server names the binding, also with the same name`, () => {
      const notFound = { group: rbac, resource: 'rolebindings', name: 'web' };
      assert.deepEqual(missingOf(binding(kind), notFound), {
        group: rbac,
        resource: plural,
        name: 'web',
        gvk: gvkOf(`${rbac}/v1`, kind),
        ...(namespace !== undefined && { namespace }),
      });
    });
  }

  test('a kind that is not known is named without its kind', () => {
    const notFound = { group: 'a.b', resource: 'things', name: 'x' };
    assert.deepEqual(missingOf(map, notFound), notFound);
  });
});
