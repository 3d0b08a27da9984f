import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { appliedAnnotation } from '#util/stored-names.ts';
import { builtInType } from '../../../../test/support/builtin-type.ts';
import { withPathHash } from './marks.ts';
import { pathHash } from './path-hash.ts';

const podType = builtInType('v1', 'Pod');

function pod(spec: object, metadata: object = {}): KubeObject {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', ...metadata }, spec };
}

function hashOf(spec: object, metadata: object = {}): string {
  return pathHash(pod(spec, metadata), podType);
}

describe('reconcile/intent/path-hash', () => {
  const container = { name: 'a', image: 'i', ports: [{ containerPort: 80 }], args: ['x', 'y'] };

  test('is 16 hex digits, and stays the same in later versions', () => {
    // Another value here makes every child of every cluster one idle apply.
    assert.equal(hashOf({ containers: [container] }), '2bd274f234796ef4');
    assert.match(hashOf({}), /^[0-9a-f]{16}$/);
  });

  for (const [what, one, other] of [
    ['values', { hostname: 'a', priority: 1 }, { hostname: 'b', priority: 2 }],
    ['the order of fields', { hostname: 'a', priority: 1 }, { priority: 1, hostname: 'a' }],
    [
      'the order of items with keys',
      { containers: [{ name: 'a' }, { name: 'b' }] },
      { containers: [{ name: 'b' }, { name: 'a' }] },
    ],
    [
      'values in atomic lists',
      { containers: [{ name: 'a', args: ['x'] }] },
      { containers: [{ name: 'a', args: ['y'] }] },
    ],
    ['a scalar instead of null', { nodeSelector: { a: 'x' } }, { nodeSelector: { a: null } }],
  ] as const) {
    test(`does not depend on ${what}`, () => {
      assert.equal(hashOf(one), hashOf(other));
    });
  }

  for (const [what, one, other] of [
    ['a field that is there', { hostname: 'a', priority: 1 }, { hostname: 'a' }],
    ['a key of a map', { nodeSelector: { a: 'x' } }, { nodeSelector: { b: 'x' } }],
    ['whether a collection is empty', { nodeSelector: {} }, { nodeSelector: { a: 'x' } }],
    ['an empty collection being there', { nodeSelector: {} }, {}],
    ['where a field is', { nodeSelector: { a: 'x' } }, { overhead: { a: 'x' } }],
    ['where one name ends', { nodeSelector: { ab: 'x' } }, { nodeSelector: { a: { b: 'x' } } }],
    [
      'the length of an atomic list',
      { containers: [{ name: 'a', args: ['x', 'y'] }] },
      { containers: [{ name: 'a', args: ['x'] }] },
    ],
    ['the keys of an item', { containers: [{ name: 'a' }] }, { containers: [{ name: 'b' }] }],
    [
      'a field inside an atomic list',
      { tolerations: [{ key: 'k', effect: 'NoExecute' }] },
      { tolerations: [{ key: 'k' }] },
    ],
    [
      'which of two items has a field',
      { containers: [{ name: 'a', image: 'i' }, { name: 'b' }] },
      { containers: [{ name: 'a' }, { name: 'b', image: 'i' }] },
    ],
  ] as const) {
    test(`depends on ${what}`, () => {
      assert.notEqual(hashOf(one), hashOf(other));
    });
  }

  test('depends on the items of a set', () => {
    assert.notEqual(hashOf({}, { finalizers: ['a'] }), hashOf({}, { finalizers: ['b'] }));
    assert.equal(hashOf({}, { finalizers: ['a', 'b'] }), hashOf({}, { finalizers: ['b', 'a'] }));
  });

  test('knows nothing of what is in a Secret', () => {
    const type = builtInType('v1', 'Secret');
    const secret = (data: object) =>
      pathHash({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, data }, type);
    assert.equal(secret({ password: 'YQ==' }), secret({ password: 'Yg==' }));
    assert.notEqual(secret({ password: 'YQ==' }), secret({ user: 'YQ==' }));
  });

  test('leaves its own annotation out', () => {
    for (const metadata of [{}, { annotations: { a: 'b' } }]) {
      const intent = pod({ hostname: 'a' }, metadata);
      const hash = pathHash(intent, podType);
      const sent = withPathHash(intent, hash);
      assert.equal(sent.metadata.annotations?.[appliedAnnotation], hash);
      assert.equal(pathHash(sent, podType), hash);
    }
  });

  test('works without a schema', () => {
    assert.notEqual(pathHash(pod({ a: [1, 2] }), undefined), pathHash(pod({ a: [1] }), undefined));
  });

  test('distinguishes ten thousand shapes', () => {
    const hashes = new Set<string>();
    for (let a = 0; a < 100; a++) {
      for (let b = 0; b < 100; b++)
        hashes.add(hashOf({ nodeSelector: { [`a${a}`]: 'x', [`b${b}`]: 'y' } }));
    }
    assert.equal(hashes.size, 10_000);
  });
});
