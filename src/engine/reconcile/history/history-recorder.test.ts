import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { OperatorPlan } from '#compile';
import { KubeError } from '#kube/roles.ts';
import { gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { settle } from '../../../../test/support/fake-clock.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';
import { planOfPodSet } from '../../../../test/support/podset-text.ts';
import type { Operator } from '../operator.ts';

const revisions = gvkOf('apps/v1', 'ControllerRevision');
const planWith = (history: string) =>
  planOfPodSet(`
  reads:
    - { id: configs, apiVersion: v1, kind: ConfigMap, selector: all, history: ${history} }
  status: { versions: "\${ history.(version & ' ' & object.data.a) }" }
`);

async function started(history = '{ keep: 2 }') {
  const harness = new OperatorHarness(planWith(history));
  harness.podSet('one');
  const edit = (a: string) =>
    harness.cluster.server.put({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'app', namespace: 'default' },
      data: { a },
    }).object;
  edit('1');
  await harness.start();
  await harness.settle();
  return { harness, edit };
}

/** `version value`, with a mark for a deletion. */
function records({ cluster }: OperatorHarness): readonly string[] {
  return cluster.server
    .list(revisions)
    .map(({ object }) => object)
    .sort((a, b) => Number(a.revision) - Number(b.revision))
    .map(({ revision, data, metadata }) => {
      const { a } = (data as unknown as KubeObject).data as { readonly a: string };
      const isDeleted = metadata.annotations?.['homeostat.dev/deleted-at'] !== undefined;
      return `${revision} ${a}${isDeleted ? ' deleted' : ''}`;
    });
}

