import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseRoute, type ResourceRoute } from './route.ts';

function resource(route: Partial<ResourceRoute>) {
  const none = { group: '', version: 'v1', plural: '', namespace: '', name: '', subresource: '' };
  return { kind: 'resource', resource: { ...none, ...route } };
}

describe('sandbox/api/route', () => {
  for (const [path, route] of [
    ['/api', { kind: 'group-versions', root: 'api' }],
    ['/apis/', { kind: 'group-versions', root: 'apis' }],
    ['/apis/apps', { kind: 'group', group: 'apps' }],
    ['/api/v1', { kind: 'resources', group: '', version: 'v1' }],
    ['/apis/apps/v1', { kind: 'resources', group: 'apps', version: 'v1' }],
    ['/api/v1/pods', resource({ plural: 'pods' })],
    ['/api/v1/namespaces', resource({ plural: 'namespaces' })],
    ['/api/v1/namespaces/a', resource({ plural: 'namespaces', name: 'a' })],
    [
      '/api/v1/namespaces/a/status',
      resource({ plural: 'namespaces', name: 'a', subresource: 'status' }),
    ],
    ['/api/v1/namespaces/a/pods', resource({ plural: 'pods', namespace: 'a' })],
    [
      '/apis/x.io/v2/namespaces/a/things/b/status',
      resource({
        group: 'x.io',
        version: 'v2',
        plural: 'things',
        namespace: 'a',
        name: 'b',
        subresource: 'status',
      }),
    ],
    [
      '/apis/x.io/v1/globes/a%2Fb',
      resource({ group: 'x.io', plural: 'globes', name: 'a', subresource: 'b' }),
    ],
    ['/apis/x.io/v1/globes/a%62', resource({ group: 'x.io', plural: 'globes', name: 'ab' })],
    ['/api/v1/namespaces/a/pods/b/c/d', { kind: 'unknown', root: 'api' }],
    ['/apis/x.io/v1/a/b/c/d', { kind: 'unknown', root: 'apis' }],
    ['/api//v1/pods', { kind: 'unknown', root: 'api' }],
    ['//api/v1/pods', { kind: 'unknown', root: '' }],
    ['/openapi/v3/apis/apps/v1', { kind: 'openapi', document: 'apis/apps/v1' }],
    ['/readyz', { kind: 'health' }],
    ['/version', { kind: 'version' }],
    ['/api/v1/%zz', { kind: 'malformed' }],
    ['/', { kind: 'unknown', root: '' }],
  ] as const) {
    test(path, () => assert.deepEqual(parseRoute(path), route));
  }
});
