import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { customKind } from '../../../../test/support/definitions.ts';
import { storedKind } from './crd-definition.ts';

describe('runtime/crd/crd-definition', () => {
  test('the kind in the version that is stored', () => {
    const crd = customKind({ group: 'a.example.com', kind: 'Tenant', scope: 'Cluster' });
    const versions = [
      { name: 'v1', storage: false },
      { name: 'v2', storage: true },
    ];
    const kind = storedKind({ ...crd, spec: { ...(crd.spec as object), versions } });
    assert.deepEqual(kind?.gvk, { group: 'a.example.com', version: 'v2', kind: 'Tenant' });
    assert.deepEqual([kind?.scope, kind?.plural], ['Cluster', 'tenants']);
  });

  for (const [what, spec] of [
    ['without a spec', undefined],
    ['without versions', { names: {} }],
    ['of which nothing is stored', { names: {}, versions: [{ name: 'v1', storage: false }] }],
  ] as const) {
    test(`a CRD ${what} has none`, () => {
      const metadata = { name: 'x' };
      const crd = {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata,
        spec,
      };
      assert.equal(storedKind(crd), undefined);
    });
  }
});
