import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type SandboxServer, startSandboxServer } from '../../src/sandbox/node/index.ts';
import { createTestSandbox } from '../support/backends/index.ts';
import { ensureBinaries, InstantKubelet, useControlPlane } from '../support/control-plane/index.ts';
import { KubectlRunner } from './kubectl/kubectl-runner.ts';
import { kubectlScript } from './kubectl/kubectl-script.ts';

const shared = useControlPlane();
const namespace = 'kubectl';
const basePath = '/contract-of-kubectl';

describe('contract/kubectl', { skip: shared.skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-kubectl-'));
  const sandbox = createTestSandbox({ basePath });
  let listening: SandboxServer;
  let kubelet: InstantKubelet;
  let mine: KubectlRunner;
  let theirs: KubectlRunner;

  before(
    async () => {
      const { kubectl: binary } = await ensureBinaries(['kubectl']);
      assert.ok(binary !== undefined);
      listening = await startSandboxServer({ sandbox, basePath });
      const kubeconfig = join(folder, 'sandbox.kubeconfig');
      writeFileSync(kubeconfig, sandboxKubeconfig(listening.url));
      mine = new KubectlRunner({ binary, kubeconfig, cacheFolder: join(folder, 'sandbox') });
      const path = shared.plane.kubeconfigPath('admin', namespace);
      theirs = new KubectlRunner({ binary, kubeconfig: path, cacheFolder: join(folder, 'server') });
      for (const runner of [mine, theirs]) {
        const { code, output } = await runner.run({ run: `create namespace ${namespace}` });
        assert.equal(code, 0, output);
      }
      kubelet = new InstantKubelet(shared.client());
      kubelet.start({ namespace, selector: 'app' });
    },
    { timeout: 1_800_000 },
  );
  after(async () => {
    await kubelet?.stop();
    await listening?.stop();
    sandbox.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  // In order: each step finds what those before it have left.
  for (const [index, step] of kubectlScript.entries()) {
    test(`${index + 1}. kubectl ${step.run}`, async () => {
      const [a, b] = await Promise.all([mine.run(step), theirs.run(step)]);
      if (step.differs === undefined) assert.equal(a.output, b.output);
      assert.equal(a.code, b.code, `${a.output}\n---\n${b.output}`);
    });
  }
});

function sandboxKubeconfig(server: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'sandbox', cluster: { server } }],
    contexts: [{ name: 'sandbox', context: { cluster: 'sandbox', user: 'sandbox', namespace } }],
    users: [{ name: 'sandbox', user: {} }],
    'current-context': 'sandbox',
  });
}
