import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#util/json.ts';
import { configOfKubeconfig } from './inline-kubeconfig.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');

function kubeconfig(user: JsonObject, cluster: JsonObject = {}): JsonObject {
  return {
    'current-context': 'main',
    contexts: [
      { name: 'main', context: { cluster: 'c', user: 'u', namespace: 'team-a' } },
      { name: 'other', context: { cluster: 'c' } },
    ],
    clusters: [{ name: 'c', cluster: { server: 'https://member:6443', ...cluster } }],
    users: [{ name: 'u', user }],
  };
}

describe('kube/config/inline-kubeconfig', () => {
  test('reads the current context with everything that may be inline', async () => {
    const config = configOfKubeconfig(
      kubeconfig(
        {
          token: ' abc\n',
          as: 'jane',
          'client-certificate-data': base64('CERT'),
          'client-key-data': base64('KEY'),
        },
        {
          'certificate-authority-data': base64('CA'),
          'tls-server-name': 'api.example.com',
          'proxy-url': 'http://proxy:3128',
          'insecure-skip-tls-verify': true,
        },
      ),
    );
    const { credentials, ...rest } = config;
    assert.deepEqual(rest, {
      server: 'https://member:6443',
      namespace: 'team-a',
      skipsTlsVerify: true,
      tlsServerName: 'api.example.com',
      proxyUrl: 'http://proxy:3128',
    });
    assert.deepEqual(await credentials.load({ wasRejected: false }), {
      headers: { authorization: 'Bearer abc', 'impersonate-user': 'jane' },
      ca: 'CA',
      cert: 'CERT',
      key: 'KEY',
    });
  });

  test('reads another context, which may be anonymous', async () => {
    const { credentials, namespace } = configOfKubeconfig(kubeconfig({ token: 'x' }), 'other');
    assert.equal(namespace, 'default');
    assert.deepEqual(await credentials.load({ wasRejected: false }), { headers: {} });
  });

  test('sends a user name and password, and nothing without encryption', async () => {
    const user = { username: 'a', password: 'b' };
    const secure = configOfKubeconfig(kubeconfig(user));
    assert.deepEqual((await secure.credentials.load({ wasRejected: false })).headers, {
      authorization: `Basic ${base64('a:b')}`,
    });
    const plain = configOfKubeconfig(kubeconfig(user, { server: 'http://member' }));
    assert.deepEqual((await plain.credentials.load({ wasRejected: false })).headers, {});
  });

  for (const field of [
    'exec',
    'auth-provider',
    'tokenFile',
    'token-file',
    'client-certificate',
    'client-key',
    'as-groups',
  ])
    test(`rejects "${field}", with what to do instead`, () => {
      assert.throws(
        () => configOfKubeconfig(kubeconfig({ [field]: { command: 'sh' } })),
        (error: Error) => error.message.includes(`"${field}"`) && error.message.includes('Use a'),
      );
    });

  test('rejects a certificate authority in a file', () => {
    assert.throws(
      () => configOfKubeconfig(kubeconfig({}, { 'certificate-authority': '/etc/ca.crt' })),
      /may not have "certificate-authority", which reads a file\. Write it inline as/,
    );
  });

  for (const [title, document, message] of [
    ['no map', 'text', /found no map/],
    ['no context', { contexts: [] }, /Expected a "current-context"/],
    ['an unknown context', { 'current-context': 'x' }, /Expected a context "x"/],
    ['an unknown cluster', { ...kubeconfig({}), clusters: [] }, /Expected a cluster "c"/],
    ['an unknown user', { ...kubeconfig({}), users: [] }, /Expected a user "u"/],
    ['no URL', kubeconfig({}, { server: 'member' }), /Expected an https:\/\/ URL.*"member"/],
    ['a SOCKS proxy', kubeconfig({}, { 'proxy-url': 'socks5://x' }), /"proxy-url"/],
  ] as const)
    test(`rejects a kubeconfig with ${title}`, () => {
      assert.throws(() => configOfKubeconfig(document), message);
    });
});
