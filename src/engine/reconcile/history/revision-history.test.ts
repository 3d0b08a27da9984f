import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { OperatorPlan, ReadPlan } from '#compile';
import { KubeError } from '#kube/roles.ts';
import { apiVersionOf, type Gvk, gvkOf } from '#util/gvk.ts';
import { createSystemRandom } from '#util/random.ts';
import { recordKeysName, recordManagerOf } from '#util/stored-names.ts';
import { FakeClock, settle } from '../../../../test/support/fake-clock.ts';
import { FakeCluster } from '../../../../test/support/fakes/fake-cluster.ts';
import { types } from '../../../../test/support/fakes/operator-harness.ts';
import { planOfPodSet } from '../../../../test/support/podset-text.ts';
import { freshMetrics, silentLogger } from '../../../../test/support/silent-telemetry.ts';
import { HistoryRecorder } from './history-recorder.ts';
import { type RecordOwner, recordManifest, seriesOf } from './record.ts';
import type { RevisionHistory } from './revision-history.ts';

const revisions = gvkOf('apps/v1', 'ControllerRevision');
const secrets = gvkOf('v1', 'Secret');
const place = { namespace: 'default', name: 'app' };
const key = 'default/a';
const owner: RecordOwner = {
  key,
  uid: 'a',
  resource: {
    apiVersion: 'apps.example.com/v1',
    kind: 'PodSet',
    metadata: { name: 'a', namespace: 'default', uid: 'a' },
  },
};

const planOf = (read: string) => planOfPodSet(`  reads: [{ selector: all, ${read} }]\n`);
const ofConfigs = (history = '{ keep: 5 }') =>
  planOf(`id: configs, apiVersion: v1, kind: ConfigMap, history: ${history}`);
/** Another read, whose versions are stored in the same kind. */
const ofDeployments = planOf('id: apps, apiVersion: apps/v1, kind: Deployment, history: {}');
/** A read of the same id, whose versions are stored in another kind. */
const ofSecrets = planOf(
  'id: configs, apiVersion: v1, kind: Secret, history: { keep: 5, secrets: true }',
);

/** The read keeps no versions, another one does. */
const withoutConfigs = planOfPodSet(`
  reads:
    - { id: configs, apiVersion: v1, kind: ConfigMap, selector: all }
    - { id: apps, apiVersion: apps/v1, kind: Deployment, selector: all, history: {} }
`);

/** A revision of the definition, and its read that keeps versions. */
interface Revision {
  readonly history: RevisionHistory;
  readonly read: ReadPlan;
}

/** A recorder of resource `a`. */
function recorderOf() {
  const cluster = new FakeCluster(types);
  const clock = new FakeClock();
  const enqueued = new Set<string>();
  const recorder = new HistoryRecorder({
    definition: 'podset',
    kind: gvkOf('apps.example.com/v1', 'PodSet'),
    cluster,
    clock,
    logger: silentLogger(),
    metrics: freshMetrics(),
    random: createSystemRandom(),
    clusterNamespace: 'default',
    keysNamespace: 'default',
  });
  const attach = async (plan: OperatorPlan): Promise<Revision> => {
    const read = plan.reads.find(({ history: kept }) => kept !== undefined) ?? assert.fail();
    const history = recorder.attach({
      plan,
      history: plan.history ?? assert.fail(),
      keyOfUid: (uid) => (uid === 'a' ? key : undefined),
      enqueue: (each) => void enqueued.add(each),
      enqueueAll: () => undefined,
    });
    await history.start(new AbortController().signal);
    return { history, read };
  };
  const written = async () => {
    for (let turns = 0; turns < 20; turns++) await settle();
    cluster.deliver();
  };
  /** The resource reads object `app`, which has this value. */
  const see = async ({ history, read }: Revision, value: string, namespace = 'default') => {
    const stored = cluster.server.put({
      apiVersion: apiVersionOf(read.gvk),
      kind: read.gvk.kind,
      metadata: { ...place, namespace },
      data: { value },
    });
    history.observe(owner, read, [stored]);
    await written();
    return stored;
  };
  const count = (gvk: Gvk) =>
    cluster.server
      .list(gvk)
      .filter(({ object }) => object.metadata.labels?.['homeostat.dev/recorded-by'] === 'podset')
      .length;
  const watched = (gvk: Gvk) =>
    cluster.watched.some(
      ({ gvk: { kind }, labelSelector }) => kind === gvk.kind && labelSelector !== undefined,
    );
  return { cluster, clock, enqueued, attach, written, see, count, watched };
}

