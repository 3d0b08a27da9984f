import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { schemaOfCustomResource } from '#compile';
import { gvkOf } from '#util/gvk.ts';
import { freezeDeep } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { builtInType } from '../../../../test/support/builtin-type.ts';
import { prepare } from './prepare.ts';

const boxType = schemaOfCustomResource(
  {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          size: { type: 'integer' },
          note: { type: 'string', nullable: true },
          map: { type: 'object', additionalProperties: { type: 'string' } },
          nullableMap: { type: 'object', additionalProperties: { type: 'string', nullable: true } },
          free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          ports: {
            type: 'array',
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['protocol'],
            items: {
              type: 'object',
              properties: { protocol: { type: 'string', default: 'TCP' } },
            },
          },
          embedded: {
            type: 'object',
            'x-kubernetes-embedded-resource': true,
            'x-kubernetes-preserve-unknown-fields': true,
          },
        },
      },
    },
  },
  gvkOf('example.com/v1', 'Box'),
);

function box(spec: object, metadata: object = {}): KubeObject {
  return freezeDeep({
    apiVersion: 'example.com/v1',
    kind: 'Box',
    metadata: { name: 'b', ...metadata },
    spec,
  });
}

function prepareBuiltIn(manifest: object, hasStatus = true): KubeObject {
  const object = freezeDeep({ metadata: { name: 'x' }, ...manifest } as KubeObject);
  return prepare(object, builtInType(object.apiVersion, object.kind), { hasStatus });
}

