import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gvkOf } from '#util/gvk.ts';
import type { ResourceType } from '../roles.ts';
import { pathOf } from './paths.ts';

function type(apiVersion: string, plural: string, namespaced: boolean): ResourceType {
  return { gvk: gvkOf(apiVersion, 'X'), plural, namespaced, hasStatus: false, verbs: [] };
}

describe('kube/paths', () => {
  for (const [resource, target, path] of [
    [type('v1', 'pods', true), {}, '/api/v1/pods'],
    [type('v1', 'pods', true), { namespace: 'a' }, '/api/v1/namespaces/a/pods'],
    [type('v1', 'pods', true), { namespace: 'a', name: 'b' }, '/api/v1/namespaces/a/pods/b'],
    [
      type('apps/v1', 'deployments', true),
      { namespace: 'a', name: 'b', subresource: 'status' },
      '/apis/apps/v1/namespaces/a/deployments/b/status',
    ],
    [type('v1', 'nodes', false), { namespace: 'a', name: 'b' }, '/api/v1/nodes/b'],
    [
      type('rbac.authorization.k8s.io/v1', 'clusterroles', false),
      { name: 'MyApp:Reader' },
      '/apis/rbac.authorization.k8s.io/v1/clusterroles/MyApp%3AReader',
    ],
    [
      type('v1', 'pods', true),
      { namespace: 'a', name: '../b?c' },
      '/api/v1/namespaces/a/pods/..%2Fb%3Fc',
    ],
  ] as const) {
    test(path, () => assert.equal(pathOf(resource, target), path));
  }
});
