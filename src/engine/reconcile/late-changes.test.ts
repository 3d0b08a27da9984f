import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import { settle } from '../../../test/support/fake-clock.ts';
import { FakeWatch } from '../../../test/support/fakes/fake-informer.ts';
import { planOf } from '../../../test/support/fakes/handmade-plan.ts';
import { OperatorHarness } from '../../../test/support/fakes/operator-harness.ts';
import { podSetPlan } from '../../../test/support/fakes/podset-plan.ts';

const key = 'default/a';
const podSet = ['apps.example.com/v1', 'PodSet', 'a'] as const;
const deployment = ['apps/v1', 'Deployment', 'a'] as const;

/** A PodSet whose first pass has not run, and `act` done in the moment in which the server gets its status write. */
async function duringStatusWrite(
  act: (harness: OperatorHarness) => void,
): Promise<OperatorHarness> {
  const harness = new OperatorHarness(podSetPlan());
  await harness.start();
  harness.podSet('a', { size: 3 });
  await settle();
  harness.cluster.deliver();
  let isDone = false;
  harness.cluster.fault = ({ verb }) => {
    if (verb === 'status' && !isDone) {
      isDone = true;
      act(harness);
    }
    return undefined;
  };
  await harness.runOne(key);
  await harness.settle();
  return harness;
}

function replicas(harness: OperatorHarness): unknown {
  return (harness.get(...deployment)?.spec as { replicas?: number } | undefined)?.replicas;
}

describe('reconcile: changes that come with the answer to our own write', () => {
  test('an edit that the answer of the status write carries is not missed', async () => {
    const harness = await duringStatusWrite((during) => {
      const resource = during.get(...podSet);
      assert.ok(resource);
      during.edit(resource, { spec: { size: 5 } });
    });
    assert.equal(replicas(harness), 5);
    assert.equal(harness.status('a').observedGeneration, 2);
  });

  test('a successor of the same name, which the status write has hit, is reconciled', async () => {
    const harness = await duringStatusWrite((during) => {
      const resource = during.get(...podSet);
      assert.ok(resource);
      during.remove(resource);
      during.podSet('a', { size: 7 });
    });
    const { uid } = harness.get(...podSet)?.metadata ?? {};
    assert.ok(harness.passes.length > 1, 'the successor never ran');
    assert.notEqual(uid, undefined);
  });

  test('a resource that was deleted during its status write leaves nothing behind', async () => {
    const harness = await duringStatusWrite((during) => {
      const resource = during.get(...podSet);
      assert.ok(resource);
      during.remove(resource);
    });
    assert.ok(harness.passes.length > 1, 'no reconcile ran again, so that nothing was lost');
    assert.equal(harness.operator.instances, 0);
  });
});

