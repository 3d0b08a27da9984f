import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';
import { planOfPodSet } from '../../../../test/support/podset-text.ts';

const body = `
  children:
    - id: config
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }" } }
  schedule: { every: 30s }
`;

describe('reconcile/run forgotten resource', () => {
  test('a deleted resource does not run any more, though it had a schedule', async () => {
    const harness = new OperatorHarness(planOfPodSet(body));
    await harness.start();
    const one = harness.podSet('one');
    await harness.settle();
    harness.remove(one);
    await harness.settle();
    const before = harness.passes.length;
    assert.equal(harness.passes.at(-1)?.end.due, undefined);
    await harness.clock.advance(120_000);
    await harness.settle();
    assert.equal(harness.passes.length, before);
  });

  test('the right that a deleted resource missed is not reported any more', async () => {
    const harness = new OperatorHarness(planOfPodSet(body));
    const right = { verb: 'create', group: '', resource: 'configmaps', namespace: 'default' };
    harness.cluster.fault = ({ verb, kind }) =>
      verb === 'apply' && kind === 'ConfigMap'
        ? new KubeError('forbidden', 'no', { status: 403, right })
        : undefined;
    await harness.start();
    const one = harness.podSet('one');
    await harness.settle();
    assert.deepEqual(
      harness.operator.problems().map(({ code }) => code),
      ['forbidden'],
    );
    harness.remove(one);
    await harness.settle();
    assert.deepEqual(harness.operator.problems(), []);
  });

  test('what a deleted resource read by name does not enqueue it, and is not watched any more', async () => {
    const reads = '  reads: [{ id: key, apiVersion: v1, kind: Secret, name: key, optional: true }]';
    const harness = new OperatorHarness(planOfPodSet(`${reads}${body}`));
    await harness.start();
    const one = harness.podSet('one');
    await harness.settle();
    const isWatched = () => harness.cluster.watched.some(({ gvk }) => gvk.kind === 'Secret');
    assert.equal(isWatched(), true);
    harness.remove(one);
    await harness.settle();
    const metadata = { name: 'key', namespace: 'default' };
    harness.cluster.server.put({ apiVersion: 'v1', kind: 'Secret', metadata });
    harness.deliver();
    assert.deepEqual([...harness.queued], []);
    await harness.clock.advance(60_000);
    assert.equal(isWatched(), false);
  });
});
