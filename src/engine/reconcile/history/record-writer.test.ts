import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { createSystemRandom } from '#util/random.ts';
import { FakeClock, settle } from '../../../../test/support/fake-clock.ts';
import { FakeCluster } from '../../../../test/support/fakes/fake-cluster.ts';
import { types } from '../../../../test/support/fakes/operator-harness.ts';
import { planOfPodSet } from '../../../../test/support/podset-text.ts';
import { freshMetrics, silentLogger } from '../../../../test/support/silent-telemetry.ts';
import { HistoryRecorder } from './history-recorder.ts';
import type { RecordOwner } from './record.ts';
import type { HistoryLimits } from './record-writer.ts';

const plan = planOfPodSet(`
  reads:
    - { id: configs, apiVersion: v1, kind: ConfigMap, selector: all, history: { keep: 100 } }
`);
const [read = assert.fail()] = plan.reads;
const { history = assert.fail() } = plan;

const revisions = gvkOf('apps/v1', 'ControllerRevision');
const unlimited = { count: Infinity, sizeBytes: Infinity };
/** More than the JSON of an object with an empty value, and less than with 100 characters more. */
const objectBytes = 200;

/** A recorder of two resources, `a` and `b`, that both read all ConfigMaps. */
async function started(limits: Partial<HistoryLimits>) {
  const cluster = new FakeCluster(types);
  const clock = new FakeClock();
  const definition = new HistoryRecorder({
    definition: plan.name,
    kind: plan.definition.kind.gvk,
    cluster,
    clock,
    logger: silentLogger(),
    metrics: freshMetrics(),
    random: createSystemRandom(),
    clusterNamespace: 'default',
    keysNamespace: 'default',
    limits: { objectBytes: Infinity, resource: unlimited, definition: unlimited, ...limits },
  });
  const recorder = definition.attach({
    plan,
    history,
    keyOfUid: () => undefined,
    enqueue: () => undefined,
    enqueueAll: () => undefined,
  });
  await recorder.start(new AbortController().signal);
  const see = async (owner: string, name: string, value: string, namespace = 'default') => {
    const stored = cluster.server.put({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace },
      data: { value },
    });
    await clock.advance(1_000);
    recorder.observe(ownerOf(owner), read, [stored]);
    for (let turns = 0; turns < 20; turns++) await settle();
    cluster.deliver();
    return stored;
  };
  /** `owner name value`, in the order of creation. */
  const records = () =>
    cluster.server.list(revisions).map(({ object: { data, metadata } }) => {
      const object = data as unknown as KubeObject;
      const { value } = object.data as { readonly value: string };
      return `${metadata.labels?.['homeostat.dev/record-of']} ${object.metadata.name} ${value.trim()}`;
    });
  return { recorder, see, records };
}

function ownerOf(uid: string): RecordOwner {
  const metadata = { name: uid, namespace: 'default', uid };
  const resource = { apiVersion: 'apps.example.com/v1', kind: 'PodSet', metadata };
  return { key: `default/${uid}`, uid, resource };
}

const long = (value: string) => value.padEnd(100);

describe('reconcile/history limits', () => {
  test('an object over the limit of its size is not recorded and is reported, until it is smaller', async () => {
    const { recorder, see, records } = await started({ objectBytes });
    await see('a', 'x', '1');
    const live = await see('a', 'x', 'y'.repeat(200));
    assert.deepEqual(records(), ['a x 1']);
    const [problem] = recorder.problems('default/a');
    assert.equal(problem?.reason, 'LimitReached');
    assert.equal(
      problem?.message,
      'history of ConfigMap "x": is larger than 1 MiB and is not recorded',
    );
    const object = { namespace: 'default', name: 'x', live };
    const rejected = await recorder.ensureRecorded(ownerOf('a'), read, object);
    assert.equal(rejected?.reason, 'LimitReached', 'a restore does not overwrite it');
    await see('a', 'x', '2');
    assert.deepEqual(records(), ['a x 1', 'a x 2']);
    assert.deepEqual(recorder.problems('default/a'), []);
  });

  test('beyond the number of a resource its oldest record is deleted, of whichever object, and none of another resource', async () => {
    const { see, records } = await started({ resource: { ...unlimited, count: 4 } });
    await see('b', 'x', '0');
    await see('a', 'x', '1');
    await see('a', 'y', '1');
    await see('a', 'x', '2');
    await see('a', 'y', '2');
    await see('a', 'y', '3');
    assert.deepEqual(records(), ['b x 0', 'a y 1', 'a x 2', 'a y 2', 'a y 3']);
  });

  test('the newest record of an object is never deleted: a further object is not recorded, and nothing is deleted for it', async () => {
    const { recorder, see, records } = await started({ resource: { ...unlimited, count: 2 } });
    await see('a', 'x', '1');
    await see('a', 'y', '1');
    const live = await see('a', 'z', '1');
    assert.deepEqual(records(), ['a x 1', 'a y 1']);
    assert.match(recorder.problems('default/a')[0]?.message ?? '', /"z": is not recorded/);
    const object = { namespace: 'default', name: 'z', live };
    const rejected = await recorder.ensureRecorded(ownerOf('a'), read, object);
    assert.equal(rejected?.reason, 'LimitReached');
  });

  test('the objects of another namespace take no room of a resource', async () => {
    const { see, records } = await started({ resource: { ...unlimited, count: 2 } });
    await see('a', 'x', '1');
    for (const name of ['y', 'z', 'w']) await see('a', name, '1', 'other');
    await see('a', 'x', '2');
    assert.deepEqual(records(), ['a x 1', 'a y 1', 'a z 1', 'a x 2']);
  });

  test('beyond the limit of the definition, versions of the namespace that uses most are deleted first', async () => {
    const { see, records } = await started({ definition: { ...unlimited, count: 4 } });
    await see('a', 'x', '1');
    await see('a', 'x', '2');
    for (const value of ['1', '2']) await see('a', 'y', long(value), 'other');
    await see('a', 'x', '3');
    assert.deepEqual(records(), ['a x 1', 'a x 2', 'a y 2', 'a x 3']);
  });

  test('beyond the bytes of a resource as many of the oldest are deleted as are needed', async () => {
    const { see, records } = await started({ resource: { ...unlimited, sizeBytes: 500 } });
    for (const value of ['1', '2', '3', '4']) await see('a', 'x', value);
    assert.deepEqual(records(), ['a x 1', 'a x 2', 'a x 3', 'a x 4']);
    await see('a', 'x', long('5'));
    assert.deepEqual(records(), ['a x 3', 'a x 4', 'a x 5']);
  });

  test('nothing is deleted for a state for which that would not be enough', async () => {
    const { recorder, see, records } = await started({
      resource: { ...unlimited, sizeBytes: 450 },
    });
    await see('a', 'x', '1');
    await see('a', 'x', '2');
    await see('a', 'y', '1');
    await see('a', 'y', 'y'.repeat(300));
    assert.deepEqual(records(), ['a x 1', 'a x 2', 'a y 1']);
    assert.equal(recorder.problems('default/a')[0]?.reason, 'LimitReached');
  });

  test('beyond the bytes of the definition the oldest record of all its resources is deleted', async () => {
    const { see, records } = await started({ definition: { ...unlimited, sizeBytes: 500 } });
    await see('b', 'x', '1');
    await see('b', 'x', '2');
    await see('a', 'y', '1');
    await see('a', 'y', '2');
    await see('a', 'y', '3');
    assert.deepEqual(records(), ['b x 2', 'a y 1', 'a y 2', 'a y 3']);
  });
});
