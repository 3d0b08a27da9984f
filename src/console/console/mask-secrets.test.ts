import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { maskSecrets, withoutManagedFields } from './mask-secrets.ts';

const annotations = {
  'kubectl.kubernetes.io/last-applied-configuration': '{"data":{"a":"c2VjcmV0"}}',
};
const secret = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'a', annotations },
  data: { password: 'c2VjcmV0' },
  stringData: { token: 'secret' },
};

describe('console/mask-secrets', () => {
  test('only the sizes of the values of a Secret are left, and no copy of them', () => {
    const text = JSON.stringify(maskSecrets(secret));
    assert.doesNotMatch(text, /c2VjcmV0|"secret"/);
    assert.match(text, /"password":"\(masked, 8 characters\)"/);
  });

  test('items of a list have no kind and are masked too', () => {
    const { apiVersion: _, kind: __, ...item } = secret;
    const list = { apiVersion: 'v1', kind: 'SecretList', items: [item] };
    assert.doesNotMatch(JSON.stringify(maskSecrets(list)), /c2VjcmV0|"secret"/);
  });

  test('objects of other kinds stay as they are', () => {
    for (const body of [
      { ...secret, kind: 'ConfigMap' },
      { ...secret, apiVersion: 'x/v1' },
      null,
      'text',
    ])
      assert.equal(maskSecrets(body), body);
  });

  test('owners of fields are left out, of objects and of lists', () => {
    const object = { metadata: { name: 'a', managedFields: [{}] }, spec: {} };
    const shown = { metadata: { name: 'a' }, spec: {} };
    assert.deepEqual(withoutManagedFields(object), shown);
    assert.deepEqual(withoutManagedFields({ items: [object] }), { items: [shown] });
  });
});
