import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, thing, thingDefinition } from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';
import { untilScraped, untilStatus, valueOfSamples } from '../support/scrape.ts';

const shared = useControlPlane({ controllerManager: false });
const startHomeostat = useHomeostat(shared);

const child = (data: string) => `  children:
    - id: settings
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }" }
        data: ${data}
`;

const definitions = {
  'good.yaml': thingDefinition('good', child('{ value: "${ spec.value }" }')),
  // No ConfigMap fits into the quota of its namespace: rejected each time, tried again each time.
  'failing.yaml': thingDefinition('failing', child('{ value: "${ spec.value }" }')),
  // Each pass changes what the next one reads.
  'hot.yaml': thingDefinition(
    'hot',
    `${child('{ count: "${ $string(status.count ?? 0) }" }')}  status: { count: "\${ (status.count ?? 0) + 1 }" }\n`,
  ),
};

const names = (count: number) => Array.from({ length: count }, (_, index) => `n${index}`);

async function emptyQuota(namespace: string): Promise<void> {
  const client = shared.client();
  const path = `/api/v1/namespaces/${namespace}/resourcequotas`;
  const hard = { 'count/configmaps': '0' };
  await client.create(path, { metadata: { name: 'nothing' }, spec: { hard } });
  await client.patch(`${path}/nothing/status`, { status: { hard, used: hard } });
}

const collection = (kind: string, namespace: string) =>
  `/apis/${kind}.example.com/v1/namespaces/${namespace}/things`;

function applyAll(kind: string, namespace: string, count: number, value: string) {
  const client = shared.client();
  return Promise.all(
    names(count).map((name) => client.apply(thing(kind, namespace, { value }, name))),
  );
}

shared.describe('integration/isolation', () => {
  let homeostat: HomeostatRuntime;
  let namespace: string;

  before(async () => {
    homeostat = await startHomeostat(definitions);
    namespace = await shared.namespace();
    const hotNamespace = await shared.namespace();
    const full = await shared.namespace();
    await emptyQuota(full);
    const isAll =
      (count: number, test: (item: KubeObject) => boolean) => (items: readonly KubeObject[]) =>
        items.length === count && items.every(test);
    const hot = shared.client().untilList(
      collection('hot', hotNamespace),
      isAll(50, (item) => conditionOf(item, 'Reconciling')?.reason === 'Unstable'),
    );
    const failing = shared.client().untilList(
      collection('failing', full),
      isAll(20, (item) => conditionOf(item)?.status === 'False'),
    );
    await Promise.all([applyAll('hot', hotNamespace, 50, 'x'), applyAll('failing', full, 20, 'x')]);
    await Promise.all([hot, failing]);
  });

  test('good resources are made and follow edits beside a failing and a hot definition', async () => {
    const client = shared.client();
    for (const value of ['first', 'second']) {
      const done = client.untilList(
        collection('good', namespace),
        (items) =>
          items.length === 20 &&
          items.every(
            (item) =>
              (item.spec as { value?: string }).value === value &&
              conditionOf(item)?.status === 'True' &&
              conditionOf(item)?.observedGeneration === item.metadata.generation,
          ),
      );
      await applyAll('good', namespace, 20, value);
      await done;
    }
    await untilScraped(homeostat, (families) => {
      const resources = (definition: string, ready: string) =>
        valueOfSamples(families, 'homeostat_resources', { definition, ready });
      assert.deepEqual([resources('good', 'True'), resources('good', 'False')], [20, 0]);
      assert.deepEqual([resources('failing', 'True'), resources('failing', 'False')], [0, 20]);
      assert.deepEqual([resources('hot', 'True'), resources('hot', 'False')], [0, 50]);
    });
  });

  test('a failing and a hot definition leave the process ready, and say what they are', async () => {
    const text = await untilStatus(homeostat, '/readyz?verbose', 200);
    for (const name of ['good', 'failing', 'hot']) {
      assert.match(text, new RegExp(`\\[\\+\\]${name} running`));
    }
    const mistakes = homeostat.entries.filter(({ level }) => level === 'error');
    assert.deepEqual(mistakes, []);
  });

  test('a failure that repeats is reported once for each resource', async () => {
    const reported = homeostat.entries.filter(
      ({ level, definition }) => level === 'warn' && definition === 'failing',
    );
    const blocked = reported.map(({ name, key, msg }) => `${name ?? key} ${msg}`);
    assert.equal(new Set(blocked).size, blocked.length, blocked.join('\n'));
  });
});
