import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gvkOf } from '#util/gvk.ts';
import { KubeError } from '../kube-error.ts';
import { createObjectDecoder } from './object-decoder.ts';

const gvk = gvkOf('apps/v1', 'Deployment');

function decoded(metadata: Record<string, unknown> = {}) {
  return {
    metadata: { name: 'web', namespace: 'shop', uid: 'u1', resourceVersion: '7', ...metadata },
    spec: { replicas: 1 },
  };
}

describe('kube/cache object-decoder', () => {
  test('of a server that is not trusted, an object has the name, namespace, uid and version of an API server', () => {
    const decode = createObjectDecoder({ isForeign: true });
    const valid = { uid: '7c6f1a2b-0000-4000-8000-000000000001' };
    assert.equal(decode(decoded({ ...valid, name: 'system:node' }), gvk).object.kind, 'Deployment');
    for (const wrong of [
      { name: 'a/../b' },
      { name: '..' },
      { name: 'a\u001b[2J' },
      { name: 'a'.repeat(254) },
      { namespace: 'Shop,x' },
      { namespace: 7 },
      { uid: 'u1' },
      { uid: 'a'.repeat(900_000) },
      { resourceVersion: '7\n' },
      { resourceVersion: '7'.repeat(65) },
    ])
      assert.throws(
        () => decode(decoded({ ...valid, ...wrong }), gvk),
        (error) => error instanceof KubeError && error.code === 'unexpected',
        JSON.stringify(wrong).slice(0, 80),
      );
  });

  test('gives the entries of a list their kind', () => {
    const { object } = createObjectDecoder()(decoded(), gvk);
    assert.equal(object.kind, 'Deployment');
    assert.equal(object.apiVersion, 'apps/v1');
  });

  test('keeps the kind that an object says', () => {
    const { object } = createObjectDecoder()(
      { ...decoded(), kind: 'Other', apiVersion: 'v2' },
      gvk,
    );
    assert.deepEqual([object.kind, object.apiVersion], ['Other', 'v2']);
  });

  test('notes our managers with an Apply entry on the main resource and drops the managedFields', () => {
    const managedFields = [
      { manager: 'homeostat/web', operation: 'Apply', fieldsV1: {} },
      { manager: 'homeostat/web.status', operation: 'Apply', subresource: 'status' },
      { manager: 'homeostat/old', operation: 'Update' },
      { manager: 'kubectl', operation: 'Apply' },
      { manager: 'homeostat/also', operation: 'Apply' },
    ];
    const stored = createObjectDecoder()(decoded({ managedFields }), gvk);
    assert.deepEqual(stored.appliedBy, ['homeostat/also', 'homeostat/web']);
    assert.equal('managedFields' in stored.object.metadata, false);
  });

  for (const [what, annotations, left] of [
    ['alone', {}, {}],
    ['among others', { a: 'b' }, { a: 'b' }],
  ] as const) {
    test(`drops the last-applied annotation ${what}`, () => {
      const all = { ...annotations, 'kubectl.kubernetes.io/last-applied-configuration': '{}' };
      const { object } = createObjectDecoder()(decoded({ annotations: all }), gvk);
      assert.deepEqual(object.metadata.annotations, left);
    });
  }

  test('holds equal manager lists once', () => {
    const decode = createObjectDecoder();
    const managedFields = [{ manager: 'homeostat/web', operation: 'Apply' }];
    const first = decode(decoded({ managedFields }), gvk);
    assert.equal(decode(decoded({ managedFields }), gvk).appliedBy, first.appliedBy);
  });

  test('holds no more than so many manager lists: anyone may apply under such names', () => {
    const decode = createObjectDecoder();
    const by = (manager: string) =>
      decode(decoded({ managedFields: [{ manager, operation: 'Apply' }] }), gvk).appliedBy;
    const first = by('homeostat/0');
    for (let other = 1; other <= 10_000; other++) by(`homeostat/${other}`);
    const again = by('homeostat/0');
    assert.deepEqual(again, first);
    assert.notEqual(again, first);
  });

  test('does not copy the content', () => {
    const content = decoded();
    assert.equal(createObjectDecoder()(content, gvk).object.spec, content.spec);
  });

  test('freezes objects where a test asks for it', () => {
    const { object } = createObjectDecoder({ freeze: true })(decoded(), gvk);
    assert.throws(
      () => Reflect.apply(Object.assign, null, [object.spec, { replicas: 2 }]),
      TypeError,
    );
  });

  for (const [what, value] of [
    ['a text', 'x'],
    ['no metadata', {}],
    ['no name', { metadata: { uid: 'u', resourceVersion: '1' } }],
    ['no version', { metadata: { uid: 'u', name: 'a' } }],
    ['no uid', { metadata: { name: 'u', resourceVersion: '1' } }],
  ] as const) {
    test(`rejects ${what}`, () => {
      assert.throws(() => createObjectDecoder()(value, gvk), KubeError);
    });
  }
});
