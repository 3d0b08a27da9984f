import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type SchemaType, schemaOfCustomResource } from '#compile';
import { gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { builtInType } from '../../../../test/support/builtin-type.ts';
import { covers, differences } from './compare.ts';

const text = { type: 'string' };
const boxType = schemaOfCustomResource(
  {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          size: { type: 'integer', default: 1 },
          note: { type: 'string', nullable: true },
          notes: { type: 'array', items: { type: 'string', nullable: true } },
          plain: { type: 'array', items: text },
          plainDefault: { type: 'array', items: text, default: ['x'] },
          labels: { type: 'object', additionalProperties: text },
          nullables: { type: 'object', additionalProperties: { ...text, nullable: true } },
          resources: {
            type: 'object',
            additionalProperties: { 'x-kubernetes-int-or-string': true },
          },
          set: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
          atomicMap: {
            type: 'object',
            additionalProperties: text,
            'x-kubernetes-map-type': 'atomic',
          },
          atomicStruct: {
            type: 'object',
            'x-kubernetes-map-type': 'atomic',
            properties: {
              kind: { ...text, default: 'Thing' },
              name: text,
              list: { type: 'array', items: text },
            },
          },
          rules: {
            type: 'array',
            items: {
              type: 'object',
              properties: {
                name: text,
                constructor: text,
                nested: {
                  type: 'object',
                  default: {},
                  properties: { a: { ...text, default: 'aa' } },
                },
              },
            },
          },
          free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
      },
    },
  },
  gvkOf('example.com/v1', 'Box'),
);

interface Row {
  /** Completes "is the same" or "differs": what the two are. */
  readonly what: string;
  readonly want: object;
  readonly have: object;
}

function objectOf(apiVersion: string, kind: string, fields: object): KubeObject {
  return { apiVersion, kind, metadata: { name: 'x' }, ...fields };
}

/** One test per row; `fields` are those of the whole object. */
function table(type: SchemaType, isSame: boolean, rows: readonly Row[]): void {
  for (const { what, want, have } of rows) {
    test(`${isSame ? 'same' : 'different'}: ${what}`, () => {
      const [intent, live] = [want, have].map((fields) => objectOf('v1', 'Any', fields));
      assert.ok(intent && live);
      assert.equal(covers(intent, live, type), isSame);
      assert.equal(differences(intent, live, type).length === 0, isSame);
    });
  }
}

/** A Pod's spec with one container. */
function pod(container: object, spec: object = {}): object {
  return { spec: { ...spec, containers: [{ name: 'c', ...container }] } };
}

