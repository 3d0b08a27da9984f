import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { statusOf, thing, thingDefinition } from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';

const shared = useControlPlane({ controllerManager: false });
const launch = useRuntimes(shared);
const count = 30;

function definition(word: string, perSecond: number): string {
  return thingDefinition(
    'killed',
    `  children:
    - id: a
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }" }
        data: { text: "${word}" }
  controller: { rollout: { perSecond: ${perSecond} } }
`,
  );
}

shared.describe('integration/reload-killed', () => {
  const processes: HomeostatRuntime[] = [];
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-killed-'));
  before(async () => {
    const metadata = { name: 'homeostat-system' };
    await shared.client().apply({ apiVersion: 'v1', kind: 'Namespace', metadata });
  });
  after(async () => {
    await Promise.all(processes.map((process) => process.stop('SIGKILL')));
    rmSync(folder, { recursive: true, force: true });
  });

  function start(text: string): HomeostatRuntime {
    const definitions = { 'killed.yaml': text };
    const process = launch({ definitions, folder });
    processes.push(process);
    return process;
  }

  test('killed in the middle of a roll-out, the next process continues with it', async () => {
    const client = shared.client();
    const namespace = await shared.namespace();
    const untilThings = (isMet: (items: readonly KubeObject[]) => boolean) =>
      client.untilList(`/apis/killed.example.com/v1/namespaces/${namespace}/things`, isMet);
    const revisions = (items: readonly KubeObject[]) =>
      items.map((item) => String(statusOf(item).definitionRevision));

    const first = start(definition('old', 50));
    await first.whenReady();
    const names = Array.from({ length: count }, (_, index) => `r${index}`);
    await Promise.all(names.map((name) => client.apply(thing('killed', namespace, {}, name))));
    const [before] = revisions(
      await untilThings(
        (items) =>
          items.length === count &&
          new Set(revisions(items)).size === 1 &&
          !revisions(items).includes('undefined'),
      ),
    );
    first.write('killed.yaml', definition('new', 3));
    await untilThings((items) => revisions(items).filter((each) => each !== before).length >= 3);
    await first.stop('SIGKILL');

    const second = start(definition('new', 3));
    const begun = await second.whenLogged('Roll-out started');
    assert.equal(begun.from, before);
    const ended = await second.whenLogged('Roll-out finished');
    assert.equal(ended.to, begun.to);
    await untilThings((items) => revisions(items).every((each) => each === begun.to));
    const maps = await client.list(
      `/api/v1/namespaces/${namespace}/configmaps?labelSelector=homeostat.dev/child=a`,
    );
    assert.deepEqual(
      maps.map(({ data }) => (data as { readonly text: string }).text),
      names.map(() => 'new'),
    );
  });
});
