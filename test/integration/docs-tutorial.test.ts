import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { InstantKubelet, useControlPlane } from '../support/control-plane/index.ts';
import { isRewriting, Page, type Section, useReader } from '../support/pages/index.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const shared = useControlPlane();
const isSandbox = process.env.HOMEOSTAT_TEST_BACKEND === 'sandbox';
const page = new Page('tutorial.md');
const steps = page.sections.filter(({ title }) => /^\d/.test(title));
const onLaptop = steps.slice(0, -1);
const inCluster = steps.slice(-1);

function hasKubectl({ PATH = '' }: NodeJS.ProcessEnv): boolean {
  return PATH.split(delimiter).some((folder) => existsSync(join(folder, 'kubectl')));
}

/** The definition at the end of a step is kept beside the page, for readers who begin there. */
function settleFile({ title }: Section, text: string): void {
  const path = join(root, `docs/tutorial/step-${title.split('.')[0]}.yaml`);
  if (isRewriting()) writeFileSync(path, text);
  assert.equal(existsSync(path) && readFileSync(path, 'utf8'), text, `${path} is not up to date`);
}

// Most of the time is waiting for processes.
describe('integration/docs-tutorial', { concurrency: 2 }, () => {
  after(() => page.save());

  // `homeostat dev` has a sandbox of its own: a control plane would change nothing.
  const skip = isSandbox ? false : 'runs on the sandbox';
  describe('on a laptop', { skip, concurrency: 1 }, () => {
    const reader = useReader();

    for (const step of onLaptop) {
      test(`step ${step.title}`, async () => {
        page.settle(await reader.runner.run(step));
        settleFile(step, reader.runner.textOf('operators/site.yaml'));
      });
    }
  });

  shared.describe('in a cluster', () => {
    const reader = useReader({ kubeconfig: () => shared.plane.kubeconfigPath('admin') });
    let kubelet: InstantKubelet | undefined;

    before(() => {
      // The plane has no nodes that would run Pods.
      kubelet = new InstantKubelet(shared.client());
      kubelet.start({ namespace: 'default' });
    });
    after(() => kubelet?.stop());

    for (const step of inCluster) {
      const skip = hasKubectl(process.env) ? false : 'needs kubectl, which is not on the path';
      test(`step ${step.title}`, { skip }, async () => {
        for (const earlier of onLaptop) reader.runner.prepare(earlier);
        page.settle(await reader.runner.run(step));
      });
    }
  });

  test('commands that need a container registry name files that exist', () => {
    // There is no container runtime in CI. The manifests are applied by deploy-chart.test.ts, the files of the image are
    // checked by image.test.ts.
    const blocks = steps.flatMap((step) => step.blocks);
    const lines = blocks
      .filter(({ language }) => language === 'sh')
      .flatMap((block) => block.lines);
    const paths = [...lines.join('\n').matchAll(/ (deploy\/\S+)/g)].map(([, path = '']) => path);
    assert.ok(paths.length > 0);
    for (const path of paths) assert.ok(existsSync(join(root, path)), path);
  });
});
