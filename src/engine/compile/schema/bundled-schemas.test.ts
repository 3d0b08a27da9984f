import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gvkOf } from '#util/gvk.ts';
import { bundledSchemas } from './bundled-schemas.ts';

describe('compile/schema/bundled-schemas', () => {
  const schemas = bundledSchemas();

  for (const [apiVersion, kind, namespaced] of [
    ['v1', 'Pod', true],
    ['v1', 'Namespace', false],
    ['apps/v1', 'Deployment', true],
    ['apiextensions.k8s.io/v1', 'CustomResourceDefinition', false],
  ] as const) {
    test(`knows ${apiVersion} ${kind}`, () => {
      const gvk = gvkOf(apiVersion, kind);
      const schema = schemas.schemaFor(gvk);
      assert.ok(schema?.components[schema.root]);
      assert.equal(schemas.isNamespaced(gvk), namespaced);
    });
  }

  test('returns undefined for other kinds, versions, and names of object prototypes', () => {
    for (const gvk of [
      gvkOf('apps/v1beta1', 'Deployment'),
      gvkOf('example.com/v1', 'PodSet'),
      { group: '', version: '', kind: 'constructor' },
    ]) {
      assert.equal(schemas.schemaFor(gvk), undefined);
      assert.equal(schemas.isNamespaced(gvk), undefined);
    }
  });
});