describe('reconcile/intent/covers', () => {
  describe('built-in kinds', () => {
    const podType = builtInType('v1', 'Pod');
    table(podType, true, [
      { what: 'fields of others', want: pod({}), have: pod({ image: 'i' }, { nodeName: 'n' }) },
      {
        what: 'items of others between ours',
        want: { spec: { containers: [{ name: 'a' }, { name: 'b' }] } },
        have: {
          spec: { containers: [{ name: 'x' }, { name: 'a' }, { name: 'y' }, { name: 'b' }] },
        },
      },
      { what: 'an empty list and nothing', want: pod({ env: [] }), have: pod({}) },
      {
        what: 'an empty map and null',
        want: pod({}, { nodeSelector: {} }),
        have: pod({}, { nodeSelector: null }),
      },
      {
        what: 'a zero that Go does not write, and nothing',
        want: pod({ stdin: false, workingDir: '' }),
        have: pod({}),
      },
      {
        what: 'a zero that means the default',
        want: pod({ readinessProbe: { timeoutSeconds: 0, httpGet: { path: '', port: 1 } } }),
        have: pod({ readinessProbe: { timeoutSeconds: 1, httpGet: { path: '/', port: 1 } } }),
      },
      {
        what: 'a zero where the server picks',
        want: pod({ imagePullPolicy: '' }),
        have: pod({ imagePullPolicy: 'IfNotPresent' }),
      },
      {
        what: 'a list-map key that takes its default',
        want: pod({ ports: [{ containerPort: 80 }] }),
        have: pod({ ports: [{ containerPort: 80, protocol: 'TCP' }] }),
      },
      {
        what: 'quantities in other spellings',
        want: pod({ resources: { limits: { cpu: 0.5, memory: '1024Mi' } } }),
        have: pod({ resources: { limits: { cpu: '500m', memory: '1Gi' } } }),
      },
      {
        what: 'defaults inside an atomic value',
        want: pod({ env: [{ name: 'a', valueFrom: { fieldRef: { fieldPath: 'x' } } }] }),
        have: pod({
          env: [{ name: 'a', valueFrom: { fieldRef: { fieldPath: 'x', apiVersion: 'v1' } } }],
        }),
      },
      {
        what: 'what is empty or null inside an atomic value',
        want: pod(
          {},
          {
            topologySpreadConstraints: [
              {
                topologyKey: 'k',
                whenUnsatisfiable: 'w',
                labelSelector: { matchLabels: { a: 'b' } },
              },
            ],
          },
        ),
        have: pod(
          {},
          {
            topologySpreadConstraints: [
              {
                topologyKey: 'k',
                whenUnsatisfiable: 'w',
                labelSelector: { matchLabels: { a: 'b' }, matchExpressions: [] },
              },
            ],
          },
        ),
      },
      {
        what: 'tolerations that admission appends',
        want: pod({}, { tolerations: [{ key: 'a', operator: 'Exists' }] }),
        have: pod(
          {},
          {
            tolerations: [
              { key: 'a', operator: 'Exists' },
              {
                key: 'node.kubernetes.io/not-ready',
                operator: 'Exists',
                effect: 'NoExecute',
                tolerationSeconds: 300,
              },
              {
                key: 'node.kubernetes.io/unreachable',
                operator: 'Exists',
                effect: 'NoExecute',
                tolerationSeconds: 300,
              },
            ],
          },
        ),
      },
    ]);
    table(podType, false, [
      { what: 'another value', want: pod({ image: 'i' }), have: pod({ image: 'j' }) },
      { what: 'a value of another type', want: pod({ image: 'i' }), have: pod({ image: ['i'] }) },
      { what: 'a missing value', want: pod({ image: 'i' }), have: pod({}) },
      {
        what: 'a missing item',
        want: { spec: { containers: [{ name: 'a' }, { name: 'b' }] } },
        have: { spec: { containers: [{ name: 'a' }] } },
      },
      {
        what: 'items of ours in another order',
        want: { spec: { containers: [{ name: 'a' }, { name: 'b' }] } },
        have: { spec: { containers: [{ name: 'b' }, { name: 'a' }] } },
      },
      {
        what: 'an empty struct and nothing',
        want: pod({}, { securityContext: {} }),
        have: pod({}),
      },
      {
        what: 'a zero of a pointer and nothing',
        want: pod({}, { automountServiceAccountToken: false }),
        have: pod({}),
      },
      {
        what: 'a zero of a pointer and a value',
        want: pod({}, { terminationGracePeriodSeconds: 0 }),
        have: pod({}, { terminationGracePeriodSeconds: 30 }),
      },
      {
        what: 'a zero and what is no default',
        want: pod({ stdin: false }),
        have: pod({ stdin: true }),
      },
      {
        what: 'a further item of an atomic list',
        want: pod({ args: ['a'] }),
        have: pod({ args: ['a', 'b'] }),
      },
      {
        what: 'a further toleration',
        want: pod({}, { tolerations: [{ key: 'a' }] }),
        have: pod({}, { tolerations: [{ key: 'a' }, { key: 'b' }] }),
      },
      {
        what: 'a further key of an atomic value',
        want: pod({}, { nodeSelector: { a: 'b' } }),
        have: pod({}, { nodeSelector: { a: 'b', c: 'd' } }),
      },
      {
        what: 'a further key that every object inherits',
        want: pod({}, { nodeSelector: { a: 'b' } }),
        have: pod({}, { nodeSelector: { a: 'b', constructor: 'd' } }),
      },
      {
        what: 'what is no default inside an atomic value',
        want: pod({ env: [{ name: 'a', valueFrom: { fieldRef: { fieldPath: 'x' } } }] }),
        have: pod({
          env: [{ name: 'a', valueFrom: { fieldRef: { fieldPath: 'x', apiVersion: 'v2' } } }],
        }),
      },
      {
        what: 'a field that the schema does not have',
        want: pod({ imgae: 'i' }),
        have: pod({ image: 'i' }),
      },
      {
        what: 'another quantity',
        want: pod({ resources: { limits: { cpu: 1 } } }),
        have: pod({ resources: { limits: { cpu: '1001m' } } }),
      },
    ]);

    test('a set needs our items, in any order', () => {
      const type = builtInType('v1', 'ConfigMap');
      const withFinalizers = (...finalizers: string[]) =>
        ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c', finalizers } }) as const;
      assert.ok(covers(withFinalizers('b', 'a'), withFinalizers('x', 'a', 'b'), type));
      assert.ok(!covers(withFinalizers('b', 'a'), withFinalizers('x', 'a'), type));
    });

    test('granular by the referring field, atomic by its own type', () => {
      const claim = { name: 'c', namespace: 'n' };
      const bound = { ...claim, uid: 'u', kind: 'PersistentVolumeClaim' };
      const volume = builtInType('v1', 'PersistentVolume');
      const event = builtInType('v1', 'Event');
      const of = (fields: object) => objectOf('v1', 'Any', fields);
      assert.ok(
        covers(of({ spec: { claimRef: claim } }), of({ spec: { claimRef: bound } }), volume),
      );
      assert.ok(!covers(of({ involvedObject: claim }), of({ involvedObject: bound }), event));
    });
  });

  describe('schemas in CRDs', () => {
    const crd = builtInType('apiextensions.k8s.io/v1', 'CustomResourceDefinition');
    const of = (openAPIV3Schema: object) => ({
      spec: { versions: [{ name: 'v1', schema: { openAPIV3Schema } }] },
    });
    table(crd, true, [
      {
        what: 'a schema, a list and a plain value',
        want: of({ items: { type: 'string' }, additionalProperties: false }),
        have: of({ items: { type: 'string' }, additionalProperties: false }),
      },
      {
        what: 'an empty description',
        want: of({ type: 'object', description: '' }),
        have: of({ type: 'object' }),
      },
    ]);
    table(crd, false, [
      {
        what: 'another schema of items',
        want: of({ items: { type: 'string' } }),
        have: of({ items: { type: 'number' } }),
      },
      {
        what: 'a default of another value',
        want: of({ default: { a: 1 } }),
        have: of({ default: { a: 2 } }),
      },
      {
        what: 'a bool for a schema',
        want: of({ additionalProperties: true }),
        have: of({ additionalProperties: false }),
      },
    ]);
  });

  describe('custom kinds', () => {
    const spec = (want: object, have: object) => ({ want: { spec: want }, have: { spec: have } });
    table(boxType, true, [
      { what: 'a default of others', ...spec({}, { size: 1, labels: { a: 'b' } }) },
      { what: 'null where it is a value', ...spec({ note: null }, { note: null }) },
      {
        what: 'null among the values of a map',
        ...spec({ nullables: { a: null } }, { nullables: { a: null, b: 'x' } }),
      },
      {
        what: 'a default inside an atomic struct',
        ...spec({ atomicStruct: { name: 'n' } }, { atomicStruct: { name: 'n', kind: 'Thing' } }),
      },
      {
        what: 'nested defaults inside an atomic list',
        ...spec({ rules: [{ name: 'n' }] }, { rules: [{ name: 'n', nested: { a: 'aa' } }] }),
      },
      { what: 'more in what has no schema', ...spec({ free: { a: 1 } }, { free: { a: 1, b: 2 } }) },
      { what: 'sets in another order', ...spec({ set: ['a', 'b'] }, { set: ['b', 'x', 'a'] }) },
    ]);
    table(boxType, false, [
      { what: 'an empty list and nothing', ...spec({ plain: [] }, {}) },
      {
        what: 'an empty list and its default',
        ...spec({ plainDefault: [] }, { plainDefault: ['x'] }),
      },
      { what: 'an empty map and nothing', ...spec({ labels: {} }, {}) },
      { what: 'a zero and the default', ...spec({ size: 0 }, { size: 1 }) },
      {
        what: 'quantities in other spellings',
        ...spec({ resources: { cpu: '1000m' } }, { resources: { cpu: '1' } }),
      },
      { what: 'null and a value', ...spec({ note: null }, { note: 'x' }) },
      { what: 'null and nothing', ...spec({ note: null }, {}) },
      { what: 'null and a value in a list', ...spec({ notes: [null] }, { notes: ['x'] }) },
      {
        what: 'null and a value in a map',
        ...spec({ nullables: { a: null } }, { nullables: { a: 'x' } }),
      },
      {
        what: 'a further key of an atomic map',
        ...spec({ atomicMap: { a: 'x' } }, { atomicMap: { a: 'x', b: 'y' } }),
      },
      {
        what: 'a further field of an atomic struct',
        ...spec({ atomicStruct: { kind: 'K' } }, { atomicStruct: { kind: 'K', name: 'n' } }),
      },
      {
        what: 'a further empty list in an atomic struct',
        ...spec({ atomicStruct: { kind: 'K' } }, { atomicStruct: { kind: 'K', list: [] } }),
      },
      {
        what: 'a nested field that is no default',
        ...spec({ rules: [{ name: 'n' }] }, { rules: [{ name: 'n', nested: { a: 'b' } }] }),
      },
      {
        what: 'a field that is named like an inherited one',
        ...spec({ rules: [{ name: 'n' }] }, { rules: [{ name: 'n', constructor: 'c' }] }),
      },
      {
        what: 'another order in what has no schema',
        ...spec({ free: { a: [1, 2] } }, { free: { a: [2, 1] } }),
      },
      {
        what: 'null and nothing in what has no schema',
        ...spec({ free: { a: null } }, { free: {} }),
      },
      { what: 'a list and a scalar', ...spec({ plain: ['a'] }, { plain: 'a' }) },
      { what: 'a map and a list', ...spec({ labels: { a: 'b' } }, { labels: [] }) },
    ]);
  });

  test('without a schema everything is compared as written', () => {
    const of = (fields: object) => objectOf('x/v1', 'Any', fields);
    assert.ok(covers(of({ a: { b: [1] } }), of({ a: { b: [1], c: 2 } }), undefined));
    assert.ok(!covers(of({ a: [] }), of({}), undefined));
    assert.ok(!covers(of({ a: [{ b: 1 }] }), of({ a: [{ b: 1, c: 2 }] }), undefined));
  });
});
