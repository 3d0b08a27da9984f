import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useControlPlane } from '../support/control-plane/index.ts';
import { runIn } from '../support/dev-process.ts';
import { reachFolder, reachNames } from '../support/reach.ts';

/** Their tests need more than the one namespace that a test has on a cluster. */
const writesNamespaces: ReadonlySet<string> = new Set(['replicator']);
const skipped = /^1 test: 0 passed, 0 failed, 1 skipped$/m;

// The claims of some of them are deleted with their namespace.
const shared = useControlPlane({ controllers: ['pvc-protection'] });

/** The sketches of real operators, against the API server and the controllers. */
shared.describe('integration/reach', () => {
  for (const name of reachNames())
    test(`the tests of ${name} pass on a cluster`, async () => {
      const kubeconfig = shared.plane.kubeconfigPath();
      const folder = reachFolder(name);
      const { code, stdout, stderr } = await runIn(folder, [
        'test',
        '.',
        '--kubeconfig',
        kubeconfig,
      ]);
      assert.deepEqual([code, stderr], [0, ''], stdout);
      assert.match(stdout, writesNamespaces.has(name) ? skipped : /^1 test: 1 passed, 0 failed$/m);
    });
});