describe('reconcile: what only seems to be gone', () => {
  test('a kind that one server of several does not serve yet is tried again', async () => {
    const harness = new OperatorHarness(podSetPlan());
    await harness.start();
    let failures = 0;
    harness.cluster.fault = ({ verb }) =>
      verb === 'apply' && failures++ === 0
        ? new KubeError('kind-missing', '404 page not found', { status: 404 })
        : undefined;
    harness.podSet('a', { size: 1 });
    await settle();
    harness.cluster.deliver();
    assert.equal((await harness.runOne(key)).kind, 'error');
  });

  test('a child whose deletion a webhook rejects with 409 is not taken for gone', async () => {
    const harness = new OperatorHarness(
      planOf({
        children: [
          {
            id: 'm',
            apiVersion: 'v1',
            kind: 'ConfigMap',
            when: ({ resource }) => resource.spec.on === true,
            template: () => ({ metadata: { name: 'm' } }),
          },
        ],
      }),
    );
    await harness.start();
    const resource = harness.podSet('a', { on: true });
    await harness.settle();
    harness.cluster.fault = ({ verb }) =>
      verb === 'delete'
        ? new KubeError('conflict', 'denied by a webhook', { status: 409 })
        : undefined;
    harness.edit(resource, { spec: { on: false } });
    await settle();
    harness.cluster.deliver();
    assert.equal((await harness.runOne(key)).kind, 'error');
    assert.match(harness.ready('a'), /ApplyFailed/);
    assert.deepEqual(harness.names('v1', 'ConfigMap'), ['m']);
  });

  test('a resource that was unstable and settles says so', async () => {
    const cap = 9;
    const numberOf = (status: unknown) => Number((status as { n?: number } | undefined)?.n ?? 0);
    const harness = new OperatorHarness(
      planOf({
        children: [],
        status: { n: ({ resource }) => Math.min(numberOf(resource.status) + 1, cap) },
        statusPathsRead: [['status', 'n']],
      }),
    );
    await harness.start();
    harness.podSet('a');
    await harness.settle();
    const said: string[] = [];
    for (let tries = 0; tries < cap && harness.passes.at(-1)?.end.kind === 'requeue'; tries++) {
      await harness.clock.advance(10_000);
      await harness.runOne(key);
      said.push(harness.ready('a'));
      await harness.settle();
    }
    assert.ok(said.some((ready) => ready.includes('Unstable')));
    assert.equal(harness.status('a').n, cap);
    assert.match(harness.ready('a'), /AllReady/);
  });

  test('two status fields that take turns for ever are slowed down', async () => {
    const of = (status: unknown, field: 'a' | 'b') =>
      Number((status as Record<string, number> | undefined)?.[field] ?? 0);
    const harness = new OperatorHarness(
      planOf({
        status: {
          a: ({ resource: { status } }) => of(status, 'b') + 1,
          b: ({ resource: { status } }) => of(status, 'a'),
        },
        statusPathsRead: [
          ['status', 'a'],
          ['status', 'b'],
        ],
      }),
    );
    await harness.start();
    harness.podSet('a');
    await harness.settle();
    assert.ok(harness.passes.length < 40, `${harness.passes.length} passes`);
    assert.equal(harness.passes.at(-1)?.end.kind, 'requeue');
  });

  test('a read that others change in every pass is followed, from the twentieth pass on ever more slowly', async () => {
    const harness = new OperatorHarness(
      planOf({
        reads: [
          {
            id: 'pods',
            apiVersion: 'v1',
            kind: 'Pod',
            labels: () => ({ app: 'a' }),
            watchSelector: 'app',
            indexKey: 'app',
            pathsRead: [['status', 'phase']],
          },
        ],
        status: { phases: (view) => JSON.stringify(view.list('pods').map(({ status }) => status)) },
      }),
    );
    await harness.start();
    harness.podSet('a');
    let changes = 0;
    harness.cluster.fault = ({ verb }) => {
      if (verb !== 'status' || changes === 40) return undefined;
      changes++;
      const metadata = { name: 'p', namespace: 'default', labels: { app: 'a' } };
      harness.cluster.server.put({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata,
        status: { phase: String(changes) },
      });
      harness.cluster.deliver();
      return undefined;
    };
    await harness.settle();
    assert.equal(changes, 20);
    while (harness.passes.at(-1)?.end.kind === 'requeue') {
      await harness.clock.advance(10_000);
      await harness.runOne(key);
      await harness.settle();
    }
    assert.match(String(harness.status('a').phases), /40/);
    assert.match(harness.ready('a'), /AllReady/);
  });

  test('a child that is deleted is made again, though a watch by name has not heard of it yet', async () => {
    const harness = new OperatorHarness(podSetPlan());
    await withLateNamedWatches(async (whileLate) => {
      await harness.start();
      const foreign = harness.cluster.server.put({
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'a', namespace: 'default' },
        spec: {},
      }).object;
      harness.podSet('a', { size: 3 });
      await harness.settle();
      harness.remove(foreign);
      await harness.settle();
      const made = harness.get(...deployment);
      assert.ok(made);
      await whileLate(() => {
        harness.remove(made);
        return harness.settle();
      });
      await harness.settle();
      assert.equal(replicas(harness), 3);
    });
  });

  test('a child that is gone is not read as if it were there, though the watch that reads it is behind', async () => {
    const harness = new OperatorHarness(
      planOf({
        reads: [
          { id: 'job', apiVersion: 'v1', kind: 'ConfigMap', name: () => 'm', optional: true },
        ],
        children: [
          {
            id: 'm',
            apiVersion: 'v1',
            kind: 'ConfigMap',
            readsUsed: ['job'],
            // Made once; when it is collected it is not made again.
            when: ({ resource, ...view }) =>
              (resource.status as { made?: boolean } | undefined)?.made !== true ||
              view.read('job') !== undefined,
            template: () => ({ metadata: { name: 'm' } }),
          },
        ],
        status: { made: () => true },
      }),
    );
    await withLateNamedWatches(async (whileLate) => {
      await harness.start();
      harness.podSet('a');
      await harness.settle();
      const made = harness.get('v1', 'ConfigMap', 'm');
      assert.ok(made);
      await whileLate(() => {
        harness.remove(made);
        return harness.settle();
      });
      await harness.settle();
      assert.deepEqual(harness.names('v1', 'ConfigMap'), []);
    });
  });
});

/** Runs `act` with a way to hold back what watches on single objects tell, while those on the kinds are in time. */
async function withLateNamedWatches(
  act: (whileLate: (during: () => Promise<void>) => Promise<void>) => Promise<void>,
): Promise<void> {
  const late: (() => void)[] = [];
  let isLate = false;
  const { tell } = FakeWatch.prototype;
  FakeWatch.prototype.tell = function (event) {
    const hear = () => tell.call(this, event);
    if (isLate && this.query.fieldSelector !== undefined) late.push(hear);
    else hear();
  };
  try {
    await act(async (during) => {
      isLate = true;
      await during();
      isLate = false;
      for (const hear of late.splice(0)) hear();
    });
  } finally {
    FakeWatch.prototype.tell = tell;
  }
}
