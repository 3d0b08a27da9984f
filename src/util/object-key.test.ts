import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { keyOf, parseKey } from './kube-object.ts';

describe('util/object-key', () => {
  for (const [namespace, name, key] of [
    ['default', 'web', 'default/web'],
    ['', 'node-1', '/node-1'],
    ['default', 'system:a/b', 'default/system:a/b'],
  ] as const) {
    test(`"${key}" is the key of "${name}" in "${namespace}", and the reverse`, () => {
      assert.equal(keyOf(namespace, name), key);
      assert.deepEqual(parseKey(key), { namespace, name });
    });
  }

  test('no namespace is the empty one', () => assert.equal(keyOf(undefined, 'a'), '/a'));
});
