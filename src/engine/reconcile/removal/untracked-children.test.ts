import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import { gvkOf } from '#util/gvk.ts';
import {
  deletePodSet,
  deletionHarness,
  farChild,
  podSetOf,
} from '../../../../test/support/fakes/deletion-harness.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';
import { planOfPodSet } from '../../../../test/support/podset-text.ts';

const key = 'default/a';
const forbidden = new KubeError('forbidden', 'no get', { status: 403 });

describe('reconcile/removal: what no watch reports and no one can be asked for', () => {
  /** The far child has left its watch, and from then on every request for one is answered so. */
  async function lost(error: KubeError): Promise<OperatorHarness> {
    const { harness } = await deletionHarness({ children: [farChild('far')] });
    const far = harness.cluster.server.get(gvkOf('v1', 'ConfigMap'), 'other', 'far')?.object;
    assert.ok(far);
    harness.cluster.fault = ({ kind }) => (kind === 'ConfigMap' ? error : undefined);
    harness.remove(far);
    await harness.settle();
    await deletePodSet(harness);
    return harness;
  }

  test('is not there where its kind is not served', async () => {
    const harness = await lost(new KubeError('kind-missing', 'x', { status: 404 }));
    assert.equal(podSetOf(harness), undefined);
  });

  test('keeps its resource otherwise, which says why', async () => {
    const harness = await lost(forbidden);
    assert.ok(podSetOf(harness));
    assert.equal(harness.ready('a'), 'False Forbidden: ConfigMap "far": no get');
    harness.cluster.fault = () => undefined;
    await harness.runOne(key);
    await harness.settle();
    assert.equal(podSetOf(harness), undefined);
  });

  test('is reported by its pass, which continues with all the rest', async () => {
    const plan = planOfPodSet(`
  children:
    - id: maps
      forEach: \${ spec.items }
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "m-\${ $item }" } }
    - id: other
      template: { apiVersion: v1, kind: Secret, metadata: { name: "s-\${ spec.s }" } }`);
    const harness = new OperatorHarness(plan);
    await harness.start();
    const podSet = harness.podSet('a', { items: ['x', 'y'], s: 'one' });
    await harness.settle();
    const gone = harness.get('v1', 'ConfigMap', 'm-y');
    assert.ok(gone);
    harness.cluster.fault = ({ verb, kind }) =>
      verb === 'get' && kind === 'ConfigMap' ? forbidden : undefined;
    harness.remove(gone);
    harness.edit(podSet, { spec: { items: ['x'], s: 'two' } });
    await harness.settle();
    assert.deepEqual(harness.names('v1', 'Secret'), ['s-two']);
    assert.equal(harness.ready('a'), 'False Forbidden: maps "m-y": no get');
    assert.equal(harness.passes.at(-1)?.end.kind, 'failed');
  });
});
