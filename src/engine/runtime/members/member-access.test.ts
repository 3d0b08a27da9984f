import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { clusterRecordOf } from './cluster-record.ts';
import { accessOf } from './member-access.ts';

const policy = { namespace: 'homeostat-system', allowed: ['homeostat-system', 'access-*'] };
const kubeconfig = JSON.stringify({
  'current-context': 'a',
  contexts: [{ name: 'a', context: { cluster: 'a' } }],
  clusters: [{ name: 'a', cluster: { server: 'https://member' } }],
});

function record(secretRef: object) {
  const object = {
    apiVersion: 'homeostat.dev/v1alpha1',
    kind: 'Cluster',
    metadata: { name: 'paris' },
    spec: { kubeconfig: { secretRef } },
  };
  return clusterRecordOf(object as unknown as KubeObject);
}

function secret(data: Readonly<Record<string, string>>): KubeObject {
  const encoded = Object.entries(data).map(([key, text]) => [
    key,
    Buffer.from(text).toString('base64'),
  ]);
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'paris', namespace: 'homeostat-system' },
    data: Object.fromEntries(encoded),
  };
}

describe('runtime/members/member-access', () => {
  for (const [key, secretRef] of [
    ['kubeconfig', { name: 'paris' }],
    ['value', { name: 'paris' }],
    ['other', { name: 'paris', key: 'other' }],
  ] as const)
    test(`reads the key "${key}" of the Secret`, () => {
      const access = accessOf(record(secretRef), policy, secret({ [key]: kubeconfig }));
      assert.ok('config' in access);
      assert.equal(access.config.server, 'https://member');
    });

  test('another connection is needed when the kubeconfig, the context or the expected UID changes', () => {
    const digestOf = (spec: object, text: string) => {
      const object = { ...record({ name: 'paris' }).object, spec } as KubeObject;
      const access = accessOf(clusterRecordOf(object), policy, secret({ kubeconfig: text }));
      return 'digest' in access ? access.digest : undefined;
    };
    const reference = { kubeconfig: { secretRef: { name: 'paris' } } };
    const first = digestOf(reference, kubeconfig);
    assert.equal(digestOf({ ...reference, paused: true }, kubeconfig), first);
    assert.notEqual(digestOf({ ...reference, uid: 'x' }, kubeconfig), first);
    assert.notEqual(digestOf(reference, `${kubeconfig}\n`), first);
  });

  for (const [title, secretRef, found, reason, message] of [
    [
      'in a namespace that is not allowed',
      { name: 'a', namespace: 'team' },
      undefined,
      'Forbidden',
      /"team" are not allowed; the runtime allows "homeostat-system,access-\*"/,
    ],
    [
      'that does not exist',
      { name: 'a', namespace: 'access-1' },
      undefined,
      'SecretMissing',
      /"a" in namespace "access-1" does not exist/,
    ],
    [
      'without the key',
      { name: 'paris', key: 'x' },
      secret({ y: '' }),
      'SecretMissing',
      /Expected the key "x"/,
    ],
    [
      'with a kubeconfig without a context',
      { name: 'paris' },
      secret({ value: '{}' }),
      'InvalidKubeconfig',
      /Expected a "current-context"/,
    ],
  ] as const)
    test(`rejects a Secret ${title}`, () => {
      const failure = accessOf(record(secretRef), policy, found);
      assert.ok('reason' in failure);
      assert.equal(failure.reason, reason);
      assert.match(failure.message, message);
    });

  test('does not quote a kubeconfig that is no YAML: it contains a token', () => {
    const broken = secret({ kubeconfig: 'token: [secret-token' });
    const failure = accessOf(record({ name: 'paris' }), policy, broken);
    assert.deepEqual(failure, {
      reason: 'InvalidKubeconfig',
      message: 'The kubeconfig is no valid YAML',
    });
  });
});
