import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';
import { planOfPodSet } from '../../../../test/support/podset-text.ts';

const body = `
  children:
    - id: config
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }" }
        data: { size: "\${ $string(spec.size) }" }
  status: { size: "\${ spec.size }" }
  conditions: [{ type: Big, status: "\${ spec.size > 1 }" }]
  schedule: { every: 30s }
`;

async function harnessOf(): Promise<OperatorHarness> {
  const harness = new OperatorHarness(planOfPodSet(body));
  await harness.start();
  return harness;
}

function annotate(
  harness: OperatorHarness,
  object: KubeObject,
  annotations: Record<string, string>,
) {
  const now = harness.get(object.apiVersion, object.kind, object.metadata.name) ?? object;
  harness.edit(object, { metadata: { ...now.metadata, annotations } });
}

const size = (harness: OperatorHarness) =>
  (harness.get('v1', 'ConfigMap', 'one')?.data as { size: string } | undefined)?.size;

describe('reconcile/pass paused', () => {
  test('its deletion waits, too: nothing of it is removed', async () => {
    const harness = new OperatorHarness(planOfPodSet(`${body}  onDelete: { order: Reverse }\n`));
    await harness.start();
    const one = harness.podSet('one', { size: 2 });
    await harness.settle();
    annotate(harness, one, { 'homeostat.dev/paused': 'true' });
    await harness.settle();
    harness.remove(one);
    await harness.settle();
    assert.deepEqual(harness.names('v1', 'ConfigMap'), ['one']);
    annotate(harness, one, {});
    await harness.settle();
    assert.deepEqual(harness.names('v1', 'ConfigMap'), []);
  });

  test('a paused resource is left as it is, says so once, and continues when the annotation is removed', async () => {
    const harness = await harnessOf();
    const one = harness.podSet('one', { size: 2 });
    await harness.settle();
    const before = harness.status('one');
    annotate(harness, one, { 'homeostat.dev/paused': 'true' });
    await harness.settle();
    assert.match(harness.ready('one'), /^False Paused: /);
    const { conditions: _now, ...fields } = harness.status('one');
    const { conditions: _then, ...fieldsBefore } = before;
    assert.deepEqual(fields, fieldsBefore);
    harness.cluster.takeWrites();
    harness.edit(one, { spec: { size: 5 } });
    await harness.settle();
    assert.deepEqual(harness.cluster.takeWrites(), []);
    assert.equal(size(harness), '2');
    annotate(harness, one, {});
    await harness.settle();
    assert.equal(size(harness), '5');
    assert.match(harness.ready('one'), /AllReady|Progressing/);
  });

  test('other values of the annotation pause nothing', async () => {
    const harness = await harnessOf();
    const one = harness.podSet('one', { size: 2 });
    annotate(harness, one, { 'homeostat.dev/paused': 'false' });
    await harness.settle();
    assert.equal(size(harness), '2');
  });

  test('its schedule rests', async () => {
    const harness = await harnessOf();
    const one = harness.podSet('one', { size: 2 });
    await harness.settle();
    annotate(harness, one, { 'homeostat.dev/paused': 'true' });
    await harness.settle();
    const before = harness.passes.length;
    await harness.clock.advance(120_000);
    await harness.settle();
    assert.equal(harness.passes.length, before);
  });

  test('a change of homeostat.dev/reconcile-at runs a resource that rests', async () => {
    const harness = await harnessOf();
    const one = harness.podSet('one', { size: 2 });
    await harness.settle();
    const before = harness.passes.length;
    annotate(harness, one, { 'homeostat.dev/reconcile-at': 'now' });
    await harness.settle();
    assert.equal(harness.passes.length, before + 1);
  });

  test('schedule.every runs each resource again, after a pass as well', async () => {
    const harness = await harnessOf();
    harness.podSet('one', { size: 2 });
    await harness.settle();
    const before = harness.passes.length;
    for (let round = 1; round <= 3; round++) {
      await harness.clock.advance(30_000);
      await harness.settle();
      assert.equal(harness.passes.length, before + round);
    }
  });
});