const versionsOf = ({ history }: Revision) => history.entries('a')?.map(({ version }) => version);

describe('reconcile/history of a revision', () => {
  test('lists the versions of its own reads, whatever another revision lists', async () => {
    const { attach, see } = recorderOf();
    const one = await attach(ofConfigs());
    const other = await attach(ofDeployments);
    await see(one, '1');
    await see(one, '2');
    assert.deepEqual(versionsOf(one), [1]);
    assert.deepEqual(versionsOf(other), []);
    assert.deepEqual(versionsOf(one), [1]);
    assert.equal(one.history.entries('a'), one.history.entries('a'), 'the same list');
  });

  test('lists nothing of a name whose newest version is of another kind', async () => {
    const { attach, see } = recorderOf();
    const one = await attach(ofConfigs());
    await see(one, '1');
    await see(one, '2');
    const other = await attach(
      planOf('id: configs, apiVersion: apps/v1, kind: Deployment, history: {}'),
    );
    await see(other, '3');
    assert.deepEqual([versionsOf(one), versionsOf(other)], [[], []]);
    await see(other, '4');
    assert.deepEqual([versionsOf(one), versionsOf(other)], [[], [3]]);
  });

  test('lists nothing of other namespaces that its read does not reach any more', async () => {
    const { attach, see } = recorderOf();
    const wide = await attach(
      planOf(
        'id: configs, apiVersion: v1, kind: ConfigMap, crossNamespace: { namespaces: [other] }, namespaces: [other], history: {}',
      ),
    );
    await see(wide, '1', 'other');
    await see(wide, '2', 'other');
    const own = await attach(ofConfigs());
    assert.deepEqual([versionsOf(wide), versionsOf(own)], [[1], []]);
  });

  test('versions of a kind that it does not watch any more are not known', async () => {
    const { attach, see } = recorderOf();
    const one = await attach(ofConfigs());
    const other = await attach(ofSecrets);
    await see(one, '1');
    assert.deepEqual(versionsOf(other), []);
    other.history.stop();
    assert.equal(versionsOf(other), undefined);
    assert.deepEqual(versionsOf(one), []);
  });

  test('versions that were deleted while no revision watched them do not come back', async () => {
    const { attach, see, cluster } = recorderOf();
    await attach(ofConfigs());
    const before = await attach(ofSecrets);
    await see(before, '1');
    await see(before, '2');
    assert.deepEqual(versionsOf(before), [1]);
    before.history.stop();
    for (const { object } of cluster.server.list(secrets))
      if (object.metadata.labels?.['homeostat.dev/recorded-by'] !== undefined)
        cluster.server.delete(secrets, { namespace: 'default', name: object.metadata.name });
    const after = await attach(ofSecrets);
    assert.deepEqual(versionsOf(after), []);
  });

  test('deletes what its reads do not keep, but only of the kinds in which it stores versions', async () => {
    const { attach, see } = recorderOf();
    const one = await attach(ofConfigs());
    const sameKind = await attach(ofDeployments);
    const otherKind = await attach(ofSecrets);
    await see(one, '1');
    await see(one, '2');
    const removable = ({ history }: Revision) => history.removable('a').length;
    assert.deepEqual([one, sameKind, otherKind].map(removable), [0, 2, 0]);
  });

  test('knows an object as recorded only by a read that keeps versions of its kind', async () => {
    const { attach, see } = recorderOf();
    const one = await attach(ofConfigs());
    const other = await attach(ofSecrets);
    await see(one, '1');
    const isRecorded = ({ history, read }: Revision) => history.isRecorded('a', read, place);
    assert.equal(isRecorded(one), true);
    assert.equal(isRecorded(other), false);
    assert.equal(one.history.isRecorded('a', one.read, { ...place, name: 'other' }), false);
    assert.equal(one.history.keeps(one.read), true);
    const { history: _, ...without } = one.read;
    assert.equal(one.history.keeps(without), false);
  });

  test('stops once: what others watch is watched until each of them has stopped', async () => {
    const { attach, watched } = recorderOf();
    const [one, two, three] = [
      await attach(ofConfigs()),
      await attach(ofConfigs()),
      await attach(ofSecrets),
    ];
    one.history.stop();
    one.history.stop();
    assert.equal(watched(revisions), true);
    two.history.stop();
    assert.deepEqual([watched(revisions), watched(secrets)], [false, true]);
    three.history.stop();
    assert.equal(watched(secrets), false);
  });
});

