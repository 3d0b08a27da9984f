import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { kubeconfigYaml } from '../../../../test/support/kubeconfig-yaml.ts';
import { loadKubeconfigFiles } from './kubeconfig-credentials.ts';
import { type LoadKubeConfigOptions, loadKubeConfig as loadWith } from './load-kube-config.ts';

const loadKubeConfig = (options: Omit<LoadKubeConfigOptions, 'parseYaml'>) =>
  loadWith({ ...kubeconfigYaml, ...options });

const read = { wasRejected: false };
const rejected = { wasRejected: true };

describe('kube/load-kube-config', () => {
  let folder = '';

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'homeostat-kubeconfig-'));
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  function write(name: string, content: unknown): string {
    const path = join(folder, name);
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  }

  /** A kubeconfig with one context of everything. */
  function kubeconfig(
    parts: {
      readonly cluster?: object;
      readonly user?: object | null;
      readonly context?: object;
    } = {},
  ): Record<string, unknown> {
    const { cluster, user = {}, context } = parts;
    return {
      'current-context': 'here',
      clusters: [{ name: 'c', cluster: { server: 'https://10.0.0.1:6443', ...cluster } }],
      users: user === null ? [] : [{ name: 'u', user }],
      contexts: [
        {
          name: 'here',
          context: { cluster: 'c', ...(user === null ? {} : { user: 'u' }), ...context },
        },
      ],
    };
  }

  async function load(parts: Parameters<typeof kubeconfig>[0] = {}) {
    return loadKubeConfig({ kubeconfig: write('config', kubeconfig(parts)) });
  }

  test('reads YAML', async () => {
    const path = write(
      'config',
      [
        'current-context: here',
        'clusters: [{ name: c, cluster: { server: "https://api.test/prefix/" } }]',
        'contexts: [{ name: here, context: { cluster: c, namespace: mine } }]',
      ].join('\n'),
    );
    const config = await loadKubeConfig({ kubeconfig: path });
    assert.deepEqual([config.server, config.namespace], ['https://api.test/prefix', 'mine']);
  });

  test('takes the context that is asked for', async () => {
    const config = kubeconfig();
    const other = { name: 'there', context: { cluster: 'c', namespace: 'other' } };
    config.contexts = [...(config.contexts as object[]), other];
    const path = write('config', config);
    assert.equal((await loadKubeConfig({ kubeconfig: path })).namespace, 'default');
    assert.equal((await loadKubeConfig({ kubeconfig: path, context: 'there' })).namespace, 'other');
  });

  test('merges files: the first to name a thing wins, a missing one is skipped', async () => {
    const first = write('first', {
      contexts: [{ name: 'here', context: { cluster: 'c', namespace: 'first' } }],
    });
    const second = write('second', kubeconfig({ context: { namespace: 'second' } }));
    const paths = [join(folder, 'nothing'), first, second];
    const config = await loadKubeConfig({ kubeconfig: paths });
    assert.deepEqual([config.namespace, config.server], ['first', 'https://10.0.0.1:6443']);
  });

  test('honours what a cluster says of TLS and proxies', async () => {
    const config = await load({
      cluster: {
        'insecure-skip-tls-verify': true,
        'tls-server-name': 'api.test',
        'proxy-url': 'http://proxy.test:3128',
      },
    });
    assert.deepEqual(
      [config.skipsTlsVerify, config.tlsServerName, config.proxyUrl],
      [true, 'api.test', 'http://proxy.test:3128'],
    );
  });

  for (const [what, parts, code] of [
    ['a SOCKS proxy', { cluster: { 'proxy-url': 'socks5://proxy.test' } }, 'unsupported'],
    ['a server that is no URL', { cluster: { server: 'here' } }, 'invalid'],
    ['an unknown auth-provider', { user: { 'auth-provider': { name: 'magic' } } }, 'unsupported'],
    ['impersonated groups', { user: { as: 'jane', 'as-groups': ['a'] } }, 'unsupported'],
    ['a context without its cluster', { context: { cluster: 'nowhere' } }, 'not-found'],
    ['a context without its user', { context: { user: 'nobody' } }, 'not-found'],
  ] as const) {
    test(`rejects ${what}`, async () => {
      await assert.rejects(load(parts), { name: 'KubeConfigError', code });
    });
  }

  for (const [what, options, code] of [
    ['no file at all', { kubeconfig: '/nowhere/config' }, 'not-found'],
    ['neither a kubeconfig nor a Pod', {}, 'not-found'],
  ] as const) {
    test(`rejects ${what}`, async () => {
      await assert.rejects(loadKubeConfig(options), { name: 'KubeConfigError', code });
    });
  }

  test('rejects a file that is no kubeconfig, a missing context, no context', async () => {
    for (const [content, code] of [
      ['{', 'invalid'],
      ['clusters: [{}]', 'invalid'],
      ['{}', 'invalid'],
      ['current-context: x', 'not-found'],
    ] as const) {
      const path = write('config', content);
      await assert.rejects(loadKubeConfig({ kubeconfig: path }), { name: 'KubeConfigError', code });
    }
  });

  test('a context that does not exist is reported with those that do, at most ten of them', async () => {
    const path = write('config', {
      contexts: Array.from({ length: 12 }, (_, at) => ({
        name: `dev-${at}`,
        context: { cluster: 'c', user: 'u' },
      })),
    });
    await assert.rejects(loadKubeConfig({ kubeconfig: path, context: 'nope' }), {
      message: /^Expected a context "nope", found "dev-0", .*, "dev-9" and 2 more$/,
    });
    const none = write('none', {});
    await assert.rejects(loadKubeConfig({ kubeconfig: none, context: 'nope' }), {
      message: 'Expected a context "nope", found none',
    });
  });

  describe('credentials', () => {
    test('a token, the authority, a certificate with its key', async () => {
      const base64 = (text: string) => Buffer.from(text).toString('base64');
      write('client.key', 'KEY');
      const { credentials } = await load({
        cluster: { 'certificate-authority-data': base64('CA') },
        user: {
          token: 'secret',
          'client-certificate-data': base64('CERT'),
          'client-key': 'client.key',
        },
      });
      assert.deepEqual(await credentials.load(read), {
        headers: { authorization: 'Bearer secret' },
        ca: 'CA',
        cert: 'CERT',
        key: 'KEY',
      });
    });

    test('a name and a password, and another user to be', async () => {
      const { credentials } = await load({
        user: { username: 'jane', password: 'pass', as: 'joe' },
      });
      assert.deepEqual(await credentials.load(read), {
        headers: { authorization: 'Basic amFuZTpwYXNz', 'impersonate-user': 'joe' },
      });
    });

    test('without a user the server is still checked', async () => {
      write('ca.crt', 'CA');
      const { credentials } = await load({
        cluster: { 'certificate-authority': 'ca.crt' },
        user: null,
      });
      assert.deepEqual(await credentials.load(read), { headers: {}, ca: 'CA' });
    });

    test('nothing is reported over plain http', async () => {
      const { credentials } = await load({
        cluster: { server: 'http://127.0.0.1:8001' },
        user: { token: 'secret' },
      });
      assert.deepEqual(await credentials.load(read), { headers: {} });
    });

    for (const key of ['tokenFile', 'token-file']) {
      test(`a token is read from the file that ${key} names`, async () => {
        const { credentials } = await load({ user: { [key]: write('token', 'from a file\n') } });
        assert.deepEqual(await credentials.load(read), {
          headers: { authorization: 'Bearer from a file' },
        });
      });
    }

    for (const [what, user] of [
      ['in block style', '\n    tokenFile: token # the token-file: of the user'],
      ['in flow style', ' { "tokenFile" : token }'],
      ['with an anchor', ' &file { ? token-file : token }'],
    ] as const)
      test(`a token file ${what} is read`, async () => {
        write('token', 'from a file');
        const path = write(
          'config',
          `# tokenFile: elsewhere
current-context: here
clusters: [{ name: c, cluster: { server: "https://api.test" } }]
contexts: [{ name: here, context: { cluster: c, user: u } }]
users:
- name: u
  user:${user}
`,
        );
        const { credentials } = await loadKubeConfig({ kubeconfig: path });
        assert.deepEqual(await credentials.load(read), {
          headers: { authorization: 'Bearer from a file' },
        });
      });

    test('of several users, only the file of the chosen one is read', async () => {
      const config = kubeconfig({ user: { token: 'mine' } });
      const other = { name: 'other', user: { tokenFile: '/nowhere/token' } };
      config.users = [other, ...(config.users as object[])];
      const { credentials } = await loadKubeConfig({ kubeconfig: write('config', config) });
      assert.deepEqual(await credentials.load(read), {
        headers: { authorization: 'Bearer mine' },
      });
    });

    test('impersonation that another user has, and texts that name its fields, are accepted', async () => {
      const user = { token: 'a', as: 'jane', exec: null, 'auth-provider': null };
      const config = kubeconfig({ user });
      const other = { name: 'other', user: { as: 'joe', 'as-groups': ['a'] } };
      config.users = [...(config.users as object[]), other];
      config.preferences = { note: 'as-groups: none' };
      const { credentials } = await loadKubeConfig({ kubeconfig: write('config', config) });
      assert.deepEqual(await credentials.load(read), {
        headers: { authorization: 'Bearer a', 'impersonate-user': 'jane' },
      });
    });

    test('impersonated groups are rejected however they are written', async () => {
      const text = JSON.stringify(kubeconfig({ user: { as: 'jane', 'as-groups': ['a'] } }));
      const path = write('config', text.replace('as-groups', 'as-gro\\u0075ps'));
      await assert.rejects(loadKubeConfig({ kubeconfig: path }), { code: 'unsupported' });
    });

    test('files that change are seen: a token file, a certificate, the kubeconfig itself', async () => {
      const token = write('token', 'first\n');
      write('client.crt', 'first');
      const user = { 'token-file': token, 'client-certificate': 'client.crt' };
      const { credentials } = await load({ user });
      assert.deepEqual(await credentials.load(read), {
        headers: { authorization: 'Bearer first' },
        cert: 'first',
      });
      write('token', 'second\n');
      write('client.crt', 'second');
      assert.deepEqual(await credentials.load(read), {
        headers: { authorization: 'Bearer second' },
        cert: 'second',
      });
      write('config', kubeconfig({ user: { token: 'third' } }));
      assert.deepEqual(await credentials.load(read), {
        headers: { authorization: 'Bearer third' },
      });
      const cert = Buffer.from('fourth').toString('base64');
      const changed = { token: 'third', 'client-certificate-data': cert };
      write('config', kubeconfig({ user: changed }));
      assert.equal((await credentials.load(read)).cert, 'fourth');
    });

    test('the context stays the chosen one when the file chooses another', async () => {
      const config = kubeconfig({ user: { token: 'here' } });
      const path = write('config', config);
      const { credentials } = await loadKubeConfig({ kubeconfig: path });
      write('config', { ...config, 'current-context': 'there' });
      const { headers } = await credentials.load(read);
      assert.deepEqual(headers, { authorization: 'Bearer here' });
    });

    test('an identity token of an OIDC provider, while it is good', async () => {
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
      const exp = Math.floor(Date.now() / 1000) + 3_600;
      const token = `${part({ alg: 'none' })}.${part({ exp })}.x`;
      const config = { 'id-token': token, 'client-id': 'me', 'idp-issuer-url': 'https://idp.test' };
      const { credentials } = await load({ user: { 'auth-provider': { name: 'oidc', config } } });
      const expected = { headers: { authorization: `Bearer ${token}` } };
      assert.deepEqual(await credentials.load(read), expected);
      assert.deepEqual(await credentials.load(rejected), expected);
    });

    describe('of a plugin', () => {
      function plugin(answer: string): { user: object; asked: () => readonly string[] } {
        const calls = write('calls', '');
        const script = `#!/bin/sh\necho "$KUBERNETES_EXEC_INFO $GREETING" >> ${calls}\ncat ${write('answer', answer)}\n`;
        mkdirSync(join(folder, 'bin'));
        chmodSync(write('bin/plugin', script), 0o755);
        const exec = {
          apiVersion: 'client.authentication.k8s.io/v1',
          command: './bin/plugin',
          env: [{ name: 'GREETING', value: 'hello' }],
          provideClusterInfo: true,
        };
        const asked = () => readFileSync(calls, 'utf8').split('\n').filter(Boolean);
        return { user: { exec }, asked };
      }

      function credential(status: object): string {
        return JSON.stringify({ kind: 'ExecCredential', status });
      }

      test('a token or a certificate, asked once until it is rejected', async () => {
        const { user, asked } = plugin(
          credential({ token: 'secret', clientCertificateData: 'CERT', clientKeyData: 'KEY' }),
        );
        const { credentials } = await load({ user });
        const expected = { headers: { authorization: 'Bearer secret' }, cert: 'CERT', key: 'KEY' };
        assert.deepEqual(await credentials.load(read), expected);
        assert.deepEqual(await credentials.load(read), expected);
        assert.equal(asked().length, 1);
        await credentials.load(rejected);
        assert.equal(asked().length, 2);
      });

      test('it receives the cluster, beside its own environment', async () => {
        const { user, asked } = plugin(credential({ token: 'secret' }));
        const { credentials } = await load({ user });
        await credentials.load(read);
        const [line = ''] = asked();
        assert.match(line, / hello$/);
        assert.deepEqual(JSON.parse(line.replace(/ hello$/, '')), {
          apiVersion: 'client.authentication.k8s.io/v1',
          kind: 'ExecCredential',
          spec: { interactive: false, cluster: { server: 'https://10.0.0.1:6443' } },
        });
      });

      test('its arguments are passed as they are written', async () => {
        const { user } = plugin('');
        write('bin/plugin', `#!/bin/sh\necho "{\\"status\\":{\\"token\\":\\"$*\\"}}"\n`);
        const args = ['--token-file: a', 'tokenFile:', 'as-groups: b', 'auth-provider: c'];
        const exec = { ...(user as { exec: object }).exec, args };
        const { credentials } = await load({ user: { exec, as: 'jane' } });
        assert.deepEqual(await credentials.load(read), {
          headers: { authorization: `Bearer ${args.join(' ')}`, 'impersonate-user': 'jane' },
        });
      });

      test('one that has expired is asked for again', async () => {
        const expirationTimestamp = '2020-01-01T00:00:00Z';
        const { user, asked } = plugin(credential({ token: 'secret', expirationTimestamp }));
        const { credentials } = await load({ user });
        await credentials.load(read);
        await credentials.load(read);
        assert.equal(asked().length, 2);
      });

      for (const answer of ['{}', '{"status":{}}', '{"status":null}', 'null'])
        test(`one that answers ${answer} is asked again`, async () => {
          const { user } = plugin(answer);
          const { credentials } = await load({ user });
          await assert.rejects(
            credentials.load(read),
            /The credential plugin returned neither a token nor a certificate/,
          );
          write('answer', credential({ token: 'secret' }));
          const expected = { headers: { authorization: 'Bearer secret' } };
          assert.deepEqual(await credentials.load(read), expected);
        });

      test('one that reads its standard input finds the end', async () => {
        const { user } = plugin('');
        write(
          'bin/plugin',
          `#!/bin/sh\nread password || echo '${credential({ token: 'none' })}'\n`,
        );
        const { credentials } = await load({ user });
        assert.deepEqual(await credentials.load(read), {
          headers: { authorization: 'Bearer none' },
        });
      });

      test('one that does not end is killed, also if a program that it started runs on', async () => {
        const { user } = plugin('');
        write('bin/plugin', '#!/bin/sh\nsleep 20 &\nwait\n');
        const path = write('config', kubeconfig({ user }));
        const { credentials } = await loadKubeconfigFiles({
          ...kubeconfigYaml,
          paths: [path],
          pluginTimeoutMs: 300,
        });
        await assert.rejects(credentials.load(read), {
          message: 'The credential plugin did not end within 0.3 s',
        });
      });

      test('one that ends is read, though a program that it started holds its output open', async () => {
        const { user } = plugin('');
        write('bin/plugin', `#!/bin/sh\nsleep 20 &\necho '${credential({ token: 'kept' })}'\n`);
        const { credentials } = await load({ user });
        assert.deepEqual(await credentials.load(read), {
          headers: { authorization: 'Bearer kept' },
        });
      });

      test('one that waits is killed when its answer is no longer needed', async () => {
        const { user } = plugin('');
        write('bin/plugin', '#!/bin/sh\nsleep 20\n');
        const { credentials } = await load({ user });
        const stop = new AbortController();
        const loading = credentials.load({ ...read, signal: stop.signal });
        setImmediate(() => stop.abort());
        await assert.rejects(loading, { message: 'The credential plugin was stopped' });
      });

      test('an answer that is none is not quoted', async () => {
        const { user } = plugin('secret-token');
        const { credentials } = await load({ user });
        await assert.rejects(credentials.load(read), (error: Error) => {
          assert.match(error.message, /The credential plugin did not return JSON/);
          assert.equal(error.cause, undefined);
          return true;
        });
      });
    });
  });

  describe('in a Pod', () => {
    test('the service account, read again each time', async () => {
      write('token', 'first\n');
      write('ca.crt', 'CA');
      write('namespace', 'mine\n');
      const config = await loadKubeConfig({
        inCluster: { host: 'fd00::1', port: '443' },
        serviceAccountFolder: folder,
      });
      assert.deepEqual([config.server, config.namespace], ['https://[fd00::1]:443', 'mine']);
      const token = async () => (await config.credentials.load(read)).headers.authorization;
      assert.equal(await token(), 'Bearer first');
      write('token', 'second\n');
      assert.equal(await token(), 'Bearer second');
    });

    test('without a mounted account there is no way in', async () => {
      const inCluster = { host: '10.0.0.1', port: '443' };
      await assert.rejects(loadKubeConfig({ inCluster, serviceAccountFolder: folder }), {
        code: 'not-found',
      });
    });
  });
});