describe('reconcile/intent/prepare', () => {
  test('drops the bookkeeping of metadata', () => {
    const metadata = {
      name: 'c',
      namespace: 'n',
      labels: { a: 'b' },
      creationTimestamp: '2026-01-01T00:00:00Z',
      deletionTimestamp: '2026-01-01T00:00:00Z',
      deletionGracePeriodSeconds: 30,
      generation: 3,
      managedFields: [{}],
      resourceVersion: '7',
      selfLink: '/x',
      uid: 'u',
      generateName: 'c-',
    };
    const prepared = prepareBuiltIn({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
    assert.deepEqual(prepared.metadata, { name: 'c', namespace: 'n', labels: { a: 'b' } });
  });

  test('drops the annotation that kubectl keeps for itself', () => {
    const lastApplied = { 'kubectl.kubernetes.io/last-applied-configuration': '{}' };
    const [alone, among] = [lastApplied, { ...lastApplied, a: 'b' }].map(
      (annotations) =>
        prepareBuiltIn({
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: 'c', annotations },
        }).metadata,
    );
    assert.deepEqual(alone, { name: 'c' });
    assert.deepEqual(among, { name: 'c', annotations: { a: 'b' } });
  });

  test('drops the status, unless the kind has no subresource for it', () => {
    const manifest = { apiVersion: 'v1', kind: 'Pod', status: { phase: 'Running' } };
    assert.equal(prepareBuiltIn(manifest).status, undefined);
    assert.deepEqual(prepareBuiltIn(manifest, false).status, { phase: 'Running' });
  });

  test('drops nulls, also from maps, items and metadata', () => {
    const prepared = prepareBuiltIn({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p', labels: { a: null, b: 'x' }, annotations: null },
      spec: {
        hostname: null,
        nodeSelector: { a: null },
        containers: [{ name: 'c', env: null, args: ['a'] }],
      },
    });
    assert.deepEqual(prepared.metadata, { name: 'p', labels: { b: 'x' } });
    assert.deepEqual(prepared.spec, {
      nodeSelector: {},
      containers: [{ name: 'c', args: ['a'] }],
    });
  });

  test('keeps nulls that are values', () => {
    const spec = { note: null, nullableMap: { a: null }, free: { x: null, list: [null] } };
    assert.deepEqual(prepare(box(spec), boxType, { hasStatus: true }).spec, spec);
    assert.deepEqual(prepare(box(spec), undefined, { hasStatus: true }).spec, spec);
    const dropped = { size: null, map: { a: null } };
    assert.deepEqual(prepare(box(dropped), boxType, { hasStatus: true }).spec, { map: {} });
  });

  test('drops what is undefined, with and without a schema', () => {
    for (const type of [boxType, undefined]) {
      const prepared = prepare(box({ size: undefined, map: { a: undefined } }), type, {
        hasStatus: true,
      });
      assert.deepEqual(prepared.spec, { map: {} });
    }
  });

  test('drops empty collections of metadata, embedded metadata too', () => {
    const empty = { labels: {}, annotations: {}, finalizers: [], ownerReferences: [] };
    const nulls = { creationTimestamp: null, annotations: { a: null } };
    const embedded = {
      metadata: { name: 'i', ...empty, ...nulls },
      spec: { a: {} },
    };
    const prepared = prepare(box({ embedded }, empty), boxType, { hasStatus: true });
    assert.deepEqual(prepared.metadata, { name: 'b' });
    assert.deepEqual(prepared.spec, { embedded: { metadata: { name: 'i' }, spec: { a: {} } } });
    assert.deepEqual(prepare(box({}, empty), undefined, { hasStatus: true }).metadata, {
      name: 'b',
    });
    const template = { metadata: { labels: {}, annotations: { a: 'b' } } };
    const deployment = prepareBuiltIn({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      spec: { template },
    });
    assert.deepEqual(deployment.spec, { template: { metadata: { annotations: { a: 'b' } } } });
  });

  test('drops an empty list-map key that has a default, in built-in kinds only', () => {
    const ports = [
      { port: 80, protocol: '' },
      { port: 53, protocol: 'UDP', name: '' },
    ];
    const service = prepareBuiltIn({ apiVersion: 'v1', kind: 'Service', spec: { ports } });
    assert.deepEqual(service.spec, {
      ports: [{ port: 80 }, { port: 53, protocol: 'UDP', name: '' }],
    });
    const custom = box({ ports: [{ protocol: '' }] });
    assert.deepEqual(prepare(custom, boxType, { hasStatus: true }).spec, custom.spec);
  });

  test("folds a Secret's stringData into data, where it wins", () => {
    const secret = prepareBuiltIn({
      apiVersion: 'v1',
      kind: 'Secret',
      data: { a: 'YQ==', b: 'Yg==' },
      stringData: { b: 'grün', c: '' },
    });
    assert.deepEqual(secret.data, { a: 'YQ==', b: 'Z3LDvG4=', c: '' });
    assert.equal(secret.stringData, undefined);
  });

  test('folds texts that are longer than one call may take', () => {
    const text = 'ü'.repeat(70_000);
    const secret = prepareBuiltIn({ apiVersion: 'v1', kind: 'Secret', stringData: { text } });
    const encoded = (secret.data as { text: string }).text;
    const bytes = Uint8Array.from(atob(encoded), (char) => char.charCodeAt(0));
    assert.equal(new TextDecoder().decode(bytes), text);
  });

  test('leaves stringData that is no text to the server', () => {
    const secret = prepareBuiltIn({ apiVersion: 'v1', kind: 'Secret', stringData: { port: 80 } });
    assert.deepEqual(secret.stringData, { port: 80 });
    assert.equal(secret.data, undefined);
  });

  test('drops the rules of an aggregated ClusterRole, and no others', () => {
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', rules: [] };
    assert.deepEqual(prepareBuiltIn(role).rules, []);
    const aggregated = { ...role, aggregationRule: { clusterRoleSelectors: [] } };
    assert.ok(!('rules' in prepareBuiltIn(aggregated)));
  });

  test('keeps what is not in the schema, for the server to reject', () => {
    const prepared = prepareBuiltIn({ apiVersion: 'v1', kind: 'Pod', spec: { contaners: [{}] } });
    assert.deepEqual(prepared.spec, { contaners: [{}] });
  });

  test('shares what stays as it is, and prepares a prepared intent to itself', () => {
    const manifest = box({ free: { deep: [1, { a: 'b' }] }, map: { a: 'x' } });
    const prepared = prepare(manifest, boxType, { hasStatus: true });
    assert.equal(prepared.spec, manifest.spec);
    assert.deepEqual(prepare(prepared, boxType, { hasStatus: true }), prepared);
  });
});
