import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import { createSystemRandom } from '#util/random.ts';
import { unlimitedTimeSlicer } from '#util/time-slicer.ts';
import { FakeClock } from '../../../../test/support/fake-clock.ts';
import { ShadowCluster } from '../../../../test/support/fakes/shadow-cluster.ts';
import { freshMetrics, silentLogger } from '../../../../test/support/silent-telemetry.ts';
import { type FinalizeKindsOptions, finalizeKinds } from './finalize-kinds.ts';

const finalizer = 'homeostat.dev/shadow';
const kindOf = (kind: string, group = '') => ({ group, kind });

/** Brings deletions of the definition `shadow` in Secrets to their end, until the test ends. */
async function start(
  t: TestContext,
  cluster: ShadowCluster,
  options: Partial<FinalizeKindsOptions> = {},
) {
  const clock = new FakeClock();
  const stopper = new AbortController();
  const left: number[] = [];
  let isOver = false;
  const ended = finalizeKinds(
    {
      cluster,
      clock,
      random: createSystemRandom(),
      logger: silentLogger(),
      metrics: freshMetrics(),
      timeSlicer: unlimitedTimeSlicer,
      name: 'shadow',
      kinds: { resources: [kindOf('Secret')], children: [kindOf('ConfigMap')] },
      onRemaining: (count) => left.push(count),
      ...options,
    },
    stopper.signal,
  ).then(
    () => {
      isOver = true;
    },
    () => {},
  );
  t.after(async () => {
    stopper.abort(new Error('The test has ended'));
    await ended;
    assert.deepEqual(cluster.watched, []);
    assert.equal(clock.pending, 0);
  });
  await cluster.calm();
  return { clock, left: () => left.at(-1), isOver: () => isOver };
}

/** An object with these finalizers, which is being deleted. */
function leaving(cluster: ShadowCluster, kind: string, metadata: object): void {
  const { name, namespace } = cluster.server.put({
    apiVersion: 'v1',
    kind,
    metadata: { name: 'one', namespace: 'default', ...metadata },
  }).object.metadata;
  cluster.server.delete({ group: '', version: 'v1', kind }, { namespace, name });
}

describe('runtime/finalize/finalize-kinds', () => {
  test('where no resource has the finalizer it is over at once, and nothing is watched any more', async (t) => {
    const cluster = new ShadowCluster();
    cluster.make('Secret');
    leaving(cluster, 'Secret', { name: 'theirs', finalizers: ['example.com/theirs'] });
    const { left, isOver } = await start(t, cluster);
    assert.deepEqual([left(), isOver(), cluster.watched], [0, true, []]);
    assert.ok(cluster.object('Secret', 'theirs'));
    assert.deepEqual(cluster.takeWrites(), []);
  });

  for (const labels of [{ shadowed: 'yes' }, { shadowed: 'no' }, {}])
    test(`what is being deleted with it is deleted, whatever its labels: ${JSON.stringify(labels)}`, async (t) => {
      const cluster = new ShadowCluster();
      leaving(cluster, 'Secret', { labels, finalizers: [finalizer] });
      const { isOver } = await start(t, cluster);
      assert.equal(cluster.object('Secret'), undefined);
      assert.ok(isOver());
    });

  test('one that lives keeps its finalizer, and is waited for', async (t) => {
    const cluster = new ShadowCluster();
    for (const name of ['one', 'two'])
      cluster.server.put({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name, namespace: 'default', finalizers: [finalizer] },
      });
    const { left, isOver } = await start(t, cluster);
    assert.deepEqual([left(), isOver()], [2, false]);
    assert.deepEqual(cluster.takeWrites(), []);
    cluster.remove('Secret', 'one');
    await cluster.calm();
    assert.deepEqual([left(), isOver()], [1, false]);
    cluster.remove('Secret', 'two');
    await cluster.calm();
    assert.deepEqual([left(), isOver()], [0, true]);
  });

  test('a finalizer that another manager takes off is not waited for', async (t) => {
    const cluster = new ShadowCluster();
    const object = cluster.server.put({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'one', namespace: 'default', finalizers: [finalizer] },
    }).object;
    const { isOver } = await start(t, cluster);
    cluster.server.put({ ...object, metadata: { ...object.metadata, finalizers: [] } });
    await cluster.calm();
    assert.ok(isOver());
  });

  test('resources of several kinds are counted together', async (t) => {
    const cluster = new ShadowCluster();
    for (const kind of ['Secret', 'Service'])
      cluster.server.put({
        apiVersion: 'v1',
        kind,
        metadata: { name: 'one', namespace: 'default', finalizers: [finalizer] },
      });
    const resources = [kindOf('Secret'), kindOf('Service')];
    const { left, isOver } = await start(t, cluster, { kinds: { resources, children: [] } });
    assert.equal(left(), 2);
    cluster.remove('Secret');
    await cluster.calm();
    assert.deepEqual([left(), isOver()], [1, false]);
    cluster.remove('Service');
    await cluster.calm();
    assert.ok(isOver());
  });

  test('resources of a kind that is not served went with it', async (t) => {
    const resources = [kindOf('Gone', 'gone.example.com')];
    const { left, isOver } = await start(t, new ShadowCluster(), {
      kinds: { resources, children: [] },
    });
    assert.deepEqual([left(), isOver()], [0, true]);
  });

  test('what cannot be listed is not absent', async (t) => {
    const cluster = new ShadowCluster();
    cluster.block('Secret', new KubeError('forbidden', 'no', { status: 403 }));
    leaving(cluster, 'Secret', { finalizers: [finalizer] });
    const { clock, isOver } = await start(t, cluster);
    await clock.advance(60_000);
    assert.equal(isOver(), false);
    cluster.unblock('Secret');
    await clock.advance(60_000);
    await cluster.calm();
    assert.equal(cluster.object('Secret'), undefined);
    assert.ok(isOver());
  });

  test('elsewhere than where the definition works resources belong to others', async (t) => {
    const cluster = new ShadowCluster();
    leaving(cluster, 'Secret', { namespace: 'other', finalizers: [finalizer] });
    leaving(cluster, 'Secret', { finalizers: [finalizer] });
    const { isOver } = await start(t, cluster, {
      namespaces: { include: ['default'], exclude: [] },
    });
    assert.equal(cluster.object('Secret'), undefined);
    const others = { group: '', version: 'v1', kind: 'Secret' };
    assert.ok(cluster.server.get(others, 'other', 'one'));
    assert.ok(isOver());
  });

  test('what it fails to write is tried again', async (t) => {
    const cluster = new ShadowCluster();
    cluster.fault = () => new KubeError('unavailable', 'later', { status: 503 });
    leaving(cluster, 'Secret', { finalizers: [finalizer] });
    const { clock, isOver } = await start(t, cluster);
    assert.equal(isOver(), false);
    cluster.fault = () => undefined;
    await clock.advance(60_000);
    await cluster.calm();
    assert.ok(isOver());
  });
});
