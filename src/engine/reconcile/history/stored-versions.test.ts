import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gvkOf } from '#util/gvk.ts';
import { finalizerOf, historyAnnotationOf, recordKeysName } from '#util/stored-names.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';
import { planOfPodSet } from '../../../../test/support/podset-text.ts';

const revisions = gvkOf('apps/v1', 'ControllerRevision');

async function started(body: string): Promise<OperatorHarness> {
  const harness = new OperatorHarness(planOfPodSet(body));
  harness.podSet('one');
  for (const [kind, namespace] of [
    ['Secret', 'default'],
    ['ConfigMap', 'other'],
  ] as const)
    harness.cluster.server.put({
      apiVersion: 'v1',
      kind,
      metadata: { name: 'app', namespace },
      data: { a: 'YQ==' },
    });
  await harness.start();
  await harness.settle();
  return harness;
}

const secrets = `
  reads: [{ id: secrets, apiVersion: v1, kind: Secret, selector: all, history: { keep: 5, secrets: true } }]
  status: { names: "\${ reads.secrets.metadata.name }" }
`;
const elsewhere = `
  reads:
    - id: configs
      apiVersion: v1
      kind: ConfigMap
      selector: all
      crossNamespace: { namespaces: [other] }
      namespaces: [other]
      history: { keep: 5 }
  children: []
`;

describe('reconcile/history stored versions', () => {
  test('a read of Secrets does not return the Secrets with its versions', async () => {
    const harness = await started(secrets);
    const stored = harness.names('v1', 'Secret').filter((name) => name.startsWith('podset-'));
    assert.equal(stored.length, 1, 'a version is stored');
    assert.deepEqual(harness.status('one').names, 'app');
  });

  test('the Secret with the keys is no version, also when it changes', async () => {
    const harness = await started(secrets);
    const keys = harness.get('v1', 'Secret', recordKeysName);
    assert.ok(keys);
    harness.edit(keys, { data: { ...(keys.data as object), 1: btoa('k'.repeat(43)) } });
    await harness.settle();
    const stored = harness.names('v1', 'Secret').filter((name) => name.startsWith('podset-'));
    assert.equal(stored.length, 1);
  });

  const names = (harness: OperatorHarness) =>
    harness.cluster.server.list(revisions).map(({ object }) => object.metadata.namespace);
  const owner = (harness: OperatorHarness) => harness.get('apps.example.com/v1', 'PodSet', 'one');

  test('versions in other namespaces need our finalizer, written once before the first, and are deleted with the resource', async () => {
    const harness = await started(elsewhere);
    assert.deepEqual(names(harness), ['other']);
    const { finalizers, annotations } = owner(harness)?.metadata ?? {};
    assert.deepEqual(finalizers, [finalizerOf('podset')]);
    assert.equal(annotations?.[historyAnnotationOf('podset')], 'ControllerRevision');
    const applies = harness.cluster.takeWrites().filter((write) => write === 'apply PodSet/one');
    assert.equal(applies.length, 1);
    const one = owner(harness);
    assert.ok(one);
    harness.remove(one);
    await harness.settle();
    assert.deepEqual([names(harness), owner(harness)], [[], undefined]);
  });

  test('the reconcile that writes the finalizer records, and so does the first one of a later process', async () => {
    const harness = await started(elsewhere);
    harness.podSet('two');
    await harness.settle();
    assert.deepEqual(names(harness), ['other', 'other']);
    const metadata = { name: 'app', namespace: 'other' };
    harness.cluster.server.put({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata,
      data: { a: 'Yg==' },
    });
    await harness.restart(planOfPodSet(elsewhere));
    await harness.settle();
    assert.equal(names(harness).length, 4);
  });

  test('a definition that keeps none any more keeps the finalizer for those that are stored', async () => {
    const harness = await started(elsewhere);
    await harness.restart(planOfPodSet('  children: []'));
    await harness.settle();
    assert.deepEqual(owner(harness)?.metadata.finalizers, [finalizerOf('podset')]);
    const one = owner(harness);
    assert.ok(one);
    harness.remove(one);
    await harness.settle();
    assert.deepEqual([names(harness), owner(harness)], [[], undefined]);
  });
});