describe('reconcile/history of a state that is about to be overwritten', () => {
  /** A restore overwrites object `app`, which has value 1. */
  async function overwritten({ attach, cluster }: ReturnType<typeof recorderOf>) {
    const { history, read } = await attach(ofConfigs());
    const live = cluster.server.put({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: place,
      data: { value: '1' },
    });
    history.entries('a');
    return () => history.ensureRecorded(owner, read, { ...place, live });
  }

  test('is not recorded while the versions cannot be listed', async () => {
    const recorder = recorderOf();
    recorder.cluster.block('ControllerRevision', new KubeError('forbidden', 'no', { status: 403 }));
    const record = await overwritten(recorder);
    const problem = await record();
    assert.equal(problem?.message, 'no');
    assert.equal(recorder.count(revisions), 0);
  });

  test('is not recorded before there are keys', async () => {
    const recorder = recorderOf();
    const held = Promise.withResolvers<void>();
    recorder.cluster.pace = async ({ kind }) => {
      if (kind === 'Secret') await held.promise;
    };
    const record = await overwritten(recorder);
    const problem = await record();
    assert.equal(problem?.message, 'Waiting for the stored versions');
    assert.equal(recorder.count(revisions), 0);
    held.resolve();
    await recorder.written();
    assert.equal(await record(), undefined);
    assert.equal(recorder.count(revisions), 1);
  });

  test('is not recorded before the versions of an earlier release are signed', async () => {
    const recorder = recorderOf();
    putKeys(recorder);
    putUnsigned(recorder, '2025-12-31T00:00:00Z');
    const record = await overwritten(recorder);
    const problem = await record();
    assert.equal(problem?.message, 'Waiting for the stored versions');
    assert.equal(recorder.count(revisions), 1);
  });
});

/** Keys of 2026-01-01. */
function putKeys({ cluster }: ReturnType<typeof recorderOf>): void {
  cluster.server.put({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: recordKeysName,
      namespace: 'default',
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    data: { 1: btoa('k'.repeat(43)) },
  });
}

/** A version of object `app` without a signature. */
function putUnsigned({ cluster }: ReturnType<typeof recorderOf>, creationTimestamp: string) {
  const manifest = recordManifest({
    definition: 'podset',
    owner,
    readId: 'configs',
    version: 1,
    state: { apiVersion: 'v1', kind: 'ConfigMap', metadata: place, data: { value: '0' } },
    uid: 'x',
    series: seriesOf('podset', { ownerUid: 'a', readId: 'configs', ...place }),
    now: creationTimestamp,
    clusterNamespace: 'default',
  });
  const { resourceVersion: _, ...metadata } = manifest.metadata;
  cluster.server.apply({
    manifest: { ...manifest, metadata: { ...metadata, creationTimestamp } },
    manager: recordManagerOf('podset'),
    force: true,
    status: false,
  });
  return { namespace: 'default', name: metadata.name };
}

