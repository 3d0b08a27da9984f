import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  Failing,
  type HandmadeChild,
  type HandmadePlan,
  planOf,
} from '../../../test/support/fakes/handmade-plan.ts';
import { OperatorWorld } from '../../../test/support/fakes/operator-world.ts';
import { KubeError } from '../../kube/roles.ts';
import { gvkOf } from '../../util/gvk.ts';
import type { KubeObject } from '../../util/kube-object.ts';

const key = 'default/a';
const finalizer = 'homeostat.dev/podset';
const configMapKind = gvkOf('v1', 'ConfigMap');

/** A ConfigMap of the resource; in a namespace of its own choice where the resource says so. */
function map(id: string, changes: Partial<HandmadeChild> = {}): HandmadeChild {
  return {
    id,
    apiVersion: 'v1',
    kind: 'ConfigMap',
    template: () => ({ metadata: { name: id }, data: { a: 'b' } }),
    ...changes,
  };
}

const far = map('far', {
  crossNamespace: { namespaces: ['other*'] },
  template: ({ resource }) => ({
    metadata: { name: 'far', namespace: (resource.spec.to as string | undefined) ?? 'other' },
  }),
});

async function worldOf(plan: HandmadePlan, spec: unknown = {}) {
  const compiled = planOf(plan);
  const world = new OperatorWorld(compiled);
  await world.start();
  world.podSet('a', spec);
  await world.settle();
  return { world, plan: compiled };
}

function resource(world: OperatorWorld): KubeObject | undefined {
  return world.get('apps.example.com/v1', 'PodSet', 'a');
}

/** Deletes the resource, and lets everything come of it. */
async function remove(world: OperatorWorld): Promise<void> {
  world.cluster.takeWrites();
  const object = resource(world);
  assert.ok(object);
  world.remove(object);
  await world.settle();
}

function farNames(world: OperatorWorld): readonly string[] {
  return world.cluster.server
    .list(configMapKind)
    .map(({ object: { metadata } }) => `${metadata.namespace}/${metadata.name}`)
    .sort();
}

describe('reconcile/finalize: finalizer and inventory', () => {
  test('are written in one apply, before the first child that needs them', async () => {
    const { world } = await worldOf({ children: [map('near'), far] });
    const { metadata } = resource(world) ?? {};
    assert.deepEqual(metadata?.finalizers, [finalizer]);
    assert.equal(metadata?.annotations?.['inventory.homeostat.dev/podset'], 'ConfigMap');
    assert.deepEqual(world.cluster.takeWrites(), [
      'apply PodSet/a',
      'apply ConfigMap/near',
      'apply ConfigMap/far',
      'status PodSet/a',
    ]);
    await world.runOne(key);
    assert.deepEqual(world.cluster.requests, []);
  });

  test('are not there while no such child is wanted', async () => {
    const { world } = await worldOf({ children: [{ ...far, when: () => false }, map('near')] });
    assert.equal(resource(world)?.metadata.finalizers, undefined);
  });

  test('grow with the kinds, and never shrink while objects may be left', async () => {
    const { world } = await worldOf({ children: [far] });
    const secret = { ...far, id: 'secret', kind: 'Secret' };
    await world.restart(planOf({ children: [secret] }));
    await world.settle();
    const annotations = resource(world)?.metadata.annotations;
    assert.equal(annotations?.['inventory.homeostat.dev/podset'], 'ConfigMap,Secret');
  });

  test('that cannot be written keep the child from being made, and the resource says why', async () => {
    const world = new OperatorWorld(planOf({ children: [far, map('near')] }));
    await world.start();
    world.cluster.fault = ({ verb, kind }) =>
      verb === 'apply' && kind === 'PodSet'
        ? new KubeError('rejected', 'metadata.finalizers: no', { status: 422 })
        : undefined;
    world.podSet('a');
    await world.settle();
    assert.deepEqual(farNames(world), ['default/near']);
    assert.equal(world.ready('a'), 'False ApplyFailed: far: finalizer: metadata.finalizers: no');
  });

  test('are taken off when the definition needs them no more, and what needed them is gone', async () => {
    const { world } = await worldOf({ children: [far] });
    await world.restart(planOf({ children: [map('near')] }));
    // What is watched is told by the CRD after a restart; here by the kind that both have.
    await world.settle();
    assert.deepEqual(farNames(world), ['default/near']);
    const { metadata } = resource(world) ?? {};
    assert.deepEqual(metadata?.finalizers ?? [], []);
    assert.equal(metadata?.annotations?.['inventory.homeostat.dev/podset'], undefined);
    await world.runOne(key);
    world.cluster.takeWrites();
    await world.runOne(key);
    assert.deepEqual(world.cluster.requests, []);
  });
});

