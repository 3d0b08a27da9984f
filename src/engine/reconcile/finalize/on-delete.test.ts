import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import {
  deletePodSet,
  deletionHarness,
  mapChild,
  placesOf,
  podSetOf,
  unavailable,
} from '../../../../test/support/fakes/deletion-harness.ts';
import {
  Failing,
  type HandmadePlan,
  Waiting,
} from '../../../../test/support/fakes/handmade-plan.ts';
import type { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';

const key = 'default/a';

describe('reconcile/finalize: onDelete', () => {
  /** Ready when somebody says so. */
  const backup = mapChild('backup', {
    template: (view) => ({
      metadata: { name: 'backup' },
      data: { of: String(view.child('base')?.metadata.name) },
    }),
    ready: (child) => child.metadata.annotations?.done === 'yes',
  });
  const plan: HandmadePlan = {
    children: [mapChild('base'), mapChild('dependent', { tier: 1 })],
    onDelete: { children: [backup], timeoutMs: 60_000 },
  };

  /** A deletion that waits for the backup. */
  async function waiting(changes: Partial<HandmadePlan['onDelete']> = {}) {
    const onDelete = { children: [backup], timeoutMs: 60_000, ...changes };
    const { harness } = await deletionHarness({ ...plan, onDelete });
    await deletePodSet(harness);
    return harness;
  }

  function finishBackup(harness: OperatorHarness): void {
    const made = harness.get('v1', 'ConfigMap', 'backup');
    assert.ok(made);
    harness.edit(made, {
      metadata: { ...made.metadata, annotations: { ...made.metadata.annotations, done: 'yes' } },
    });
  }

  test('what it makes sees the children, and is waited for', async () => {
    const harness = await waiting();
    assert.deepEqual(harness.get('v1', 'ConfigMap', 'backup')?.data, { of: 'base' });
    assert.deepEqual(placesOf(harness, 'ConfigMap'), [
      'default/backup',
      'default/base',
      'default/dependent',
    ]);
    assert.match(
      harness.ready('a'),
      /^False Terminating: .*ConfigMap "backup" \(child "backup"\) to be ready/,
    );
    harness.cluster.takeWrites();
    await harness.runOne(key);
    assert.deepEqual(harness.cluster.requests, []);
  });

  test('then dependents go first, and what it has made last', async () => {
    const harness = await waiting();
    harness.cluster.takeWrites();
    finishBackup(harness);
    await harness.settle();
    assert.equal(podSetOf(harness), undefined);
    assert.deepEqual(
      harness.cluster.takeWrites().filter((write) => write.startsWith('delete')),
      ['delete ConfigMap/dependent', 'delete ConfigMap/base', 'delete ConfigMap/backup'],
    );
  });

  test('with "order: Parallel" the children go at once, and what it has made last', async () => {
    const harness = await waiting({ order: 'Parallel' });
    for (const name of ['base', 'dependent']) {
      const object = harness.get('v1', 'ConfigMap', name);
      assert.ok(object);
      harness.edit(object, { metadata: { ...object.metadata, finalizers: ['example.com/hold'] } });
    }
    await harness.settle();
    harness.cluster.takeWrites();
    finishBackup(harness);
    await harness.settle();
    const deleted = () =>
      harness.cluster.takeWrites().filter((write) => write.startsWith('delete'));
    assert.deepEqual(deleted(), ['delete ConfigMap/base', 'delete ConfigMap/dependent']);
    for (const name of ['base', 'dependent']) {
      const object = harness.get('v1', 'ConfigMap', name);
      assert.ok(object);
      harness.edit(object, { metadata: { ...object.metadata, finalizers: [] } });
    }
    await harness.settle();
    assert.deepEqual(deleted(), ['delete ConfigMap/backup']);
    assert.equal(podSetOf(harness), undefined);
  });

  test('what has been ready once is not made again when it is gone', async () => {
    const harness = await waiting();
    const held = harness.get('v1', 'ConfigMap', 'base');
    assert.ok(held);
    harness.edit(held, { metadata: { ...held.metadata, finalizers: ['example.com/hold'] } });
    finishBackup(harness);
    await harness.settle();
    const made = harness.get('v1', 'ConfigMap', 'backup');
    assert.ok(made);
    harness.remove(made);
    await harness.settle();
    assert.deepEqual(placesOf(harness, 'ConfigMap'), ['default/base']);
  });

  test('one that cannot be rendered holds the deletion up, and says so', async () => {
    const broken = mapChild('backup', {
      template: () => {
        throw new Failing('Expected text at data.a, found none');
      },
    });
    const harness = await waiting({ children: [broken] });
    assert.match(harness.ready('a'), /^False RenderFailed: backup: /);
    assert.deepEqual(placesOf(harness, 'ConfigMap'), ['default/base', 'default/dependent']);
  });

  test('the queue retries when its time is over; then it stalls, an Event reports it once, and it continues waiting', async () => {
    const harness = await waiting();
    assert.deepEqual(harness.passes.at(-1)?.end, {
      kind: 'done',
      due: { afterMs: 60_000, priority: 'normal' },
    });
    await harness.clock.advance(60_000);
    await harness.runOne(key);
    await harness.settle();
    const { conditions } = harness.status('a') as {
      conditions: readonly { readonly type: string; readonly reason: string }[];
    };
    const stalled = conditions.find(({ type }) => type === 'Stalled');
    assert.equal(stalled?.reason, 'Terminating');
    const reported = () =>
      harness.cluster.reported.filter(({ reason }) => reason === 'DeletionTimedOut');
    assert.equal(reported().length, 1);
    harness.cluster.takeWrites();
    await harness.runOne(key);
    assert.deepEqual(harness.cluster.requests, []);
    assert.equal(reported().length, 1);
    finishBackup(harness);
    await harness.settle();
    assert.equal(podSetOf(harness), undefined);
  });

  test('with "onTimeout: Continue" it continues without, and a guarded object is left behind', async () => {
    const guarded = mapChild('guarded', { deleteWhen: () => false });
    const { harness } = await deletionHarness({
      children: [...(plan.children ?? []), guarded],
      onDelete: { children: [backup], timeoutMs: 60_000, onTimeout: 'Continue' },
    });
    await deletePodSet(harness);
    assert.ok(podSetOf(harness));
    await harness.clock.advance(60_000);
    await harness.runOne(key);
    await harness.settle();
    assert.equal(podSetOf(harness), undefined);
    assert.deepEqual(placesOf(harness, 'ConfigMap'), ['default/guarded']);
    assert.deepEqual(harness.get('v1', 'ConfigMap', 'guarded')?.metadata.labels, {});
  });

  test('in a namespace on its way out nothing is made, and nothing waited for', async () => {
    const { harness } = await deletionHarness(plan);
    harness.cluster.fault = ({ verb, name }) =>
      verb === 'apply' && name === 'backup'
        ? new KubeError('namespace-terminating', 'x', { status: 403 })
        : undefined;
    await deletePodSet(harness);
    assert.equal(podSetOf(harness), undefined);
    assert.deepEqual(placesOf(harness, 'ConfigMap'), []);
  });
});

describe('reconcile/finalize: what "onDelete" makes and is ready at once', () => {
  for (const [what, children] of [
    ['of a resource without children', [mapChild('base', { when: () => false })]],
    ['of a resource whose children go at once', [mapChild('base')]],
  ] as const) {
    test(`${what} does not stay behind`, async () => {
      const { harness } = await deletionHarness({
        children,
        onDelete: { children: [mapChild('note')] },
      });
      await deletePodSet(harness);
      assert.ok(harness.cluster.takeWrites().includes('apply ConfigMap/note'));
      assert.equal(podSetOf(harness), undefined);
      assert.deepEqual(placesOf(harness, 'ConfigMap'), []);
    });
  }

  test('is not in the way of the next resource of that name', async () => {
    const onDelete = { children: [mapChild('note')] };
    const { harness } = await deletionHarness({ children: [mapChild('base')], onDelete });
    await deletePodSet(harness);
    harness.podSet('a');
    await harness.settle();
    await deletePodSet(harness);
    assert.equal(podSetOf(harness), undefined);
    assert.deepEqual(placesOf(harness, 'ConfigMap'), []);
  });

  test('of a former resource is neither taken for done nor deleted: it is in the way, and the resource says so', async () => {
    const onDelete = { children: [mapChild('note', { ready: () => false })] };
    const { harness } = await deletionHarness({ children: [mapChild('base')], onDelete });
    await deletePodSet(harness);
    const former = podSetOf(harness);
    assert.ok(former);
    // Somebody loses patience.
    harness.edit(former, { metadata: { ...former.metadata, finalizers: [] } });
    await harness.settle();
    harness.podSet('a');
    await harness.settle();
    await deletePodSet(harness);
    assert.match(harness.ready('a'), /^False Conflict: note/);
    const note = harness.get('v1', 'ConfigMap', 'note');
    assert.ok(note);
    assert.notEqual(
      note.metadata.labels?.['homeostat.dev/owner-uid'],
      podSetOf(harness)?.metadata.uid,
    );
  });
});

describe('reconcile/finalize: what "onDelete" cannot make', () => {
  /** A resource whose backup is blocked, in a namespace that is on its way out or not. */
  async function blockedIn(deletionTimestamp: string | undefined, error: Error) {
    const backup = mapChild('backup', {
      template() {
        throw error;
      },
    });
    const { harness } = await deletionHarness({
      children: [mapChild('base')],
      onDelete: { children: [backup] },
    });
    harness.cluster.server.put({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {
        name: 'default',
        ...(deletionTimestamp && { deletionTimestamp, finalizers: ['kubernetes'] }),
      },
    });
    return harness;
  }

  for (const [what, error] of [
    ['what it waits for may be gone', new Waiting('reads.credentials')],
    ['it may have read what is gone', new Failing('Expected text at data.a, found none')],
  ] as const) {
    test(`holds nothing up in a namespace on its way out: ${what}`, async () => {
      const harness = await blockedIn('2026-01-01T00:00:00Z', error);
      await deletePodSet(harness);
      assert.equal(podSetOf(harness), undefined);
      assert.deepEqual(placesOf(harness, 'ConfigMap'), []);
    });

    test(`is waited for elsewhere: ${error.message}`, async () => {
      const harness = await blockedIn(undefined, error);
      await deletePodSet(harness);
      assert.deepEqual(placesOf(harness, 'ConfigMap'), ['default/base']);
    });
  }

  test('is waited for without the right to read the namespace', async () => {
    const harness = await blockedIn('2026-01-01T00:00:00Z', new Waiting('reads.credentials'));
    harness.cluster.fault = ({ kind }) =>
      kind === 'Namespace' ? new KubeError('forbidden', 'x', { status: 403 }) : undefined;
    await deletePodSet(harness);
    assert.deepEqual(placesOf(harness, 'ConfigMap'), ['default/base']);
    assert.match(harness.ready('a'), /reads\.credentials/);
  });

  test('a namespace that could not be looked at is looked at again', async () => {
    const harness = await blockedIn('2026-01-01T00:00:00Z', new Waiting('reads.credentials'));
    harness.cluster.fault = ({ kind }) => (kind === 'Namespace' ? unavailable : undefined);
    await deletePodSet(harness);
    assert.deepEqual(placesOf(harness, 'ConfigMap'), ['default/base']);
    const due = { afterMs: 600_000, priority: 'normal' };
    assert.deepEqual(harness.passes.at(-1)?.end, { kind: 'error', error: unavailable, due });
    harness.cluster.fault = () => undefined;
    await harness.runOne('default/a');
    await harness.settle();
    assert.equal(podSetOf(harness), undefined);
  });
});