describe('reconcile/history recorder', () => {
  test('a change is one request, beyond "keep" two; a label that does not count is none', async () => {
    const { harness, edit } = await started();
    const writes = async (a: string) => {
      harness.cluster.takeWrites();
      edit(a);
      await harness.settle();
      const all = harness.cluster.takeWrites();
      return all
        .filter((write) => write.includes('ControllerRevision'))
        .map((write) => write.split(' ')[0]);
    };
    assert.deepEqual(await writes('2'), ['apply']);
    assert.deepEqual(await writes('2'), []);
    assert.deepEqual(await writes('3'), ['apply']);
    assert.deepEqual(await writes('4'), ['apply', 'delete']);
    assert.deepEqual(records(harness), ['2 2', '3 3', '4 4']);
  });

  test('recording is no reconcile: it starts none, and follows each change while one fails', async () => {
    const harness = new OperatorHarness(
      planOfPodSet(`
  reads:
    - { id: configs, apiVersion: v1, kind: ConfigMap, selector: all, history: { keep: 10 } }
  children:
    - id: child
      template: { apiVersion: v1, kind: Secret, metadata: { name: child }, stringData: { a: b } }
`),
    );
    harness.podSet('one');
    harness.cluster.fault = ({ kind, name }) =>
      kind === 'Secret' && name === 'child'
        ? new KubeError('server-error', 'no', { status: 500 })
        : undefined;
    await harness.start();
    await harness.settle();
    const passes = harness.passes.length;
    for (const a of ['1', '2', '3']) {
      const metadata = { name: 'app', namespace: 'default' };
      harness.cluster.server.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a } });
      harness.deliver();
      for (let turns = 0; turns < 20; turns++) await settle();
    }
    assert.deepEqual(records(harness), ['1 1', '2 2', '3 3']);
    const more = harness.passes.length - passes;
    // The first sight of an object is a change of the list.
    assert.ok(more <= 1, `${more} reconciles`);
    assert.match(
      await harness.metrics.expose(),
      /homeostat_history_writes_total\{definition="podset",result="recorded"\} 3\n/,
    );
  });

  test('of an object that is gone nothing is kept in memory when its versions have expired', async () => {
    const { harness, edit } = await started('{ keepDeleted: 1h }');
    harness.remove(edit('2'));
    await harness.settle();
    await harness.clock.advance(3_601_000);
    await harness.settle();
    assert.deepEqual(records(harness), []);
    edit('3');
    await harness.settle();
    assert.deepEqual(records(harness), ['1 3']);
  });

  test('versions of a deleted object expire', async () => {
    const { harness, edit } = await started('{ keepDeleted: 1h }');
    const object = edit('2');
    await harness.settle();
    harness.remove(object);
    await harness.settle();
    assert.deepEqual(records(harness), ['1 1', '2 2 deleted']);
    await harness.clock.advance(3_599_000);
    await harness.settle();
    assert.equal(records(harness).length, 2);
    await harness.clock.advance(2_000);
    await harness.settle();
    assert.deepEqual(records(harness), []);
  });

  test('a lower "keep" and a dropped read delete versions only as far as the guard allows', async () => {
    const { harness, edit } = await started('{ keep: 10 }');
    for (const a of ['2', '3', '4', '5']) {
      edit(a);
      await harness.settle();
    }
    assert.equal(records(harness).length, 5);
    const asked: string[] = [];
    const converged: string[] = [];
    harness.guard = {
      blockingReason: (_, objects) => {
        asked.push(...objects.map(({ childId }) => childId));
        return 'kept until they are approved';
      },
      onConverged: (key) => void converged.push(key),
    };
    await harness.restart(planWith('{ keep: 1 }'));
    await harness.settle();
    assert.equal(records(harness).length, 5);
    assert.deepEqual([...new Set(asked)], ['history of configs']);
    assert.deepEqual(converged, [], 'while versions are kept');
    assert.match(
      harness.ready('one'),
      /3 versions are no longer kept; kept until they are approved/,
    );
    harness.guard = undefined;
    await harness.restart(planWith('{ keep: 1 }'));
    await harness.settle();
    assert.deepEqual(records(harness), ['4 4', '5 5']);
  });

  test('a record that is rejected is reported on the resource, and recorded when the server accepts it', async () => {
    const { harness, edit } = await started();
    const right = {
      verb: 'create',
      group: 'apps',
      resource: 'controllerrevisions',
      namespace: 'default',
    };
    harness.cluster.fault = ({ verb, kind }) =>
      verb === 'apply' && kind === 'ControllerRevision'
        ? new KubeError('forbidden', 'no', { status: 403, right })
        : undefined;
    edit('2');
    await harness.settle();
    assert.match(
      harness.ready('one'),
      /False Forbidden: history of ConfigMap "app": The runtime is not allowed to create controllerrevisions.apps in namespace "default"/,
    );
    harness.cluster.fault = () => undefined;
    harness.cluster.rights.grant();
    await harness.settle();
    assert.deepEqual(records(harness), ['1 1', '2 2']);
    assert.match(harness.ready('one'), /True AllReady/);
  });

  test('a watch that ends with 410: only the states before and after are known', async () => {
    const { harness, edit } = await started('{ keep: 10 }');
    edit('2');
    edit('3');
    harness.cluster.relist();
    await harness.settle();
    assert.deepEqual(records(harness), ['1 1', '2 3']);
    harness.remove(edit('4'));
    harness.cluster.relist();
    await harness.settle();
    assert.deepEqual(records(harness), ['1 1', '2 3 deleted']);
  });

  test('after etcd was restored from a backup the older state is a new version, and the next edits are recorded', async () => {
    const { harness, edit } = await started('{ keep: 10 }');
    edit('2');
    const restore = harness.cluster.server.backUp();
    await harness.settle();
    edit('3');
    await harness.settle();
    assert.deepEqual(records(harness), ['1 1', '2 2', '3 3']);
    restore();
    // The versions that were recorded after the backup are lost with it.
    assert.deepEqual(records(harness), ['1 1']);
    harness.cluster.relist();
    await harness.settle();
    assert.deepEqual(records(harness), ['1 1', '2 2']);
    // Its resourceVersion is not higher than one that has been seen.
    edit('4');
    await harness.settle();
    edit('5');
    await harness.settle();
    assert.deepEqual(records(harness), ['1 1', '2 2', '3 4', '4 5']);
  });

  test('an object that is back after etcd was restored is recorded', async () => {
    const { harness, edit } = await started('{ keep: 10 }');
    const object = edit('2');
    await harness.settle();
    const restore = harness.cluster.server.backUp();
    harness.remove(object);
    await harness.settle();
    assert.deepEqual(records(harness), ['1 1', '2 2 deleted']);
    restore();
    harness.cluster.relist();
    await harness.settle();
    edit('3');
    await harness.settle();
    assert.deepEqual(records(harness), ['1 1', '2 2', '3 3']);
  });

  test('an object that is back in an older state than the last one seen is recorded when it changes', async () => {
    const { harness, edit } = await started('{ keep: 10 }');
    edit('2');
    await harness.settle();
    const restore = harness.cluster.server.backUp();
    const object = edit('3');
    await harness.settle();
    harness.remove(object);
    await harness.settle();
    assert.deepEqual(records(harness), ['1 1', '2 2', '3 3 deleted']);
    restore();
    harness.cluster.relist();
    await harness.settle();
    edit('4');
    await harness.settle();
    assert.deepEqual(records(harness), ['1 1', '2 2', '3 4']);
  });

  test('an event that arrives after the object was found to be deleted is of a state before that', async () => {
    const { harness, edit } = await started('{ keep: 10 }');
    // The pass reads the cache, which has the deletion, before the event of the last state is delivered.
    const object = harness.get('v1', 'ConfigMap', 'app');
    assert.ok(object);
    const ref = { gvk: gvkOf('v1', 'ConfigMap'), namespace: 'default', name: 'app' };
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    harness.cluster.pace = () => held;
    const request = harness.cluster.get(ref, { flow: { name: 'podset', priority: 'object' } });
    harness.cluster.pace = undefined;
    edit('2');
    harness.remove(object);
    harness.deliver();
    await harness.runOne('default/one');
    for (let turns = 0; turns < 20; turns++) await settle();
    assert.deepEqual(records(harness), ['1 1 deleted']);
    release();
    await request;
    await harness.settle();
    assert.deepEqual(records(harness), ['1 1', '2 2 deleted']);
  });

  test('a response that is lost, and a conflict, cause one version each', async () => {
    const { harness, edit } = await started();
    let requests = 0;
    harness.cluster.pace = async () => {
      requests += 1;
      // Its second turn: the server has acted.
      if (requests === 2) throw new KubeError('connection-lost', 'socket hang up', { status: 0 });
    };
    edit('2');
    await harness.settle();
    await harness.clock.advance(1_000);
    await harness.settle();
    harness.cluster.pace = undefined;
    assert.deepEqual(records(harness), ['1 1', '2 2']);
    let conflicts = 2;
    harness.cluster.fault = ({ kind }) =>
      kind === 'ControllerRevision' && conflicts-- > 0
        ? new KubeError('conflict', 'The object has been modified', { status: 409 })
        : undefined;
    edit('3');
    await harness.settle();
    await harness.clock.advance(10_000);
    await harness.settle();
    assert.deepEqual(records(harness), ['1 1', '2 2', '3 3']);
    assert.ok(conflicts <= 0);
  });

  test('a version that others delete is not created again; a current state whose record is lost is', async () => {
    const { harness, edit } = await started('{ keep: 10 }');
    edit('2');
    await harness.settle();
    edit('3');
    await harness.settle();
    const remove = async (revision: number) => {
      const record = harness.cluster.server
        .list(revisions)
        .find(({ object }) => object.revision === revision);
      assert.ok(record);
      harness.remove(record.object);
      await harness.settle();
    };
    await remove(1);
    assert.deepEqual(records(harness), ['2 2', '3 3']);
    await remove(3);
    assert.deepEqual(records(harness), ['2 2', '3 3']);
    assert.deepEqual(harness.status('one').versions, '2 2');
  });

  test('the mapped status keeps its values while versions cannot be listed', async () => {
    const { harness, edit } = await started('{ keep: 10 }');
    for (const a of ['2', '3']) {
      edit(a);
      await harness.settle();
    }
    assert.deepEqual(harness.status('one').versions, ['1 1', '2 2']);
    harness.cluster.block('ControllerRevision', new KubeError('forbidden', 'no', { status: 403 }));
    await harness.restart(planWith('{ keep: 10 }'));
    await harness.settle();
    assert.deepEqual(harness.status('one').versions, ['1 1', '2 2']);
  });

  test('versions that could not be listed at the start expire, too', async () => {
    const { harness, edit } = await started('{ keepDeleted: 1h }');
    harness.remove(edit('1'));
    await harness.settle();
    harness.cluster.block('ControllerRevision', new KubeError('forbidden', 'no', { status: 403 }));
    await harness.restart(planWith('{ keepDeleted: 1h }'));
    await harness.settle();
    harness.cluster.unblock('ControllerRevision');
    await harness.settle();
    assert.deepEqual(records(harness), ['1 1 deleted']);
    await harness.clock.advance(3_601_000);
    await harness.settle();
    assert.deepEqual(records(harness), []);
  });

  test('versions of a resource that does not exist any more are deleted a minute later, and count no more', async () => {
    const { harness } = await started();
    const one = harness.get('apps.example.com/v1', 'PodSet', 'one') ?? assert.fail();
    harness.cluster.fault = ({ verb, kind }) =>
      verb === 'delete' && kind === 'ControllerRevision'
        ? new KubeError('unavailable', 'no', { status: 503 })
        : undefined;
    harness.remove(one);
    await harness.settle();
    assert.deepEqual(records(harness), ['1 1']);
    // The second change starts the check.
    await harness.restart(planWith('{ keep: 2 }'));
    await harness.clock.advance(62_000);
    assert.deepEqual(records(harness), ['1 1']);
    const counted = /homeostat_history_records\{definition="podset"\} (-?\d+)/;
    harness.podSet('two');
    await harness.settle();
    assert.equal(counted.exec(await harness.metrics.expose())?.[1], '1', 'that of the other one');
    harness.cluster.fault = () => undefined;
    await harness.clock.advance(60_000);
    await harness.settle();
    assert.deepEqual(records(harness), ['1 1']);
    assert.equal(counted.exec(await harness.metrics.expose())?.[1], '1');
  });

  /** Versions of `app` up to the last value wait, as the server accepts none; the operator of another revision has started. */
  async function waitingBeside(
    next: OperatorPlan,
    values: readonly string[] = ['2', '3', '4'],
  ): Promise<{ readonly harness: OperatorHarness; readonly older: Operator }> {
    const { harness, edit } = await started('{ keep: 10 }');
    const older = harness.operator;
    harness.cluster.fault = ({ kind }) =>
      kind === 'ControllerRevision'
        ? new KubeError('unavailable', 'no', { status: 503 })
        : undefined;
    for (const a of values) {
      edit(a);
      await harness.settle();
    }
    assert.deepEqual(records(harness), ['1 1']);
    harness.cluster.fault = () => undefined;
    await harness.another(next).start(harness.signal);
    return { harness, older };
  }

  test('states that wait when the resource gets another revision are recorded, in order', async () => {
    const { harness, older } = await waitingBeside(planWith('{ keep: 20 }'));
    older.forget('default/one');
    older.stop();
    harness.queued.set('default/one', 'normal');
    await harness.clock.advance(1_000);
    await harness.settle();
    assert.deepEqual(records(harness), ['1 1', '2 2', '3 3', '4 4']);
    assert.deepEqual(harness.status('one').versions, ['1 1', '2 2', '3 3']);
  });

  test('states that wait are recorded before the first reconcile of the newer revision', async () => {
    const { harness, older } = await waitingBeside(planWith('{ keep: 20 }'));
    harness.queued.clear();
    older.stop();
    for (let seconds = 0; seconds < 3; seconds++) {
      await harness.clock.advance(1_000);
      for (let turns = 0; turns < 20; turns++) await settle();
    }
    assert.deepEqual(records(harness), ['1 1', '2 2', '3 3', '4 4']);
  });

  test('states that wait are not recorded once a revision has the resource that keeps no versions of the read', async () => {
    const { harness, older } = await waitingBeside(
      planOfPodSet(`
  reads:
    - { id: configs, apiVersion: v1, kind: ConfigMap, selector: all }
    - { id: others, apiVersion: apps/v1, kind: Deployment, selector: all, history: {} }
`),
      ['2'],
    );
    const { fault } = harness.cluster;
    harness.cluster.fault = ({ verb, kind }) =>
      verb === 'apply' && kind === 'ControllerRevision'
        ? new KubeError('unavailable', 'no', { status: 503 })
        : undefined;
    older.forget('default/one');
    older.stop();
    harness.queued.set('default/one', 'normal');
    await harness.settle();
    harness.cluster.fault = fault;
    await harness.clock.advance(60_000);
    await harness.settle();
    assert.deepEqual(records(harness), [], 'and those that are stored are deleted');
  });

  test('the recorder stops with the last revision: nothing is watched any more', async () => {
    const { harness, older } = await waitingBeside(planWith('{ keep: 20 }'));
    const watched = () =>
      harness.cluster.watched.filter(({ gvk }) => gvk.kind === revisions.kind).length;
    assert.equal(watched(), 1);
    older.stop();
    assert.equal(watched(), 1);
    harness.operator.stop();
    assert.equal(watched(), 0);
  });

  test('the recorder stops with the last revision: nothing that waits is written, and no timer is left', async () => {
    const { harness, edit } = await started('{ keepDeleted: 1h }');
    harness.remove(edit('1'));
    await harness.settle();
    edit('2');
    await harness.settle();
    harness.remove(edit('3'));
    await harness.settle();
    assert.deepEqual(records(harness), ['1 1 deleted', '2 2', '3 3 deleted']);
    harness.cluster.fault = ({ kind }) =>
      kind === 'ControllerRevision'
        ? new KubeError('unavailable', 'no', { status: 503 })
        : undefined;
    edit('4');
    await harness.settle();
    harness.operator.stop();
    harness.cluster.fault = () => undefined;
    await settle();
    assert.equal(harness.clock.pending, 0);
    await harness.clock.advance(60_000);
    assert.deepEqual(records(harness), ['1 1 deleted', '2 2', '3 3 deleted']);
  });

  test('too many versions are throttled, with an Event', async () => {
    const { harness, edit } = await started('{ keep: 100 }');
    for (let a = 2; a <= 40; a++) {
      edit(String(a));
      await harness.settle();
    }
    assert.equal(records(harness).length, 20);
    const throttled = harness.cluster.reported.filter(
      ({ reason }) => reason === 'HistoryThrottled',
    );
    assert.equal(throttled.length, 1);
    await harness.clock.advance(10_000);
    await harness.settle();
    assert.deepEqual(records(harness).at(-1), '21 40');
  });

  test('a reconcile that may no longer list versions overwrites nothing, and ends', async () => {
    const harness = new OperatorHarness(
      planOfPodSet(`
  reads:
    - { id: configs, apiVersion: v1, kind: ConfigMap, selector: all, history: {} }
  children:
    - id: child
      template: { apiVersion: v1, kind: Secret, metadata: { name: child }, stringData: { a: b } }
  patches:
    - { id: edit, target: { apiVersion: v1, kind: ConfigMap, name: app }, patch: { data: { a: "2" } } }
`),
    );
    const metadata = { name: 'app', namespace: 'default' };
    harness.cluster.server.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: '1' } });
    harness.podSet('one');
    // In the middle of a reconcile: the keys, which are a Secret too, exist by then.
    harness.cluster.fault = ({ kind, name }) => {
      if (kind === 'Secret' && name === 'child')
        harness.cluster.lose(
          'ControllerRevision',
          new KubeError('forbidden', 'no', { status: 403 }),
        );
      return undefined;
    };
    await harness.start();
    let hasEnded = false;
    void harness.settle().then(() => {
      hasEnded = true;
    });
    for (let turns = 0; turns < 50; turns++) await settle();
    assert.ok(hasEnded, 'The reconcile waits until versions can be listed');
    assert.match(harness.ready('one'), /^False Forbidden: /);
    assert.deepEqual(harness.get('v1', 'ConfigMap', 'app')?.data, { a: '1' });
    harness.cluster.fault = () => undefined;
    harness.cluster.unblock('ControllerRevision');
    await harness.settle();
    assert.deepEqual(harness.get('v1', 'ConfigMap', 'app')?.data, { a: '2' });
    assert.deepEqual(records(harness), ['1 1', '2 2']);
  });

  test('a definition without history watches no records', async () => {
    const harness = new OperatorHarness(planOfPodSet('  status: { a: b }\n'));
    await harness.start();
    assert.ok(!harness.cluster.watched.some(({ gvk }) => gvk.kind === 'ControllerRevision'));
  });
});
