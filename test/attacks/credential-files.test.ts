import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { CliError } from '#cli/exit-code.ts';
import { loadKubeConfig } from '#kube';
import { kubeconfigYaml } from '../support/kubeconfig-yaml.ts';
import { runCommand } from '../support/run-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'homeostat-credentials-'));
const at = (name: string) => join(folder, name);

/** What a path may name that is never read to its end. */
const endless = {
  'a pipe': [at('pipe'), 'it is not a regular file'],
  'a device': ['/dev/zero', 'it is not a regular file'],
  'a file that is too large': [at('large'), 'it is larger than 16 MiB'],
} as const;

interface NamedFiles {
  readonly user?: object;
  readonly cluster?: object;
}

/** Fields of a kubeconfig that name a file. */
const fields: Readonly<Record<string, (path: string) => NamedFiles>> = {
  'certificate-authority': (path) => ({ cluster: { 'certificate-authority': path } }),
  'client-certificate': (path) => ({ user: { 'client-certificate': path } }),
  'client-key': (path) => ({ user: { 'client-key': path } }),
  tokenFile: (path) => ({ user: { tokenFile: path } }),
  'token-file': (path) => ({ user: { 'token-file': path } }),
  'idp-certificate-authority': (path) => ({
    user: {
      'auth-provider': {
        name: 'oidc',
        config: {
          ...{ 'client-id': 'a', 'idp-issuer-url': 'https://127.0.0.1:1', 'refresh-token': 'r' },
          'idp-certificate-authority': path,
        },
      },
    },
  }),
};

function kubeconfig({ user = {}, cluster = {} }: NamedFiles): string {
  const path = at('kubeconfig');
  const config = {
    'current-context': 'a',
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
    clusters: [{ name: 'a', cluster: { server: 'https://127.0.0.1:1', ...cluster } }],
    users: [{ name: 'a', user }],
  };
  writeFileSync(path, JSON.stringify(config));
  return path;
}

describe('attacks/credentials: files of a kubeconfig are regular files of a limited size', () => {
  execFileSync('mkfifo', [at('pipe')]);
  writeFileSync(at('large'), '');
  truncateSync(at('large'), 17 * 2 ** 20);
  after(() => rmSync(folder, { recursive: true, force: true }));

  for (const [what, [path, reason]] of Object.entries(endless)) {
    for (const [field, named] of Object.entries(fields))
      test(`${field}: ${what}`, async () => {
        const file = kubeconfig(named(path));
        const load = async () =>
          (await loadKubeConfig({ ...kubeconfigYaml, kubeconfig: file })).credentials.load({
            wasRejected: false,
          });
        await assert.rejects(load, (error: Error) => {
          assert.equal(error.name, 'KubeConfigError');
          assert.ok(error.message.includes(`"${path}": ${reason}`), error.message);
          return true;
        });
      });

    for (const args of [
      ['get', 'pods'],
      ['plan', 'operators/podset.yaml'],
      ['test', '.'],
      ['console'],
    ])
      test(`homeostat ${args[0]} --kubeconfig: ${what}`, async () => {
        const printed = await runCommand(...args, '--kubeconfig', path).catch((error: unknown) => {
          assert.ok(error instanceof CliError, String(error));
          return error.message;
        });
        assert.ok(printed.includes(`Cannot read the kubeconfig "${path}": ${reason}`), printed);
      });

    test(`a service account: ${what}`, async () => {
      const account = mkdtempSync(join(folder, 'account-'));
      execFileSync('ln', ['-s', path, join(account, 'token')]);
      writeFileSync(join(account, 'ca.crt'), '');
      const load = loadKubeConfig({
        ...kubeconfigYaml,
        inCluster: { host: '127.0.0.1', port: '1' },
        serviceAccountFolder: account,
      });
      await assert.rejects(load, (error: Error) => error.message.includes(reason));
    });
  }

  test('a file of another user of the kubeconfig is not read', async () => {
    const file = kubeconfig({ user: { token: 'good' } });
    const text = execFileSync('cat', [file], { encoding: 'utf8' });
    const other = { name: 'b', user: { tokenFile: at('pipe'), 'client-key': at('pipe') } };
    writeFileSync(file, text.replace('"users":[', `"users":[${JSON.stringify(other)},`));
    const { credentials } = await loadKubeConfig({ ...kubeconfigYaml, kubeconfig: file });
    const { headers } = await credentials.load({ wasRejected: false });
    assert.equal(headers.authorization, 'Bearer good');
  });
});
