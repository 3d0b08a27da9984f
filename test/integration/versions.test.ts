import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, statusOf } from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';

const shared = useControlPlane({ audit: true });
const startHomeostat = useHomeostat(shared);

const version = (name: string, fields: string, storage: string) => `
      - name: ${name}
        served: true
        storage: ${storage}
        schema:
          openAPIV3Schema:
            type: object
            properties:
              spec: { type: object, properties: { ${fields} } }
              status: { type: object, properties: { mode: { type: string } } }`;

/** Two versions of a kind; `expression` is what its child says. */
const definition = (
  expression: string,
  stored: 'v1alpha1' | 'v1' = 'v1',
) => `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: versions }
spec:
  crd:
    group: versions.example.com
    names: { kind: Gauge, plural: gauges }
    scope: Namespaced
    versions:${version('v1alpha1', 'size: { type: integer }, mode: { type: string }', String(stored === 'v1alpha1'))}${version(
      'v1',
      'size: { type: integer }, mode: { type: string, default: plain }',
      String(stored === 'v1'),
    )}
  children:
    - id: shown
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }" }
        data: { text: "\${ ${expression} }" }
  status: { mode: "\${ ${expression} }" }
`;
const text = "apiVersion & ' ' & $string(spec.size) & ' ' & (spec.mode ?? 'none')";
const textOf = (object: KubeObject | undefined) =>
  (object?.data as { text?: string } | undefined)?.text;

shared.describe('integration/versions', () => {
  before(async () => {
    await startHomeostat({ 'versions.yaml': definition(text) });
  });

  test('a resource written in another version is read in the one that is stored', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const collection = (of: string) =>
      `/apis/versions.example.com/${of}/namespaces/${namespace}/gauges`;
    await client.create(collection('v1alpha1'), {
      apiVersion: 'versions.example.com/v1alpha1',
      kind: 'Gauge',
      metadata: { name: 'old' },
      spec: { size: 3 },
    });
    const child = await client.untilObject(
      `/api/v1/namespaces/${namespace}/configmaps/old`,
      (object) => textOf(object) === 'versions.example.com/v1 3 plain',
    );
    assert.equal(child?.metadata.ownerReferences?.[0]?.apiVersion, 'versions.example.com/v1');
    // A client that reads the old version sees what was written in the new one.
    const old = await client.untilObject(
      `${collection('v1alpha1')}/old`,
      (object) => conditionOf(object)?.status === 'True',
    );
    assert.equal(statusOf(old).mode, 'versions.example.com/v1 3 plain');
    await client.patch(`${collection('v1alpha1')}/old`, { spec: { size: 4 } });
    await client.untilObject(
      `/api/v1/namespaces/${namespace}/configmaps/old`,
      (object) => textOf(object) === 'versions.example.com/v1 4 plain',
    );
    await shared.audit.quiet(1_000);
    const mark = shared.audit.mark();
    await shared.audit.quiet(2_000);
    assert.deepEqual(shared.audit.atRest({ since: mark }), []);
  });

  test('another version is stored from now on: what was made stays, and is read in that one', async () => {
    const moving = (expression: string, stored: 'v1alpha1' | 'v1') =>
      definition(expression, stored)
        .replace('name: versions', 'name: moving')
        .replace('versions.example.com', 'moving.example.com');
    const before = await startHomeostat({
      'moving.yaml': moving("apiVersion & ' ' & $string(spec.size)", 'v1alpha1'),
    });
    const namespace = await shared.namespace();
    const client = shared.client();
    await client.create(`/apis/moving.example.com/v1/namespaces/${namespace}/gauges`, {
      apiVersion: 'moving.example.com/v1',
      kind: 'Gauge',
      metadata: { name: 'one' },
      spec: { size: 3 },
    });
    const path = `/api/v1/namespaces/${namespace}/configmaps/one`;
    const made = await client.untilObject(
      path,
      (object) => textOf(object) === 'moving.example.com/v1alpha1 3',
    );
    await before.stop();
    await startHomeostat({ 'moving.yaml': moving("apiVersion & ' ' & $string(spec.size)", 'v1') });
    const kept = await client.untilObject(
      path,
      (object) => textOf(object) === 'moving.example.com/v1 3',
    );
    assert.equal(kept?.metadata.uid, made?.metadata.uid);
    const owners = kept?.metadata.ownerReferences ?? [];
    assert.deepEqual(
      owners.map(({ apiVersion }) => apiVersion),
      ['moving.example.com/v1'],
    );
  });

  test('resources are stored again in the new version, then the old one can be taken out; before that it is rejected', async () => {
    const leaving = (stored: 'v1alpha1' | 'v1', change = (text: string) => text) =>
      change(
        definition('$string(spec.size)', stored)
          .replace('name: versions', 'name: leaving')
          .replace('versions.example.com', 'leaving.example.com'),
      );
    const client = shared.client();
    const namespace = await shared.namespace();
    const crdPath =
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gauges.leaving.example.com';
    const path = `/apis/leaving.example.com/v1/namespaces/${namespace}/gauges`;
    const storedVersions = (crd: KubeObject | undefined) =>
      (crd?.status as { storedVersions?: readonly string[] } | undefined)?.storedVersions?.join();
    const homeostat = await startHomeostat({ 'leaving.yaml': leaving('v1alpha1') });
    await client.untilObject(crdPath, (crd) => storedVersions(crd) === 'v1alpha1');
    for (const name of ['a', 'b', 'c'])
      await client.create(path, {
        apiVersion: 'leaving.example.com/v1',
        kind: 'Gauge',
        metadata: { name },
        spec: { size: 3 },
      });
    const before = await client.untilObject(
      `${path}/c`,
      (object) => conditionOf(object) !== undefined,
    );

    homeostat.write('leaving.yaml', leaving('v1', withoutFirst));
    const rejected = await homeostat.whenLogged(
      'Change rejected, the active revision keeps running',
    );
    assert.match(
      (rejected.diagnostics as readonly string[]).join('\n'),
      /Version "v1alpha1" is removed: resources may be stored in it/,
    );

    homeostat.write('leaving.yaml', leaving('v1'));
    await client.untilObject(crdPath, (crd) => storedVersions(crd) === 'v1');
    const migrated = await homeostat.whenLogged('Resources migrated to the new storage version');
    assert.deepEqual([migrated.from, migrated.resources], [['v1alpha1'], 3]);
    const after = await client.get(`${path}/c`);
    assert.equal(after?.metadata.generation, before?.metadata.generation);

    // First the old version is no longer served, then it is removed.
    homeostat.write('leaving.yaml', leaving('v1', unserved));
    await client.untilObject(crdPath, (crd) => /"served":false/.test(JSON.stringify(crd?.spec)));
    homeostat.write('leaving.yaml', leaving('v1', withoutFirst));
    await client.untilObject(crdPath, (crd) => !/v1alpha1/.test(JSON.stringify(crd?.spec)));
    await client.patch(`${path}/a`, { spec: { size: 5 } });
    await client.untilObject(
      `/api/v1/namespaces/${namespace}/configmaps/a`,
      (object) => textOf(object) === '5',
    );
  });
});

/** Without the version `v1alpha1`. */
function withoutFirst(text: string): string {
  const first = text.indexOf('- name: v1alpha1');
  return text.slice(0, first) + text.slice(text.indexOf('- name: v1\n'));
}

/** `v1alpha1` is there and not served. */
function unserved(text: string): string {
  return text.replace('served: true', 'served: false');
}
