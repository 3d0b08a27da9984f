import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { recordWrites } from '../../bench/recorded-writes.ts';
import { launchNow, useControlPlane } from '../support/control-plane/index.ts';
import { makeTemporaryFolder } from '../support/control-plane/temporary-folder.ts';
import { patienceMs } from '../support/patience.ts';

const shared = useControlPlane({ controllerManager: false });

const pathOf = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
const main = pathOf('../../bench/main.ts');
const homeostat = pathOf('../../bin/homeostat');
const definition = pathOf('../../bench/rig/podset-definition.yaml');

/** The rig's definition with a mistake, and what the run ends with. */
const mistakes = [
  {
    what: 'that is not accepted for a CRD that is already there',
    from: 'adopt: true',
    to: 'adopt: false',
    reason: /homeostat reported: Definition rejected: .*podsets\.bench\.example\.com/,
  },
  {
    what: 'that has an error, with which the process ends',
    from: 'spec.size }',
    to: 'spec.sise }',
    reason: /homeostat ended by itself.*spec\.sise.*There is no definition to run/s,
  },
] as const;

shared.describe('integration/bench', () => {
  // The limit of a workload is longer than the patience of the test.
  for (const { what, from, to, reason } of mistakes)
    test(`a run with a definition ${what} fails with the reason`, async (t) => {
      const folder = await makeTemporaryFolder('homeostat-bench-test-');
      const file = join(folder.path, 'definition.yaml');
      writeFileSync(file, readFileSync(definition, 'utf8').replace(from, to));
      let output = '';
      const note = (text: string) => {
        output += text;
      };
      const args = ['--peers', 'homeostat', '--n', '1', '--reps', '1', '--definition', file];
      const run = launchNow({
        command: process.execPath,
        args: [main, ...args, '--limit', String((10 * patienceMs) / 1_000)],
        onOutput: note,
        onErrors: note,
      });
      t.after(async () => {
        await run.stop(patienceMs);
        await folder.remove();
      });
      const timer = setTimeout(() => void run.stop(0), patienceMs);
      const { code } = await run.ended;
      clearTimeout(timer);
      assert.match(output, reason);
      assert.equal(code, 1, output);
    });

  test('the bodies that a raw client replays are those of a child and of a whole status', async (t) => {
    const folder = await makeTemporaryFolder('homeostat-bench-test-');
    t.after(() => folder.remove());
    const command = [homeostat];
    const recorded = await recordWrites({ command, definition, folder: folder.path });
    const [child, status, ...more] = recorded.writes;
    assert.deepEqual(more, []);
    assert.match(child?.path ?? '', new RegExp(`/deployments/${recorded.name}\\?`));
    assert.match(status?.path ?? '', new RegExp(`/podsets/${recorded.name}/status\\?`));
    const fields = Object.keys(JSON.parse(status?.body ?? '{}').status);
    for (const field of ['observedGeneration', 'conditions', 'children', 'readyReplicas'])
      assert.ok(fields.includes(field), `${field} in ${fields.join(', ')}`);
    for (const { body } of recorded.writes) assert.ok(body.includes(recorded.uid), body);
  });
});
