import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';
import { planOfPodSet } from '../../../../test/support/podset-text.ts';

const key = 'default/one';
const body = `
  reads: [{ id: source, apiVersion: v1, kind: Secret, name: source, optional: true }]
  children:
    - id: config
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }" } }
  status: { isThere: "\${ $exists(reads.source) }" }
`;
const plan = () => planOfPodSet(body);

function pause(harness: OperatorHarness, object: KubeObject, spec?: object): void {
  const { metadata } = harness.get(object.apiVersion, object.kind, object.metadata.name) ?? object;
  const annotations = { ...metadata.annotations, 'homeostat.dev/paused': 'true' };
  harness.edit(object, { metadata: { ...metadata, annotations }, ...(spec && { spec }) });
}

async function started() {
  const harness = new OperatorHarness(plan());
  await harness.start();
  const one = harness.podSet('one', { size: 1 });
  await harness.settle();
  return { harness, one };
}

describe('reconcile/run routes', () => {
  test('a paused resource whose definition keeps no versions reads nothing', async () => {
    const { harness, one } = await started();
    pause(harness, one);
    await harness.restart(plan());
    await harness.settle();
    assert.match(harness.ready('one'), /^False Paused/);
    assert.ok(!harness.cluster.watched.some(({ gvk }) => gvk.kind === 'Secret'));
  });

  test('a paused resource counts as not ready', async () => {
    const { harness, one } = await started();
    assert.deepEqual(harness.operator.readiness(), { ready: 1, unready: 0, unknown: 0 });
    pause(harness, one);
    await harness.settle();
    assert.deepEqual(harness.operator.readiness(), { ready: 0, unready: 1, unknown: 0 });
  });

  test('the pause is reported again when its status could not be written', async () => {
    const { harness, one } = await started();
    pause(harness, one);
    harness.cluster.fault = ({ verb }) =>
      verb === 'status' ? new KubeError('unavailable', 'no', { status: 503 }) : undefined;
    harness.deliver();
    assert.equal((await harness.runOne(key)).kind, 'error');
    harness.cluster.fault = () => undefined;
    await harness.runOne(key);
    assert.match(harness.ready('one'), /^False Paused/);
  });

  test('an edit that comes with the pause is the last one that its status has observed', async () => {
    const { harness, one } = await started();
    pause(harness, one, { size: 2 });
    await harness.settle();
    const observed = () =>
      (harness.status('one').conditions as readonly Record<string, unknown>[]).find(
        ({ type }) => type === 'Ready',
      )?.observedGeneration;
    assert.equal(observed(), 2);
    harness.edit(one, { spec: { size: 3 } });
    await harness.settle();
    assert.equal(observed(), 2);
  });
});
