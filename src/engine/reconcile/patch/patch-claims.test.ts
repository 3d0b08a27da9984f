import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { finalizerOf, ownedPatchManagerOf, patchedAnnotationOf } from '#util/stored-names.ts';
import { FakeCluster } from '../../../../test/support/fakes/fake-cluster.ts';
import { ManagedServer } from '../../../../test/support/fakes/managed-server.ts';
import { OperatorHarness, types } from '../../../../test/support/fakes/operator-harness.ts';
import { planOfPodSet } from '../../../../test/support/podset-text.ts';

const annotation = patchedAnnotationOf('podset');
const finalizer = finalizerOf('podset');

const note = (more = 'withdraw: true') => `
  patches:
    - id: note
      when: \${ $not(spec.off = true) }
      target: { apiVersion: v1, kind: ConfigMap, name: target }
      ${more}
      patch: { data: { size: "\${ $string(spec.size) }" } }
`;

async function harnessOf(body: string): Promise<OperatorHarness> {
  const cluster = new FakeCluster(types, new ManagedServer(types));
  const harness = new OperatorHarness(planOfPodSet(body), undefined, cluster);
  await harness.start();
  return harness;
}

const podSet = (harness: OperatorHarness) => harness.get('apps.example.com/v1', 'PodSet', 'one');
const dataOf = (harness: OperatorHarness, name = 'target') =>
  harness.get('v1', 'ConfigMap', name)?.data;
const claimsOf = (harness: OperatorHarness): readonly string[] =>
  Object.keys(JSON.parse(podSet(harness)?.metadata.annotations?.[annotation] ?? '{}'));

function put(harness: OperatorHarness, kind: string, name: string, more = {}): KubeObject {
  const metadata = { name, namespace: 'default' };
  return harness.cluster.server.put({ apiVersion: 'v1', kind, metadata, ...more }).object;
}

/** A resource whose patch is applied. */
async function applied(body = note()): Promise<{ harness: OperatorHarness; one: KubeObject }> {
  const harness = await harnessOf(body);
  put(harness, 'ConfigMap', 'target', { data: { mine: 'yes' } });
  const one = harness.podSet('one', { size: 3 });
  await harness.settle();
  assert.deepEqual(dataOf(harness), { mine: 'yes', size: '3' });
  harness.cluster.takeWrites();
  return { harness, one };
}

/** Replaces the metadata of the resource, as a user can. */
function editMetadata(harness: OperatorHarness, changes: Partial<KubeObject['metadata']>): void {
  const stored = podSet(harness) as KubeObject;
  harness.edit(stored, { metadata: { ...stored.metadata, ...changes } });
}

function forge(harness: OperatorHarness, claims: readonly string[]): void {
  const { annotations } = (podSet(harness) as KubeObject).metadata;
  const recorded = JSON.parse(annotations?.[annotation] ?? '{}');
  const forged = { ...Object.fromEntries(claims.map((claim) => [claim, 'x'])), ...recorded };
  editMetadata(harness, { annotations: { [annotation]: JSON.stringify(forged) } });
}

describe('reconcile/claims of patches', () => {
  test('a forged one leads to no request but reads, also for a status', async () => {
    const { harness, one } = await applied();
    put(harness, 'Service', 'victim', {
      status: { loadBalancer: { ingress: [{ ip: '1.1.1.1' }] } },
    });
    put(harness, 'ConfigMap', 'victim', { data: { size: '3' } });
    for (const id of ['note', 'other']) {
      forge(harness, [`${id}/status Service default/victim`, `${id} ConfigMap default/victim`]);
      await harness.settle();
      const writes = harness.cluster.takeWrites();
      assert.deepEqual([...new Set(writes)], ['edit PodSet/one'], id);
      assert.deepEqual(claimsOf(harness), ['note ConfigMap default/target']);
    }
    forge(harness, ['other/status Service default/victim']);
    harness.remove(one);
    await harness.settle();
    assert.equal(podSet(harness), undefined);
    assert.ok(!harness.cluster.takeWrites().includes('status Service/victim'));
  });

  test('one without the name of an object leads to nothing', async () => {
    const { harness } = await applied();
    harness.cluster.takeWrites();
    const names = ['default/..', '../target', 'default/a%2fb', 'DEFAULT/target', 'default/a b'];
    forge(
      harness,
      names.map((name) => `note ConfigMap ${name}`),
    );
    let reads = 0;
    harness.cluster.onRequest = ({ verb }) => {
      if (verb === 'get') reads += 1;
    };
    await harness.settle();
    assert.equal(reads, 0);
    assert.deepEqual(dataOf(harness), { mine: 'yes', size: '3' });
  });

  test('a finalizer that was removed is set again', async () => {
    const { harness, one } = await applied();
    editMetadata(harness, { finalizers: [] });
    await harness.settle();
    assert.deepEqual(podSet(harness)?.metadata.finalizers, [finalizer]);
    harness.remove(one);
    await harness.settle();
    assert.deepEqual(dataOf(harness), { mine: 'yes' });
    assert.equal(podSet(harness), undefined);
  });

  test('too many are reported, and lead to no read', async () => {
    const { harness, one } = await applied();
    forge(
      harness,
      Array.from({ length: 3_000 }, (_, index) => `a${index} Secret default/none`),
    );
    let reads = 0;
    harness.cluster.onRequest = ({ verb }) => {
      if (verb === 'get') reads += 1;
    };
    await harness.settle();
    assert.equal(reads, 0);
    assert.match(
      harness.ready('one'),
      /Expected at most 500 entries in "patched.homeostat.dev\/podset", found 3001/,
    );
    harness.remove(one);
    await harness.settle();
    assert.equal(reads, 0);
    editMetadata(harness, {
      annotations: { [annotation]: '{"note ConfigMap default/target":"x"}' },
    });
    await harness.settle();
    assert.deepEqual(dataOf(harness), { mine: 'yes' });
  });

  test('a patch that is no longer owned keeps its fields, without a moment in which they are missing', async () => {
    const { harness, one } = await applied();
    const seen = new Set<unknown>();
    harness.cluster.server.subscribe(() => seen.add((dataOf(harness) as { size?: string })?.size));
    await harness.restart(planOfPodSet(note('')));
    await harness.settle();
    assert.deepEqual(claimsOf(harness), []);
    assert.deepEqual([...seen], ['3']);
    harness.cluster.takeWrites();
    await harness.runOne('default/one');
    assert.deepEqual(harness.cluster.takeWrites(), []);
    harness.remove(one);
    await harness.settle();
    assert.deepEqual(dataOf(harness), { mine: 'yes', size: '3' });
  });
});

test('the manager of a patch is that of one resource, whatever the id', () => {
  const mine = ownedPatchManagerOf('podset', 'note', 'default/one');
  for (const id of [
    'note',
    'note\ndefault/one',
    `note${' '.repeat(200)}`,
    `note/${mine.slice(-16)}`,
  ])
    assert.notEqual(ownedPatchManagerOf('podset', id, 'default/two'), mine);
});
