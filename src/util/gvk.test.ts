import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { apiVersionOf, gvkKey, gvkOf } from './gvk.ts';

describe('util/gvk', () => {
  for (const [apiVersion, kind, gvk, key] of [
    ['v1', 'Pod', { group: '', version: 'v1', kind: 'Pod' }, 'v1/Pod'],
    [
      'apps/v1',
      'Deployment',
      { group: 'apps', version: 'v1', kind: 'Deployment' },
      'apps/v1/Deployment',
    ],
  ] as const) {
    test(`${apiVersion} ${kind} is taken apart and put together again`, () => {
      assert.deepEqual(gvkOf(apiVersion, kind), gvk);
      assert.equal(apiVersionOf(gvkOf(apiVersion, kind)), apiVersion);
      assert.equal(gvkKey(gvk), key);
    });
  }
});
