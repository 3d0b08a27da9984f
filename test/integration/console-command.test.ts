import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { DevProcess } from '../support/dev-process.ts';

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
      const path = '/apis/pods.example.com/v1alpha1/namespaces/default/podsets/none';
      const { status } = await ask(url, 'request', { method: 'DELETE', path });
      assert.equal(status, canEdit ? 200 : 403);
      assert.equal(await shown.stop(), 0);
    }
    await dev.stop();
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
});
