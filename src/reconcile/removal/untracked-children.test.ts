import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  deletePodSet,
  deletionWorld,
  farChild,
  podSetOf,
} from '../../../test/support/fakes/deletion-world.ts';
import { OperatorWorld } from '../../../test/support/fakes/operator-world.ts';
import { planOfPodSet } from '../../../test/support/podset-text.ts';
import { KubeError } from '../../kube/roles.ts';
import { gvkOf } from '../../util/gvk.ts';

const key = 'default/a';
const forbidden = new KubeError('forbidden', 'no get', { status: 403 });

describe('reconcile/removal: what no watch reports and nobody can be asked for', () => {
  /** The far child has left its watch, and from then on every request for one is answered so. */
  async function lost(error: KubeError): Promise<OperatorWorld> {
    const { world } = await deletionWorld({ children: [farChild('far')] });
    const far = world.cluster.server.get(gvkOf('v1', 'ConfigMap'), 'other', 'far')?.object;
    assert.ok(far);
    world.cluster.fault = ({ kind }) => (kind === 'ConfigMap' ? error : undefined);
    world.remove(far);
    await world.settle();
    await deletePodSet(world);
    return world;
  }

  test('is not there where its kind is not served', async () => {
    const world = await lost(new KubeError('kind-missing', 'x', { status: 404 }));
    assert.equal(podSetOf(world), undefined);
  });

  test('keeps its resource otherwise, which says why', async () => {
    const world = await lost(forbidden);
    assert.ok(podSetOf(world));
    assert.equal(world.ready('a'), 'False Forbidden: ConfigMap "far": no get');
    world.cluster.fault = () => undefined;
    await world.runOne(key);
    await world.settle();
    assert.equal(podSetOf(world), undefined);
  });

  test('is reported by its pass, which continues with all the rest', async () => {
    const plan = planOfPodSet(`
  children:
    - id: maps
      forEach: \${ spec.items }
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "m-\${ $item }" } }
    - id: other
      template: { apiVersion: v1, kind: Secret, metadata: { name: "s-\${ spec.s }" } }`);
    const world = new OperatorWorld(plan);
    await world.start();
    const podSet = world.podSet('a', { items: ['x', 'y'], s: 'one' });
    await world.settle();
    const gone = world.get('v1', 'ConfigMap', 'm-y');
    assert.ok(gone);
    world.cluster.fault = ({ verb, kind }) =>
      verb === 'get' && kind === 'ConfigMap' ? forbidden : undefined;
    world.remove(gone);
    world.edit(podSet, { spec: { items: ['x'], s: 'two' } });
    await world.settle();
    assert.deepEqual(world.names('v1', 'Secret'), ['s-two']);
    assert.equal(world.ready('a'), 'False Forbidden: maps "m-y": no get');
    assert.equal(world.passes.at(-1)?.end.kind, 'failed');
  });
});
