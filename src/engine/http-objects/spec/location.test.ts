import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isAllowed, matchesPath } from './allowed-request.ts';
import { locationOf, urlBelow } from './location.ts';

describe('http-objects/spec locations', () => {
  for (const [url, origin, basePath] of [
    ['https://grafana.shop.svc:3000/api', 'https://grafana.shop.svc:3000', '/api'],
    ['http://api.shop.svc', 'http://api.shop.svc', ''],
    ['http://api.shop.svc/', 'http://api.shop.svc', ''],
    ['https://api.shop.svc:443/v1/', 'https://api.shop.svc', '/v1'],
  ] as const)
    test(`${url} is at ${origin}`, () => {
      assert.deepEqual(locationOf(url), { location: { origin, basePath } });
    });

  for (const url of [
    'grafana',
    'ftp://api.shop.svc',
    'file:///etc/passwd',
    'https://user:password@api.shop.svc',
    'https://api.shop.svc/x?y=1',
    'https://api.shop.svc/x#y',
    'https://api.shop.svc/a/../b',
    'https://api.shop.svc/a/%2e%2e/b',
    'https://api.shop.svc//a',
    'https://api.shop.svc\\@other',
  ])
    test(`${url} is rejected`, () => {
      assert.ok('failure' in locationOf(url));
    });

  const location = { origin: 'https://api.shop.svc', basePath: '/v1' };
  for (const [path, query, expected] of [
    ['/a%2Fb', undefined, 'https://api.shop.svc/v1/a%2Fb'],
    ['/a', { q: 'a&b=c d', x: '#' }, 'https://api.shop.svc/v1/a?q=a%26b%3Dc+d&x=%23'],
    ['/../admin', undefined, undefined],
    ['/%2e%2e/admin', undefined, undefined],
    ['//other.example.com/', undefined, undefined],
    ['@other.example.com/', undefined, undefined],
    ['/a?b', undefined, undefined],
  ] as const)
    test(`${path} below it is ${expected}`, () => {
      assert.equal(urlBelow(location, path, query), expected);
    });

  for (const [path, glob, expected] of [
    ['/dashboards/1', '/dashboards/*', true],
    ['/dashboards/1/panels', '/dashboards/*', false],
    ['/dashboards/1/panels', '/dashboards/**', true],
    ['/dashboards', '/dashboards/**', true],
    ['/dashboardsx', '/dashboards/**', false],
    ['/a/b/c/d', '/**/c/*', true],
    ['/a/team-x-1', '/a/team-*-1', true],
    ['/a/team-1', '/a/team-*-1', false],
    ['/a/aa', '/a/a*a*a', false],
  ] as const)
    test(`${path} ${expected ? 'matches' : 'does not match'} ${glob}`, () => {
      assert.equal(matchesPath(path, glob), expected);
    });

  for (const [path, glob, expected] of [
    ['/users/a%2Fpermissions', '/users/*', false],
    ['/users/a%252fpermissions', '/users/*', false],
    ['/users/a%5Cpermissions', '/users/*', false],
    ['/users/a%2Fpermissions', '/users/**', true],
    ['/queues/%2F/orders', '/queues/%2F/*', true],
    ['/queues/%2F/orders', '/queues/*/*', false],
    ['/queues/%2F/orders', '/queues/**', true],
  ] as const)
    test(`${path} ${expected ? 'is' : 'is not'} permitted by ${glob}: a server may decode slashes`, () => {
      const rules = [{ methods: ['GET'], paths: [glob] }] as const;
      assert.equal(isAllowed(rules, { method: 'GET', path }), expected);
    });

  test('a rule permits its methods only', () => {
    const rules = [{ methods: ['GET'], paths: ['/**'] }] as const;
    assert.equal(isAllowed(rules, { method: 'GET', path: '/a' }), true);
    assert.equal(isAllowed(rules, { method: 'DELETE', path: '/a' }), false);
    assert.equal(isAllowed([], { method: 'DELETE', path: '/a' }), true);
  });
});
