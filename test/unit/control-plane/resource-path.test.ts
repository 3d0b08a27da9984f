import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { splitPath } from '../../support/control-plane/resource-path.ts';

describe('test/control-plane/resource-path', () => {
  for (const [collection, name] of [
    ['/api/v1/namespaces', 'default'],
    ['/api/v1/nodes', 'one'],
    ['/api/v1/namespaces/default/pods', 'web-0'],
    ['/apis/apps/v1/namespaces/default/deployments', 'web'],
    ['/apis/apiextensions.k8s.io/v1/customresourcedefinitions', 'podsets.example.com'],
  ] as const) {
    test(`splits ${collection}/${name}`, () => {
      assert.deepEqual(splitPath(`${collection}/${name}`), { collection, name });
    });
  }

  for (const path of [
    '/api/v1/pods',
    '/apis/apps/v1/namespaces/default/deployments',
    '/apis/apps/v1/namespaces/default/deployments/web/status',
    '/api/v1/nodes/one?watch=1',
    '/healthz',
  ]) {
    test(`rejects ${path}, which is no object`, () => {
      assert.throws(() => splitPath(path), /Expected the path of an object/);
    });
  }
});