describe('reconcile/finalize: deletion', () => {
  test('the children go, then the finalizer; nothing is made and no status is written', async () => {
    const { world } = await worldOf({ children: [far] });
    await remove(world);
    assert.equal(resource(world), undefined);
    assert.deepEqual(farNames(world), []);
    assert.deepEqual(world.cluster.takeWrites(), ['delete ConfigMap/far', 'edit PodSet/a']);
  });

  test('what has an owner reference is left to the collector', async () => {
    const { world } = await worldOf({ children: [far, map('near')] });
    await remove(world);
    assert.equal(resource(world), undefined);
    assert.deepEqual(farNames(world), ['default/near']);
  });

  test('other finalizers stay where they are', async () => {
    const { world } = await worldOf({ children: [far] });
    const before = resource(world);
    assert.ok(before);
    const metadata = { ...before.metadata, finalizers: ['example.com/x', finalizer] };
    world.edit(before, { metadata });
    await world.settle();
    await remove(world);
    assert.deepEqual(resource(world)?.metadata.finalizers, ['example.com/x']);
  });

  test('a child with finalizers of its own is waited for, and the resource says so', async () => {
    const { world } = await worldOf({ children: [far] });
    const child = world.cluster.server.get(configMapKind, 'other', 'far')?.object;
    assert.ok(child);
    world.cluster.server.put({
      ...child,
      metadata: { ...child.metadata, finalizers: ['example.com/hold'] },
    });
    await world.settle();
    await remove(world);
    assert.equal(
      world.ready('a'),
      'False Terminating: The deletion waits for ConfigMap "far" of "far" to go',
    );
    assert.deepEqual(world.cluster.takeWrites(), ['delete ConfigMap/far', 'status PodSet/a']);
    await world.runOne(key);
    assert.deepEqual(world.cluster.requests, []);
    const leaving = world.cluster.server.get(configMapKind, 'other', 'far')?.object;
    assert.ok(leaving);
    world.cluster.server.put({ ...leaving, metadata: { ...leaving.metadata, finalizers: [] } });
    await world.settle();
    assert.equal(resource(world), undefined);
  });

  test('a deletion that is refused keeps the resource, which says why', async () => {
    const { world } = await worldOf({ children: [far] });
    world.cluster.fault = ({ verb }) =>
      verb === 'delete' ? new KubeError('denied', 'not now', { status: 403 }) : undefined;
    await remove(world);
    assert.equal(world.ready('a'), 'False ApplyFailed: far "far": not now');
    assert.ok(resource(world));
  });

  test('a list that cannot be had is never taken for an empty one', async () => {
    const { world, plan } = await worldOf({ children: [far] });
    const error = new KubeError('unavailable', 'x', { status: 503 });
    world.cluster.block('ConfigMap', error);
    await world.restart(plan);
    await remove(world);
    assert.ok(resource(world));
    world.cluster.unblock('ConfigMap');
    await world.settle();
    assert.equal(resource(world), undefined);
    assert.deepEqual(farNames(world), []);
  });

  test('a child whose creation was never answered does not stay behind', async () => {
    const world = new OperatorWorld(planOf({ children: [far] }));
    await world.start();
    // The server makes it, and the answer is lost; no event has come yet when the resource is deleted.
    let turns = 0;
    world.cluster.pace = async () => {
      const last = world.cluster.requests.at(-1);
      if (last?.kind !== 'ConfigMap' || last.verb !== 'apply') return;
      if (++turns === 2) throw new KubeError('connection-lost', 'x', { status: 0 });
    };
    world.podSet('a');
    world.cluster.deliver();
    await world.runOne(key);
    world.cluster.pace = undefined;
    assert.deepEqual(farNames(world), ['other/far']);
    const object = resource(world);
    assert.ok(object);
    world.remove(object);
    world.cluster.deliver('PodSet');
    await world.runOne(key);
    await world.settle();
    assert.equal(resource(world), undefined);
    assert.deepEqual(farNames(world), []);
  });

  test('what was said to be orphaned stays (kubectl delete --cascade=orphan)', async () => {
    const { world } = await worldOf({ children: [far] });
    const before = resource(world);
    assert.ok(before);
    world.edit(before, {
      metadata: { ...before.metadata, finalizers: ['orphan', finalizer] },
    });
    await world.settle();
    await remove(world);
    assert.deepEqual(farNames(world), ['other/far']);
    const labels = world.cluster.server.get(configMapKind, 'other', 'far')?.object.metadata.labels;
    assert.deepEqual(labels, {});
  });
});

