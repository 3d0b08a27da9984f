import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fieldName } from '#util/field-path.ts';
import { fieldsOf } from './difference.ts';

describe('reconcile/intent/difference names', () => {
  for (const [path, name] of [
    [['spec', 'replicas'], 'spec.replicas'],
    [['metadata', 'labels', 'app.kubernetes.io/name'], 'metadata.labels["app.kubernetes.io/name"]'],
    [
      ['spec', 'containers', { keys: { name: 'web' } }, 'image'],
      'spec.containers[name="web"].image',
    ],
    [
      ['spec', 'ports', { keys: { port: 53, protocol: 'UDP' } }],
      'spec.ports[port=53,protocol="UDP"]',
    ],
    [['spec', 'args', 0], 'spec.args[0]'],
    [['metadata', 'finalizers', { item: 'a/b' }], 'metadata.finalizers["a/b"]'],
  ] as const) {
    test(`writes ${name}`, () => {
      assert.equal(fieldName(path), name);
    });
  }

  test('names each field once, without values', () => {
    const found = [
      { path: ['data', 'password'], want: 'secret', have: 'other' },
      { path: ['data', 'password'], want: 'secret', have: undefined },
    ];
    assert.deepEqual(fieldsOf(found), ['data.password']);
  });
});
