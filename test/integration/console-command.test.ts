import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { DevProcess } from '../support/dev-process.ts';
import { HomeostatProcess, runCli } from '../support/homeostat-process.ts';

const files = {
  'podset.yaml': readFileSync('operators/podset.yaml', 'utf8'),
  'samples/podset.yaml': readFileSync('operators/samples/podset.yaml', 'utf8'),
};

/** Asks a question as the page of the console does. */
async function ask(url: string, question: string, body: object) {
  const { origin } = new URL(url);
  const init = { method: 'POST', headers: { origin }, body: JSON.stringify(body) };
  const response = await fetch(`${url}api/${question}`, init);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

/** A new folder with the kubeconfig of a server. */
function kubeconfigOf(server: string) {
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-console-'));
  const kubeconfig = join(folder, 'config');
  const config = {
    'current-context': 'a',
    clusters: [{ name: 'a', cluster: { server } }],
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
    users: [{ name: 'a', user: {} }],
  };
  writeFileSync(kubeconfig, JSON.stringify(config));
  return { folder, kubeconfig };
}

describe('console-command', () => {
  test('dev prints the address of its console, which knows the file of a definition', async () => {
    const dev = new DevProcess({ files });
    try {
      const [, url = ''] = await dev.untilSaid(/(http:\S+) {2}\(console\)/);
      await dev.untilSaid(/Operator "podset" is running/);
      const info = await ask(url, 'info', {});
      assert.deepEqual(
        { ...info.body, version: '' },
        {
          home: 'dev',
          version: '',
          cluster: 'sandbox',
          canEdit: true,
          canSave: true,
          hasRecords: true,
        },
      );
      const { body } = await ask(url, 'definition', { name: 'podset' });
      assert.deepEqual([body.text, body.isWritten], [files['podset.yaml'], true]);
      const outside = { file: '/etc/hosts.yaml', text: '' };
      assert.equal((await ask(url, 'save', outside)).status, 403);
      assert.match(await (await fetch(url)).text(), /<div id="console">/);
    } finally {
      assert.equal(await dev.stop(), 0);
    }
  });

  test('dev --no-console serves none', async () => {
    const dev = new DevProcess({ files, args: ['--no-console'] });
    await dev.untilSaid(/Operator "podset" is running/);
    assert.doesNotMatch(dev.output, /\(console\)/);
    assert.equal(await dev.stop(), 0);
  });

  test('console shows the cluster of a kubeconfig, read-only unless edits are permitted, and ends with its signal', async () => {
    const dev = new DevProcess({ files, args: ['--no-console'] });
    await dev.untilSaid(/Operator "podset" is running/);
    for (const [args, canEdit] of [
      [[], false],
      [['--allow-edits'], true],
    ] as const) {
      const shown = new DevProcess({
        files: {},
        subcommand: 'console',
        args: ['--kubeconfig', dev.kubeconfig, ...args],
      });
      const [, url = ''] = await shown.untilSaid(/(http:\/\/127\.0\.0\.1:\d+\/[a-z0-9]{32}\/)\n/);
      const { body: info } = await ask(url, 'info', {});
      assert.deepEqual(
        [info.home, info.canEdit, info.canSave, info.hasRecords],
        ['console', canEdit, false, false],
      );
      assert.match(
        String(info.recordsProblem),
        /there is no Secret "homeostat-system\/homeostat-records" with a token/,
      );
      const path = '/apis/pods.example.com/v1alpha1/namespaces/default/podsets/none';
      const { status } = await ask(url, 'request', { method: 'DELETE', path });
      assert.equal(status, canEdit ? 200 : 403);
      assert.equal(await shown.stop(), 0);
    }
    await dev.stop();
  });

  test('console asks a runtime at its address for the reconciles, and says when it records none', async () => {
    const sandbox = new DevProcess({ files: {}, subcommand: 'sandbox' });
    await sandbox.untilSaid(/KUBECONFIG/);
    const token = join(sandbox.folder, 'token');
    writeFileSync(token, 'a-token-of-the-test');
    const { kubeconfig } = sandbox;
    const recording = new HomeostatProcess({
      kubeconfig,
      definitions: { 'podset.yaml': files['podset.yaml'] },
      flags: ['--console-records', token],
    });
    const other = new HomeostatProcess({ kubeconfig, runtime: 'other' });
    try {
      await recording.whenReady();
      for (const [runtime, hasRecords, problem] of [
        [recording, true, undefined],
        [other, false, /does not record reconciles: start it with --console-records/],
      ] as const) {
        const shown = new DevProcess({
          files: {},
          subcommand: 'console',
          args: [
            ...['--kubeconfig', kubeconfig, '--records-token', token],
            ...['--records-url', await runtime.url()],
          ],
        });
        const [, url = ''] = await shown.untilSaid(/(http:\/\/127\.0\.0\.1:\d+\/[a-z0-9]{32}\/)\n/);
        const { body: info } = await ask(url, 'info', {});
        assert.equal(await shown.stop(), 0);
        assert.equal(info.hasRecords, hasRecords);
        if (problem !== undefined) assert.match(String(info.recordsProblem), problem);
      }
    } finally {
      await recording.stop();
      await other.stop();
      await sandbox.stop();
    }
  });

  for (const [title, subcommand, args, message] of [
    [
      'an address without a token',
      'console',
      ['--records-url', 'http://127.0.0.1:1'],
      /Expected both --records-url and --records-token/,
    ],
    [
      'a token that does not exist',
      'console',
      ['--records-url', 'http://127.0.0.1:1', '--records-token', 'none'],
      /Cannot read the token in "none".*\n.*openssl rand/,
    ],
    [
      'a name without a namespace',
      'console',
      ['--records-secret', 'records'],
      /Expected "namespace\/name"/,
    ],
  ] as const)
    test(`${title} is a usage error`, async () => {
      const sandbox = new DevProcess({ files: {}, subcommand: 'sandbox' });
      await sandbox.untilSaid(/KUBECONFIG/);
      const ended = new DevProcess({
        files: {},
        subcommand,
        args: ['--kubeconfig', sandbox.kubeconfig, ...args],
      });
      assert.equal(await ended.ended(), 2);
      assert.match(ended.output, message);
      await sandbox.stop();
    });

  test('run records nothing without a token of a fair length, and not without a port', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'homeostat-token-'));
    const short = join(folder, 'short');
    writeFileSync(short, 'short');
    for (const [args, message] of [
      [['--console-records', join(folder, 'none')], /Cannot read the token/],
      [
        ['--console-records', short],
        /Expected a token of at least 16 characters.*found 5 characters/,
      ],
      [['--console-records', short, '--http', 'off'], /Expected an address for --http/],
    ] as const) {
      const { code, stderr } = await runCli(
        'run',
        '--definitions',
        'operators/podset.yaml',
        ...args,
      );
      assert.equal(code, 2);
      assert.match(stderr, message);
    }
    rmSync(folder, { recursive: true, force: true });
  });

  test('a cluster that does not respond is a usage error with a hint', async () => {
    const shown = new DevProcess({
      files: {},
      subcommand: 'console',
      args: ['--kubeconfig', '/nowhere'],
    });
    assert.equal(await shown.ended(), 2);
    assert.match(shown.output, /Cannot connect to a cluster.*\n.*--kubeconfig/);
  });

  test('an API server that cannot be reached is named with its address', async () => {
    const { folder, kubeconfig } = kubeconfigOf('http://127.0.0.1:9');
    const shown = new DevProcess({
      files: {},
      subcommand: 'console',
      args: ['--kubeconfig', kubeconfig],
    });
    assert.equal(await shown.ended(), 2);
    assert.match(shown.output, /unreachable.*\n.*names the server http:\/\/127\.0\.0\.1:9;/);
    rmSync(folder, { recursive: true, force: true });
  });

  test('Ctrl-C while the console connects is no error', async () => {
    const requested = Promise.withResolvers<void>();
    // Accepts requests and does not answer.
    const server = createServer(() => requested.resolve());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const { folder, kubeconfig } = kubeconfigOf(`http://127.0.0.1:${port}`);
    const shown = new DevProcess({
      files: {},
      subcommand: 'console',
      args: ['--kubeconfig', kubeconfig],
    });
    try {
      await requested.promise;
      assert.equal(await shown.stop(), 0);
      assert.doesNotMatch(shown.output, /aborted/);
    } finally {
      server.closeAllConnections();
      server.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