describe('reconcile/finalize: what a deletion was said to leave', () => {
  test('stays also when the collector was faster than we', async () => {
    const { world } = await worldOf({ children: [far] });
    const before = resource(world);
    assert.ok(before);
    const finalizers = ['orphan', finalizer];
    world.edit(before, { metadata: { ...before.metadata, finalizers } });
    await world.settle();
    const said = resource(world);
    assert.ok(said);
    world.remove(said);
    const leaving = resource(world);
    assert.ok(leaving);
    world.edit(leaving, { metadata: { ...leaving.metadata, finalizers: [finalizer] } });
    await world.settle();
    assert.equal(resource(world), undefined);
    assert.deepEqual(farNames(world), ['other/far']);
  });
});

describe('reconcile/finalize: without a definition', () => {
  test('labels and inventory are enough', async () => {
    const { world, plan } = await worldOf({ children: [far] });
    await world.breakDefinition(plan);
    await world.settle();
    world.cluster.takeWrites();
    await world.runOne(key);
    assert.deepEqual(world.cluster.takeWrites(), []);
    await remove(world);
    assert.equal(resource(world), undefined);
    assert.deepEqual(farNames(world), []);
  });

  test('a kind that nobody serves any more has nothing to look for', async () => {
    const { world, plan } = await worldOf({ children: [far] });
    const before = resource(world);
    assert.ok(before);
    const annotations = { 'inventory.homeostat.dev/podset': 'ConfigMap,gone.example.com/Gone' };
    world.edit(before, { metadata: { ...before.metadata, annotations } });
    await world.breakDefinition(plan);
    await remove(world);
    assert.equal(resource(world), undefined);
  });

  test('an orphan stays, and elements of an ordered child go from the last', async () => {
    const { world, plan } = await worldOf({
      children: [
        map('kept', { deletionPolicy: 'Orphan' }),
        map('steps', {
          ordered: true,
          forEach: () => ['b', 'a'],
          template: (_, { item }) => ({ metadata: { name: `step-${item}` } }),
        }),
      ],
    });
    await world.breakDefinition(plan);
    await remove(world);
    assert.deepEqual(farNames(world), ['default/kept']);
    const deleted = world.cluster.takeWrites().filter((write) => write.startsWith('delete'));
    assert.deepEqual(deleted, ['delete ConfigMap/step-a', 'delete ConfigMap/step-b']);
  });

  for (const [what, plan] of [
    ['that its definition must let go', { children: [map('guarded', { deleteWhen: () => true })] }],
    ['before which something is to be made', { children: [far], onDelete: {} }],
  ] as const) {
    test(`what ${what} waits for it`, async () => {
      const { world, plan: compiled } = await worldOf(plan);
      await world.breakDefinition(compiled);
      await remove(world);
      assert.match(world.ready('a'), /^False DefinitionBroken: /);
      assert.equal(farNames(world).length, 1);
      const writes = world.cluster.takeWrites();
      assert.deepEqual(writes, ['status PodSet/a']);
      await world.restart(compiled);
      await world.settle();
      assert.equal(resource(world), undefined);
    });
  }

  test('where somebody else may run the definition, what waits for it is not told', async () => {
    const { world, plan } = await worldOf({ children: [far], onDelete: {} });
    await world.breakDefinition(plan, { isQuiet: true });
    await remove(world);
    assert.equal(farNames(world).length, 1);
    assert.deepEqual(world.cluster.takeWrites(), []);
  });

  test('an order that was begun waits for its definition, too', async () => {
    const plan: HandmadePlan = {
      children: [map('base'), map('dependent', { tier: 1 })],
      onDelete: {},
    };
    const { world, plan: compiled } = await worldOf(plan);
    const held = world.get('v1', 'ConfigMap', 'dependent');
    assert.ok(held);
    world.edit(held, { metadata: { ...held.metadata, finalizers: ['example.com/hold'] } });
    const marked = resource(world);
    assert.ok(marked);
    const annotations = {
      ...marked.metadata.annotations,
      'on-delete.homeostat.dev/podset': 'done',
    };
    world.edit(marked, { metadata: { ...marked.metadata, annotations } });
    await world.breakDefinition(compiled);
    await remove(world);
    assert.match(world.ready('a'), /^False DefinitionBroken: /);
    assert.deepEqual(farNames(world), ['default/base', 'default/dependent']);
  });

  test('onDelete can be done without', async () => {
    const { world, plan } = await worldOf({ children: [far], onDelete: {} });
    const before = resource(world);
    assert.ok(before);
    const annotations = { ...before.metadata.annotations, 'homeostat.dev/skip-on-delete': 'true' };
    world.edit(before, { metadata: { ...before.metadata, annotations } });
    await world.breakDefinition(plan);
    await remove(world);
    assert.equal(resource(world), undefined);
  });
});