describe('reconcile/history of records that are not authentic', () => {
  const ignored = ({ cluster }: ReturnType<typeof recorderOf>) =>
    cluster.reported.filter(({ reason }) => reason === 'HistoryIgnored').length;

  test('versions are not known while those of an earlier release are not signed', async () => {
    const recorder = recorderOf();
    putKeys(recorder);
    putUnsigned(recorder, '2025-12-31T00:00:00Z');
    assert.equal(versionsOf(await recorder.attach(ofConfigs())), undefined);
  });

  test('one that was deleted is not reported', async () => {
    const recorder = recorderOf();
    putKeys(recorder);
    const ref = putUnsigned(recorder, '2026-01-02T00:00:00Z');
    const { history, read } = await recorder.attach(ofConfigs());
    assert.deepEqual(history.entries('a'), []);
    recorder.cluster.server.delete(revisions, ref);
    recorder.cluster.deliver();
    history.observe(owner, read, []);
    assert.equal(ignored(recorder), 0);
    putUnsigned(recorder, '2026-01-02T00:00:00Z');
    recorder.cluster.deliver();
    history.observe(owner, read, []);
    assert.equal(ignored(recorder), 1);
  });

  test('those with a namespace do not count when their kind has none any more', async () => {
    const { cluster, attach, see } = recorderOf();
    const one = await attach(ofConfigs());
    const resourceFor = cluster.resourceFor.bind(cluster);
    cluster.resourceFor = (gvk) => {
      const found = resourceFor(gvk);
      return found && gvk.kind === 'ConfigMap' ? { ...found, namespaced: false } : found;
    };
    await see(one, '1');
    await see(one, '2');
    assert.deepEqual(versionsOf(one), []);
  });
});

describe('reconcile/history of a resource that gets another revision', () => {
  test('is recorded by the reads of that revision', async () => {
    const { attach, see, count } = recorderOf();
    const before = await attach(ofConfigs());
    await see(before, '1');
    const after = await attach(ofConfigs('{ keep: 5, onChange: [data.other] }'));
    await see(after, '2');
    assert.equal(count(revisions), 1, 'no field has changed whose changes count');
  });

  for (const [what, next] of [
    ['is of another kind', ofSecrets],
    ['keeps no versions', withoutConfigs],
  ] as const)
    test(`what waits is dropped if its read ${what} now`, async () => {
      const { attach, see, cluster, clock, written } = recorderOf();
      const before = await attach(ofConfigs());
      await see(before, '1');
      cluster.fault = ({ kind }) =>
        kind === 'ControllerRevision'
          ? new KubeError('unavailable', 'no', { status: 503 })
          : undefined;
      await see(before, '2');
      const after = await attach(next);
      after.history.observe(owner, after.read, []);
      cluster.fault = () => undefined;
      await clock.advance(60_000);
      await written();
      const [{ object } = assert.fail(), ...others] = cluster.server.list(revisions);
      assert.deepEqual([object.revision, others], [1, []]);
    });

  /** Its object was deleted; the versions of it expire after 10 h. */
  async function deleted() {
    const recorder = recorderOf();
    const { attach, see, cluster, written } = recorder;
    const before = await attach(ofConfigs('{ keepDeleted: 10h }'));
    const old = await see(before, '1');
    cluster.server.delete(gvkOf('v1', 'ConfigMap'), place);
    before.history.noteEvent(key, before.read, { ...place, old, initial: false });
    await written();
    recorder.enqueued.clear();
    return { ...recorder, before };
  }

  test('versions of a deleted object expire at the time of that revision', async () => {
    const { attach, clock, enqueued } = await deleted();
    const after = await attach(ofConfigs('{ keepDeleted: 1h }'));
    after.history.observe(owner, after.read, []);
    await clock.advance(3_590_000);
    assert.ok(!enqueued.has(key));
    await clock.advance(20_000);
    assert.ok(enqueued.has(key));
  });

  test('versions of a resource that is forgotten do not enqueue it when they expire', async () => {
    const { before, clock, enqueued } = await deleted();
    await before.history.forget(key);
    await clock.advance(36_010_000);
    assert.ok(!enqueued.has(key));
  });

  test('a version whose name is taken has no other name once the resource is forgotten', async () => {
    const { attach, see, cluster, count } = recorderOf();
    const one = await attach(ofConfigs());
    let forgotten: Promise<void> | undefined;
    cluster.pace = async ({ verb, kind, name, when }) => {
      if (verb !== 'apply' || kind !== revisions.kind || when !== 'before') return;
      cluster.pace = undefined;
      const metadata = { name, namespace: 'default' };
      cluster.server.put({ apiVersion: 'apps/v1', kind, metadata, revision: 1 });
      forgotten = one.history.forget(key);
    };
    await see(one, '1');
    await forgotten;
    assert.equal(cluster.server.list(revisions).length, 1, 'it is tried');
    assert.equal(count(revisions), 0);
  });
});
