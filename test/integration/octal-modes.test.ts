import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { init } from '#cli/commands/init.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { useHomeostat } from '../support/homeostat.ts';
import { runCommand } from '../support/run-command.ts';

const shared = useControlPlane({ controllerManager: false });
const startHomeostat = useHomeostat(shared);
const file = 'test/fixtures/reports/octal-modes.yaml';

interface Deployment extends KubeObject {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly containers: readonly [{ readonly env: readonly [{ readonly value: string }] }];
        readonly volumes: readonly { readonly secret: object }[];
      };
    };
  };
}

/** What kubectl makes of the file. */
function assertModes(object: KubeObject | undefined): void {
  const { containers, volumes } = (object as Deployment).spec.template.spec;
  assert.deepEqual(
    volumes.map(({ secret }) => secret),
    [
      { secretName: 's', defaultMode: 0o400, optional: true },
      { secretName: 's', defaultMode: 0o400 },
    ],
  );
  assert.equal(containers[0].env[0].value, 'on');
}

shared.describe('integration/octal-modes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-modes-'));
  after(() => rmSync(folder, { recursive: true }));
  const pathOf = (namespace: string, name: string) =>
    `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`;

  before(async () => {
    const lines: string[] = [];
    const print = (line: string) => void lines.push(line);
    const output = { print, error: print, hasColor: false, isTerminal: false };
    const flags = { group: 'init.example.com', from: [file] };
    assert.equal(await init('modes', folder, flags, output), 0, lines.join('\n'));
    await startHomeostat({ 'modes.yaml': readFileSync(join(folder, 'modes.yaml'), 'utf8') });
  });

  test('"init --from": resources have the modes that kubectl reads, each with Pods of its own', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    for (const name of ['one', 'two'])
      await client.apply({
        apiVersion: 'init.example.com/v1alpha1',
        kind: 'Modes',
        metadata: { name, namespace },
        spec: {},
      } as KubeObject);
    const found = await client.untilList(
      `/apis/apps/v1/namespaces/${namespace}/deployments`,
      (items) => items.length === 2,
    );
    found.forEach(assertModes);
    const selectors = found.map(({ spec }) =>
      JSON.stringify((spec as { selector: object }).selector),
    );
    assert.notEqual(selectors[0], selectors[1]);
  });

  test('"apply -f" has the same modes', async () => {
    const namespace = await shared.namespace();
    const copy = join(folder, 'manifest.yaml');
    const manifest = readFileSync(file, 'utf8');
    writeFileSync(
      copy,
      manifest.replace('{ name: web-app }', `{ name: web-app, namespace: ${namespace} }`),
    );
    const flags = ['--kubeconfig', shared.plane.kubeconfigPath('operator')];
    await runCommand('apply', '-f', copy, ...flags);
    assertModes(await shared.client().get(pathOf(namespace, 'web-app')));
  });
});
