import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { init } from '#cli/commands/init.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { useHomeostat } from '../support/homeostat.ts';

const shared = useControlPlane();
const startHomeostat = useHomeostat(shared);

/** Definitions of `homeostat init`, with the name of their only workload after that of the resource. */
const charts = [
  { fixture: 'instance-labels', name: 'cache', kind: 'Cache', workload: '-cache' },
  { fixture: 'release-named-as-chart', name: 'store', kind: 'Store', workload: '' },
  { fixture: 'stateful-headless', name: 'peers', kind: 'Peers', workload: '-store' },
] as const;

shared.describe('integration/init-side-by-side', () => {
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-init-'));
  after(() => rmSync(folder, { recursive: true }));

  before(async () => {
    const definitions: Record<string, string> = {};
    for (const { fixture, name } of charts) {
      const dir = join(folder, fixture);
      const from = [`test/fixtures/init/${fixture}.yaml`];
      const lines: string[] = [];
      const print = (line: string) => void lines.push(line);
      const output = { print, error: print, hasColor: false, isTerminal: false };
      const flags = { group: 'init.example.com', from };
      assert.equal(await init(name, dir, flags, output), 0, lines.join('\n'));
      definitions[`${name}.yaml`] = readFileSync(join(dir, `${name}.yaml`), 'utf8');
    }
    await startHomeostat(definitions);
  });

  for (const { fixture, kind, workload } of charts)
    test(`${fixture}: the Services of two resources select the Pods of their own`, async () => {
      const namespace = await shared.namespace();
      const client = shared.client();
      for (const name of ['one', 'two'])
        await client.apply({
          apiVersion: 'init.example.com/v1alpha1',
          kind,
          metadata: { name, namespace },
          spec: {},
        } as KubeObject);
      const root = `/api/v1/namespaces/${namespace}`;
      const isOf = (name: string, pod: KubeObject) =>
        pod.metadata.name.startsWith(`${name}${workload}-`);
      const pods = await client.untilList(`${root}/pods`, (all) =>
        ['one', 'two'].every((name) => all.some((pod) => isOf(name, pod))),
      );
      const services = await client.untilList<Service>(`${root}/services`, (all) =>
        ['one', 'two'].every((name) => all.some((each) => each.metadata.name.startsWith(name))),
      );
      for (const { metadata, spec } of services) {
        const selected = pods.filter((pod) =>
          Object.entries(spec.selector).every(
            ([key, value]) => pod.metadata.labels?.[key] === value,
          ),
        );
        const owner = metadata.name.startsWith('one') ? 'one' : 'two';
        assert.ok(selected.length > 0, metadata.name);
        assert.ok(
          selected.every((pod) => isOf(owner, pod)),
          metadata.name,
        );
      }
    });
});

interface Service extends KubeObject {
  readonly spec: { readonly selector: Readonly<Record<string, string>> };
}