describe('reconcile/finalize: onDelete', () => {
  /** Ready when somebody says so. */
  const backup = map('backup', {
    template: (view) => ({
      metadata: { name: 'backup' },
      data: { of: String(view.child('base')?.metadata.name) },
    }),
    ready: (child) => child.metadata.annotations?.done === 'yes',
  });
  const plan: HandmadePlan = {
    children: [map('base'), map('dependent', { tier: 1 })],
    onDelete: { children: [backup], timeoutMs: 60_000 },
  };

  /** A deletion that waits for the backup. */
  async function waiting(changes: Partial<HandmadePlan['onDelete']> = {}) {
    const onDelete = { children: [backup], timeoutMs: 60_000, ...changes };
    const { world } = await worldOf({ ...plan, onDelete });
    await remove(world);
    return world;
  }

  function finishBackup(world: OperatorWorld): void {
    const made = world.get('v1', 'ConfigMap', 'backup');
    assert.ok(made);
    world.edit(made, {
      metadata: { ...made.metadata, annotations: { ...made.metadata.annotations, done: 'yes' } },
    });
  }

  test('what it makes sees the children, and is waited for', async () => {
    const world = await waiting();
    assert.deepEqual(world.get('v1', 'ConfigMap', 'backup')?.data, { of: 'base' });
    assert.deepEqual(farNames(world), ['default/backup', 'default/base', 'default/dependent']);
    assert.match(
      world.ready('a'),
      /^False Terminating: .*ConfigMap "backup" of "backup" to be ready/,
    );
    world.cluster.takeWrites();
    await world.runOne(key);
    assert.deepEqual(world.cluster.requests, []);
  });

  test('then dependents go first, and what it has made last', async () => {
    const world = await waiting();
    world.cluster.takeWrites();
    finishBackup(world);
    await world.settle();
    assert.equal(resource(world), undefined);
    assert.deepEqual(
      world.cluster.takeWrites().filter((write) => write.startsWith('delete')),
      ['delete ConfigMap/dependent', 'delete ConfigMap/base', 'delete ConfigMap/backup'],
    );
  });

  test('with "order: Parallel" the children go at once, and what it has made last', async () => {
    const world = await waiting({ order: 'Parallel' });
    for (const name of ['base', 'dependent']) {
      const object = world.get('v1', 'ConfigMap', name);
      assert.ok(object);
      world.edit(object, { metadata: { ...object.metadata, finalizers: ['example.com/hold'] } });
    }
    await world.settle();
    world.cluster.takeWrites();
    finishBackup(world);
    await world.settle();
    const deleted = () => world.cluster.takeWrites().filter((write) => write.startsWith('delete'));
    assert.deepEqual(deleted(), ['delete ConfigMap/base', 'delete ConfigMap/dependent']);
    for (const name of ['base', 'dependent']) {
      const object = world.get('v1', 'ConfigMap', name);
      assert.ok(object);
      world.edit(object, { metadata: { ...object.metadata, finalizers: [] } });
    }
    await world.settle();
    assert.deepEqual(deleted(), ['delete ConfigMap/backup']);
    assert.equal(resource(world), undefined);
  });

  test('what has been ready once is not made again when it is gone', async () => {
    const world = await waiting();
    const held = world.get('v1', 'ConfigMap', 'base');
    assert.ok(held);
    world.edit(held, { metadata: { ...held.metadata, finalizers: ['example.com/hold'] } });
    finishBackup(world);
    await world.settle();
    const made = world.get('v1', 'ConfigMap', 'backup');
    assert.ok(made);
    world.remove(made);
    await world.settle();
    assert.deepEqual(farNames(world), ['default/base']);
  });

  test('one that cannot be rendered holds the deletion up, and says so', async () => {
    const broken = map('backup', {
      template: () => {
        throw new Failing('Expected text at data.a, found none');
      },
    });
    const world = await waiting({ children: [broken] });
    assert.match(world.ready('a'), /^False RenderFailed: backup: /);
    assert.deepEqual(farNames(world), ['default/base', 'default/dependent']);
  });

  test('the queue is told when its time is over; then it stalls, an Event tells it once, and it goes on waiting', async () => {
    const world = await waiting();
    assert.deepEqual(world.passes.at(-1)?.end, {
      kind: 'requeue',
      afterMs: 60_000,
      reason: 'Terminating',
    });
    await world.clock.advance(60_000);
    await world.runOne(key);
    await world.settle();
    const { conditions } = world.status('a') as {
      conditions: readonly { readonly type: string; readonly reason: string }[];
    };
    const stalled = conditions.find(({ type }) => type === 'Stalled');
    assert.equal(stalled?.reason, 'Terminating');
    const told = () => world.cluster.told.filter(({ reason }) => reason === 'DeletionTimedOut');
    assert.equal(told().length, 1);
    world.cluster.takeWrites();
    await world.runOne(key);
    assert.deepEqual(world.cluster.requests, []);
    assert.equal(told().length, 1);
    finishBackup(world);
    await world.settle();
    assert.equal(resource(world), undefined);
  });

  test('with "onTimeout: Continue" it goes on without, and a guarded object is left behind', async () => {
    const guarded = map('guarded', { deleteWhen: () => false });
    const { world } = await worldOf({
      children: [...(plan.children ?? []), guarded],
      onDelete: { children: [backup], timeoutMs: 60_000, onTimeout: 'Continue' },
    });
    await remove(world);
    assert.ok(resource(world));
    await world.clock.advance(60_000);
    await world.runOne(key);
    await world.settle();
    assert.equal(resource(world), undefined);
    assert.deepEqual(farNames(world), ['default/guarded']);
    assert.deepEqual(world.get('v1', 'ConfigMap', 'guarded')?.metadata.labels, {});
  });

  test('in a namespace on its way out nothing is made, and nothing waited for', async () => {
    const { world } = await worldOf(plan);
    world.cluster.fault = ({ verb, name }) =>
      verb === 'apply' && name === 'backup'
        ? new KubeError('namespace-terminating', 'x', { status: 403 })
        : undefined;
    await remove(world);
    assert.equal(resource(world), undefined);
    assert.deepEqual(farNames(world), []);
  });
});
