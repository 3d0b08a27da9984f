import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkDefinitions } from '#check';
import { bundledSchemas } from '#compile';
import type { KubeObject } from '#util/kube-object.ts';
import { inReadVersion } from './read-version.ts';

const schema = (field: string) =>
  `{ openAPIV3Schema: { type: object, properties: { spec: { type: object, properties: { ${field}: { type: integer } } } } } }`;

function definitionWith(part: string, fields = ['size', 'size']) {
  const text = `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: app }
spec:
  crd:
    group: example.com
    names: { kind: App, plural: apps }
    scope: Namespaced
    versions:
      - { name: v1, served: true, storage: true, schema: ${schema(fields[0] ?? '')} }
      - { name: v1alpha1, served: true, storage: false, schema: ${schema(fields[1] ?? '')} }
${part}
  children:
    - id: config
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }" } }
`;
  const { accepted, diagnostics } = checkDefinitions([{ file: 'app.yaml', text }], {
    schemas: bundledSchemas(),
  });
  const [checked] = accepted;
  assert.ok(checked, JSON.stringify(diagnostics));
  return checked.located.definition;
}

const resource = (version: string, spec: object): KubeObject => ({
  apiVersion: `example.com/${version}`,
  kind: 'App',
  metadata: { name: 'a' },
  spec,
});

describe('plan/read-version', () => {
  test('a resource in the version that is read stays as it is', () => {
    const given = resource('v1', { size: 1 });
    assert.equal(inReadVersion(definitionWith(''), given).resource, given);
  });

  test('versions that do not differ have another "apiVersion" only', () => {
    const { resource: read } = inReadVersion(definitionWith(''), resource('v1alpha1', { size: 1 }));
    assert.deepEqual(read, resource('v1', { size: 1 }));
  });

  test('versions that differ are converted', () => {
    const rules =
      '  conversions: { hub: v1, versions: [{ version: v1alpha1, fields: [{ here: spec.size, there: spec.replicas }] }] }';
    const definition = definitionWith(rules, ['replicas', 'size']);
    const { resource: read } = inReadVersion(definition, resource('v1alpha1', { size: 2 }));
    assert.deepEqual(read, resource('v1', { replicas: 2 }));
    assert.equal(
      inReadVersion(definition, resource('v9', { size: 2 })).problem,
      'App "a" is in version "v9": a plan needs it in "v1": Version "v9" does not exist',
    );
  });

  test('what only a webhook of the author could convert is not known', () => {
    const webhook =
      '    conversion: { strategy: Webhook, webhook: { conversionReviewVersions: [v1], clientConfig: { url: "https://example.com/convert" } } }';
    assert.equal(
      inReadVersion(definitionWith(webhook), resource('v1alpha1', { size: 2 })).problem,
      'App "a" is in version "v1alpha1": a plan needs it in "v1"',
    );
  });
});
