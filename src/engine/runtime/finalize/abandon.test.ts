import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import { ShadowCluster } from '../../../../test/support/fakes/shadow-cluster.ts';
import { silentLogger } from '../../../../test/support/silent-telemetry.ts';
import { abandonResources } from './finalize-kinds.ts';

const finalizer = 'homeostat.dev/shadow';
const kindOf = (kind: string, group = '') => ({ group, kind });
const kinds = {
  resources: [kindOf('Secret'), kindOf('Gone', 'gone.example.com'), kindOf('Service')],
  children: [kindOf('ConfigMap')],
};

function abandon(cluster: ShadowCluster): Promise<void> {
  const options = { cluster, kinds, name: 'shadow', logger: silentLogger() };
  return abandonResources(options, new AbortController().signal);
}

function put(cluster: ShadowCluster, kind: string, metadata: object): void {
  cluster.server.put({
    apiVersion: 'v1',
    kind,
    metadata: { name: 'one', namespace: 'default', ...metadata },
  });
}

describe('runtime/finalize/abandon', () => {
  test('takes the definition’s finalizer off its resources of all kinds, and changes nothing else', async () => {
    const cluster = new ShadowCluster();
    const others = ['homeostat.dev/other', 'example.com/theirs'];
    const labels = { 'homeostat.dev/definition': 'shadow' };
    put(cluster, 'Secret', { finalizers: [others[0], finalizer, others[1]], labels });
    put(cluster, 'Secret', { name: 'two', finalizers: others });
    put(cluster, 'Service', { finalizers: [finalizer] });
    put(cluster, 'ConfigMap', { finalizers: [finalizer], labels });
    await abandon(cluster);
    assert.deepEqual(cluster.finalizers('Secret'), others);
    assert.deepEqual(cluster.object('Secret')?.metadata.labels, labels);
    assert.deepEqual(cluster.finalizers('Service'), []);
    assert.deepEqual(cluster.finalizers('ConfigMap'), [finalizer]);
    assert.deepEqual(cluster.takeWrites(), ['edit Secret/one', 'edit Service/one']);
    assert.deepEqual(cluster.watched, []);
  });

  test('what is being deleted is finalized then', async () => {
    const cluster = new ShadowCluster();
    put(cluster, 'Secret', { finalizers: [finalizer] });
    cluster.remove('Secret');
    await abandon(cluster);
    assert.equal(cluster.object('Secret'), undefined);
  });

  test('a second time there is nothing to be done', async () => {
    const cluster = new ShadowCluster();
    put(cluster, 'Secret', { finalizers: [finalizer] });
    await abandon(cluster);
    cluster.takeWrites();
    await abandon(cluster);
    assert.deepEqual(cluster.takeWrites(), []);
  });

  for (const [what, break_] of [
    ['listed', (cluster: ShadowCluster, error: KubeError) => cluster.block('Service', error)],
    [
      'written',
      (cluster: ShadowCluster, error: KubeError) => {
        cluster.fault = ({ kind }) => (kind === 'Service' ? error : undefined);
      },
    ],
  ] as const)
    test(`a kind that cannot be ${what} is a failure, after which nothing is watched`, async () => {
      const cluster = new ShadowCluster();
      put(cluster, 'Service', { finalizers: [finalizer] });
      const error = new KubeError('forbidden', 'no', { status: 403 });
      break_(cluster, error);
      await assert.rejects(abandon(cluster), error);
      assert.deepEqual(cluster.watched, []);
    });
});
