import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { shippedText } from '../support/definitions.ts';
import { DevProcess, runIn } from '../support/dev-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'homeostat-sandbox-'));
const running = new Set<DevProcess>();

async function start(...args: readonly string[]): Promise<DevProcess> {
  const sandbox = new DevProcess({ folder, files: {}, args, subcommand: 'sandbox' });
  running.add(sandbox);
  await sandbox.untilSaid(/Kubernetes v\d+\.\d+\.\d+ \(simulated\) is ready/);
  await sandbox.untilSaid(/^export KUBECONFIG=.*kubeconfig$/m);
  return sandbox;
}

const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'web', image: 'nginx' }] },
    },
  },
};

describe('integration/sandbox-command', () => {
  after(async () => {
    await Promise.all([...running].map((sandbox) => sandbox.stop('SIGKILL')));
    rmSync(folder, { recursive: true, force: true });
  });

  test('serves an API with controllers and no definitions; the next start continues with the saved cluster', async () => {
    writeFileSync(join(folder, 'web.json'), JSON.stringify(deployment));
    const sandbox = await start('--persist', 'cluster.json');
    const applied = await sandbox.run('apply', '-f', 'web.json');
    assert.deepEqual([applied.code, applied.stderr], [0, '']);
    // Controllers of the sandbox act before it takes the next request.
    const { stdout } = await sandbox.run('get', 'pods', '-o', 'name');
    assert.equal(stdout.trim().split('\n').length, 2);
    const kinds = await sandbox.run('get', 'operatordefinitions');
    assert.match(kinds.stderr, /operatordefinitions/);
    assert.equal(await sandbox.stop(), 0);
    assert.equal(existsSync(sandbox.kubeconfig), false);
    assert.match(readFileSync(join(folder, 'cluster.json'), 'utf8'), /"web"/);
    const text = shippedText('podset.yaml');
    writeFileSync(join(folder, 'podset.yaml'), text);
    const planned = await sandbox.run('plan', 'podset.yaml', '--against', 'cluster.json');
    assert.equal(planned.code, 2, planned.stderr);
    assert.match(planned.stdout, /\+ CustomResourceDefinition podsets\.apps\.example\.com/);
    const next = await start('--persist', 'cluster.json');
    const again = await next.run('get', 'deployments', '-o', 'name');
    assert.equal(again.stdout.trim(), 'deployment.apps/web');
    assert.equal(await next.stop(), 0);
  });

  test('--no-controllers is the API server alone', async () => {
    const sandbox = await start('--no-controllers', '--write-kubeconfig', 'own/kubeconfig');
    const flags = ['--kubeconfig', 'own/kubeconfig'] as const;
    assert.equal((await sandbox.run('apply', '-f', 'web.json', ...flags)).code, 0);
    const sets = await sandbox.run('get', 'replicasets', '-o', 'name', ...flags);
    assert.deepEqual([sets.code, sets.stdout], [0, '']);
    assert.equal(await sandbox.stop(), 0);
  });

  test('a second one with the same files is rejected with the process that has them', async () => {
    const sandbox = await start();
    const second = await runIn(folder, ['sandbox']);
    assert.equal(second.code, 2);
    assert.match(second.stderr, /Another Homeostat process \(\d+ on .*\) serves the kubeconfig/);
    assert.match(second.stderr, /hint: Stop it, or name another file with --write-kubeconfig FILE/);
    assert.equal(await sandbox.stop(), 0);
  });
});
