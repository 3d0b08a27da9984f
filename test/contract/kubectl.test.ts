import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  InstantKubelet,
  type Plane,
  startSandboxPlane,
  useControlPlane,
} from '../support/control-plane/index.ts';
import { KubectlRunner } from './kubectl/kubectl-runner.ts';
import { kubectlScript } from './kubectl/kubectl-script.ts';
import { builtKubectls, installedKubectl } from './kubectl/kubectl-versions.ts';

// What the sandbox has of a cluster, a real one needs these for.
const controllers = ['endpointslice', 'root-ca-certificate-publisher-controller'];
const shared = useControlPlane({ controllers });
const namespace = 'kubectl';
const installed = installedKubectl(process.env);
const asked = process.env.CONTRACT_KUBECTL ?? '';

shared.describe('contract/kubectl', () => {
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-kubectl-'));
  const kubelets: InstantKubelet[] = [];
  let sandbox: Plane;

  before(async () => {
    sandbox = await startSandboxPlane();
    // The same one for both: neither runs anything by itself.
    for (const plane of [sandbox, shared.plane]) {
      const kubelet = new InstantKubelet(plane.client());
      kubelet.start({ namespace, selector: 'app' });
      kubelets.push(kubelet);
    }
  });
  after(async () => {
    for (const kubelet of kubelets) await kubelet.stop();
    await sandbox?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  for (const version of [...builtKubectls, ...(installed === undefined ? [] : [installed])]) {
    const skip = asked === '' || asked.split(',').includes(version.name) ? false : 'not asked for';
    describe(`the ${version.name} kubectl`, { skip }, () => {
      let mine: KubectlRunner;
      let theirs: KubectlRunner;

      before(
        async () => {
          const binary = await version.binary();
          const runnerFor = (plane: Plane, name: string) =>
            new KubectlRunner({
              binary,
              kubeconfig: plane.kubeconfigPath('admin', namespace),
              cacheFolder: join(folder, version.name, name),
            });
          mine = runnerFor(sandbox, 'sandbox');
          theirs = runnerFor(shared.plane, 'server');
          for (const runner of [mine, theirs]) {
            const { code, output } = await runner.run({ run: `create namespace ${namespace}` });
            assert.equal(code, 0, output);
          }
        },
        { timeout: 1_800_000 },
      );

      // In order: each step finds what those before it have left.
      for (const [index, step] of kubectlScript.entries()) {
        if (step.newestOnly !== undefined && version.name !== 'newest') continue;
        test(`${index + 1}. kubectl ${step.run}`, async () => {
          const [a, b] = await Promise.all([mine.run(step), theirs.run(step)]);
          if (step.compares !== undefined)
            assert.deepEqual(linesOf(a.output, step.compares), linesOf(b.output, step.compares));
          else if (step.differs === undefined) assert.equal(a.output, b.output);
          assert.equal(a.code, b.code, `${a.output}\n---\n${b.output}`);
        });
      }
    });
  }
});

/** The lines that are the same on both. */
function linesOf(output: string, pattern: RegExp): readonly string[] {
  const lines = output.split('\n').filter((line) => pattern.test(line));
  assert.notEqual(lines.length, 0, `Expected lines like ${pattern}, found ${output}`);
  return lines;
}
