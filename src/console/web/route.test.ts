import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hrefOf, parseRoute, type Route } from './route.ts';

const resource = {
  apiVersion: 'web.example.com/v1',
  kind: 'WebApp',
  namespace: 'shop',
  name: 'site',
};
const routes: readonly (readonly [string, Route])[] = [
  ['#/', { page: 'overview' }],
  ['#/resources', { page: 'resources' }],
  [
    '#/resources?kind=WebApp&only=not-ready',
    { page: 'resources', kind: 'WebApp', only: 'not-ready' },
  ],
  ['#/definitions/web-app?tab=source', { page: 'definition', name: 'web-app', tab: 'source' }],
  [
    '#/resources/web.example.com/v1/WebApp/shop/site',
    { page: 'resource', resource, tab: 'tree', detail: 'wanted' },
  ],
  [
    '#/resources/web.example.com/v1/WebApp/shop/site?tab=edit&node=Pod%2Fshop%2Fa&detail=live&reconcile=7',
    { page: 'resource', resource, tab: 'edit', node: 'Pod/shop/a', detail: 'live', reconcile: 7 },
  ],
  [
    '#/resources/v1/Namespace/-/a%3Ab',
    {
      page: 'resource',
      resource: { apiVersion: 'v1', kind: 'Namespace', name: 'a:b' },
      tab: 'tree',
      detail: 'wanted',
    },
  ],
];

describe('web/route', () => {
  for (const [address, route] of routes)
    test(`${address} names a page, and the page has this address`, () => {
      assert.deepEqual(parseRoute(address), route);
      assert.equal(hrefOf(route), address);
    });

  for (const address of ['#/nothing', '#/resources/v1', '#/resources/a/b/c/d/e/f', '#/definitions'])
    test(`${address} names no page`, () =>
      assert.deepEqual(parseRoute(address), { page: 'unknown' }));

  test('an unknown tab is the first one, and a broken escape stays as it is', () => {
    assert.deepEqual(parseRoute('#/definitions/a%?tab=x'), {
      page: 'definition',
      name: 'a%',
      tab: 'graph',
    });
  });
});
