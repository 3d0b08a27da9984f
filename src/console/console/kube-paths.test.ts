import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { allowedPath, isEndless } from './kube-paths.ts';

describe('console/kube-paths', () => {
  for (const path of [
    '/api',
    '/apis',
    '/api/v1/pods',
    '/api/v1/namespaces',
    '/api/v1/namespaces/shop',
    '/api/v1/namespaces/shop/secrets/a.b-c',
    '/apis/apps/v1/namespaces/shop/deployments/site',
    '/apis/rbac.authorization.k8s.io/v1/clusterroles/system:node',
    '/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode',
    '/apis/rbac.authorization.k8s.io/v1/namespaces/shop/rolebindings/alice%40example.com',
  ])
    test(`passes on ${path}`, () => assert.notEqual(allowedPath({ path }), undefined));

  for (const path of [
    '/',
    '/metrics',
    '/api/v1/namespaces/shop/pods/web/exec',
    '/api/v1/namespaces/shop/pods/web/log',
    '/api/v1/namespaces/shop/services/web/proxy',
    '/api/v1/namespaces/shop/serviceaccounts/default/token',
    '/api/v1/nodes/one/proxy',
    '/api/v1/watch/secrets',
    '/api/v1/namespaces/../secrets',
    '/api/v1/namespaces/shop%2Fpods/web',
    '/api/v1//pods',
    '/api/v1/namespaces/shop/pods/..',
    '/api/v1/namespaces/shop/pods/%2E%2E',
    '/api/v1/namespaces/shop/pods/web%2Fexec',
    '/api/v1/namespaces/shop/pods/web%3Fwatch%3D1%0A',
    '/api/v1/namespaces/shop/pods/web?watch=1',
    '/api/v1/namespaces/shop/pods/%FF',
    '/api/v1/pods?watch=true',
    '/apis/apps/v1/namespaces/shop/deployments/site/scale',
  ])
    test(`does not pass on ${path}`, () => assert.equal(allowedPath({ path }), undefined));

  test('passes on the query parameters of lists, watches and dry runs, and no others', () => {
    const query = { limit: '5', watch: 'true', pretty: 'true', timeoutSeconds: '1' };
    assert.deepEqual(allowedPath({ path: '/api/v1/pods', query })?.query, {
      limit: '5',
      watch: 'true',
    });
  });

  for (const request of [
    { path: '/api/v1/pods', query: { watch: 'true' } },
    { path: '/api/v1/pods', query: { watch: '1' } },
    { path: '/api/v1/pods', query: { watch: '' } },
    { path: '/api/v1/pods?watch' },
    { path: '/api/v1/pods?limit=1&watch=1' },
    { path: '/api/v1/pods?%77atch=1' },
    { path: '/api/v1/watch/pods' },
    { path: '/api/v1/watch/namespaces/shop/pods/web' },
    { path: '/apis/apps/v1/watch/deployments' },
    { path: '/api/v1/namespaces/shop/pods/web/log', query: { follow: 'true' } },
    { path: '/api/v1/namespaces/shop/pods/web/log?follow' },
  ])
    test(`${JSON.stringify(request)} has no end`, () => assert.equal(isEndless(request), true));

  test('a list has an end, also of a namespace with the name "watch"', () => {
    for (const path of ['/api/v1/pods', '/api/v1/namespaces/watch/pods', '/apis/watch/v1/pods'])
      assert.equal(isEndless({ path }), false);
  });

  test('a path with a name is that of one object', () => {
    assert.equal(allowedPath({ path: '/api/v1/namespaces/shop/pods/web' })?.name, 'web');
    assert.equal(allowedPath({ path: '/api/v1/namespaces/shop/pods' })?.name, undefined);
  });
});
