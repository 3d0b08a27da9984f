import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  deletePodSet,
  deletionWorld,
  farChild,
  inventoryOf,
  mapChild,
  placesOf,
  podSetOf,
} from '../../../test/support/fakes/deletion-world.ts';
import { type HandmadeChild, planOf } from '../../../test/support/fakes/handmade-plan.ts';
import { OperatorWorld } from '../../../test/support/fakes/operator-world.ts';
import { KubeError } from '../../kube/roles.ts';
import { gvkOf } from '../../util/gvk.ts';
import type { KubeObject, ObjectMeta } from '../../util/kube-object.ts';

const key = 'default/a';
const configMap = gvkOf('v1', 'ConfigMap');

/** Somebody who may write objects, and knows all that a child of PodSet `a` carries, makes one that looks like it. */
function spoof(
  world: OperatorWorld,
  { child = 'far', ...metadata }: Partial<ObjectMeta> & { readonly child?: string },
  data: Readonly<Record<string, string>> = {},
): void {
  const uid = podSetOf(world)?.metadata.uid ?? '';
  const manifest: KubeObject = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: 'spoofed',
      namespace: 'other',
      labels: {
        'app.kubernetes.io/managed-by': 'homeostat',
        'homeostat.dev/definition': 'podset',
        'homeostat.dev/child': child,
        'homeostat.dev/owner-uid': uid,
      },
      ...metadata,
    },
    data,
  };
  const manager = 'homeostat/podset';
  world.cluster.server.apply({ manifest, manager, force: true, status: false });
}

/** A controller reference to PodSet `a`. */
function ownedBy(world: OperatorWorld): Pick<ObjectMeta, 'ownerReferences'> {
  const uid = podSetOf(world)?.metadata.uid ?? '';
  const controller = { name: 'a', uid, controller: true };
  return {
    ownerReferences: [{ apiVersion: 'apps.example.com/v1', kind: 'PodSet', ...controller }],
  };
}

function far(world: OperatorWorld, name = 'far'): KubeObject | undefined {
  return world.cluster.server.get(configMap, 'other', name)?.object;
}

/** A child that keeps the token that it is observed with. */
function keeper(changes: Partial<HandmadeChild> = {}): HandmadeChild {
  return {
    ...farChild('far'),
    observes: ['far'],
    template: (view) => {
      const data = view.observed('far')?.data as { token?: string } | undefined;
      const place = changes.crossNamespace === false ? {} : { namespace: 'other' };
      return { metadata: { name: 'far', ...place }, data: { token: data?.token ?? 'made' } };
    },
    ...changes,
  };
}

describe('reconcile/ownership: what others label like a child', () => {
  for (const [where, child, place] of [
    ['in another namespace', keeper({ crossNamespace: false }), {}],
    ['where children may be', keeper(), {}],
    ['beside its resource', keeper({ crossNamespace: false }), { namespace: 'default' }],
  ] as const) {
    test(`${where} is not observed, though it is the newest`, async () => {
      const { world } = await deletionWorld({
        children: [child],
        status: {
          token: (view) => (view.observed('far')?.data as { token?: string } | undefined)?.token,
        },
      });
      const owned = child.crossNamespace === false ? ownedBy(world) : {};
      const creationTimestamp = '2030-01-01T00:00:00Z';
      spoof(world, { ...place, ...owned, creationTimestamp }, { token: 'injected' });
      await world.settle();
      world.edit(podSetOf(world)!, { spec: { edited: true } });
      await world.settle();
      await world.restart(planOf({ children: [child], status: { token: () => undefined } }));
      await world.settle();
      assert.equal(JSON.stringify(world.status('a')).includes('injected'), false);
      const namespace = child.crossNamespace === false ? 'default' : 'other';
      const made = world.cluster.server.get(configMap, namespace, 'far')?.object;
      assert.deepEqual(made?.data, { token: 'made' });
    });
  }

  test('where a child may be is not taken for the child that is not made yet', async () => {
    const { world } = await deletionWorld({
      children: [{ ...keeper(), when: ({ resource }) => resource.spec.on === true }],
    });
    assert.deepEqual(inventoryOf(world), []);
    spoof(world, { name: 'far' }, { token: 'injected' });
    await world.settle();
    world.edit(podSetOf(world)!, { spec: { on: true } });
    await world.settle();
    assert.match(
      world.ready('a'),
      /Conflict: .*"far" already exists: it has the labels of this child, but is not in the inventory/,
    );
    assert.deepEqual(far(world)?.data, { token: 'injected' });
    assert.deepEqual(inventoryOf(world), []);
    world.remove(far(world)!);
    await world.settle();
    assert.deepEqual(far(world)?.data, { token: 'made' });
  });

  test('is not taken for a child of a resource that is new, either', async () => {
    const world = new OperatorWorld(planOf({ children: [keeper()] }));
    await world.start();
    world.podSet('a');
    spoof(world, { name: 'far' }, { token: 'injected' });
    await world.settle();
    assert.match(world.ready('a'), /Conflict: .*"far" already exists/);
    assert.deepEqual(far(world)?.data, { token: 'injected' });
    assert.deepEqual(inventoryOf(world), []);
  });

  for (const [where, place] of [
    ['where children may be', {}],
    ['in any other namespace', { namespace: 'elsewhere' }],
    ['with an owner reference that means nothing there', { isOwned: true }],
  ] as const) {
    test(`${where} keeps no resource from being deleted`, async () => {
      const { world } = await deletionWorld({ children: [farChild('far')] });
      const { isOwned = false, ...metadata } = place as { isOwned?: boolean; namespace?: string };
      const owned = isOwned ? ownedBy(world) : {};
      spoof(world, { ...metadata, ...owned, finalizers: ['example.com/stay'] });
      await world.settle();
      await deletePodSet(world);
      assert.equal(podSetOf(world), undefined);
      assert.equal(far(world), undefined);
      assert.equal(placesOf(world, 'ConfigMap').length, 1);
    });
  }

  test('keeps no resource from being deleted by losing its label while the process looks', async () => {
    const { world } = await deletionWorld({ children: [farChild('far')] });
    spoof(world, { finalizers: ['example.com/stay'] });
    // Before any pass looks at it.
    world.cluster.deliver();
    const { metadata, ...rest } = far(world, 'spoofed')!;
    world.cluster.server.put({ ...rest, metadata: { ...metadata, labels: {} } } as KubeObject);
    await world.settle();
    await deletePodSet(world);
    assert.equal(podSetOf(world), undefined);
    const { metadata: left } = far(world, 'spoofed')!;
    assert.equal(left.deletionTimestamp, undefined);
  });

  test('beside a resource with "onDelete" does not keep it either', async () => {
    const { world } = await deletionWorld({ children: [mapChild('own')], onDelete: {} });
    spoof(world, {
      child: 'own',
      namespace: 'default',
      finalizers: ['example.com/stay'],
      ...ownedBy(world),
    });
    await world.settle();
    await deletePodSet(world);
    assert.equal(podSetOf(world), undefined);
    assert.deepEqual(placesOf(world, 'ConfigMap'), ['default/spoofed']);
  });

  test('is not deleted when the child it claims to be of is not wanted any more', async () => {
    const when: HandmadeChild['when'] = ({ resource }) => resource.spec.off !== true;
    const { world } = await deletionWorld({ children: [{ ...farChild('far'), when }] });
    spoof(world, {});
    world.edit(podSetOf(world)!, { spec: { off: true } });
    await world.settle();
    assert.deepEqual(placesOf(world, 'ConfigMap'), ['other/spoofed']);
  });

  test('is no element of a list of children elsewhere', async () => {
    const list: HandmadeChild = {
      ...farChild('far'),
      forEach: () => ['x'],
      observes: ['far'],
      template: (_, { item }) => ({ metadata: { name: `far-${item}`, namespace: 'other' } }),
    };
    const status = {
      seen: (view: { allObserved(id: string): readonly KubeObject[] }) =>
        view.allObserved('far').length,
    };
    const { world } = await deletionWorld({ children: [list], status });
    spoof(world, { finalizers: ['example.com/stay'] });
    await world.settle();
    world.edit(podSetOf(world)!, { spec: { edited: true } });
    await world.settle();
    assert.equal(world.status('a').seen, 1);
  });
});

describe('reconcile/ownership: what is on record', () => {
  const list: HandmadeChild = {
    ...farChild('far'),
    forEach: ({ resource }) => (resource.spec.items as string[] | undefined) ?? [],
    template: (_, { item }) => ({ metadata: { name: `far-${item}`, namespace: 'other' } }),
  };
  const want = (world: OperatorWorld, items: readonly string[]) =>
    world.edit(podSetOf(world)!, { spec: { items } });

  test('all that is added at once is put there in one write before it is made, and taken off when it is gone', async () => {
    const { world } = await deletionWorld({ children: [list] });
    want(world, ['x', 'y', 'z']);
    await world.settle();
    world.cluster.takeWrites();
    assert.deepEqual(inventoryOf(world), [
      'ConfigMap other/far-x',
      'ConfigMap other/far-y',
      'ConfigMap other/far-z',
    ]);
    want(world, ['x', 'u', 'v']);
    await world.settle();
    const writes = world.cluster.takeWrites();
    assert.deepEqual(writes.slice(0, 3), [
      'status PodSet/a',
      'apply ConfigMap/far-u',
      'apply ConfigMap/far-v',
    ]);
    assert.equal(writes.filter((write) => write === 'status PodSet/a').length, 2);
    assert.deepEqual(inventoryOf(world), [
      'ConfigMap other/far-u',
      'ConfigMap other/far-v',
      'ConfigMap other/far-x',
    ]);
  });

  test('what was made by a process that died before it could say so is found', async () => {
    const { world } = await deletionWorld({ children: [list] });
    want(world, ['x']);
    world.cluster.deliver();
    // The status that puts it on record is written; the one that reports it is not.
    let statuses = 0;
    world.cluster.fault = ({ verb }) =>
      verb === 'status' && ++statuses > 1
        ? new KubeError('unavailable', 'away', { status: 503 })
        : undefined;
    await world.runOne(key);
    assert.ok(far(world, 'far-x'));
    world.cluster.fault = () => undefined;
    want(world, []);
    await world.restart(planOf({ children: [list] }));
    await world.settle();
    assert.equal(far(world, 'far-x'), undefined);
  });

  test('what the first pass of a process that died has made is found, and put there', async () => {
    const { world } = await deletionWorld({ children: [] });
    world.remove(podSetOf(world)!);
    await world.settle();
    await world.restart(planOf({ children: [list] }));
    world.podSet('a', { items: ['x', 'y'] });
    world.cluster.fault = ({ verb }) =>
      verb === 'status' ? new KubeError('unavailable', 'away', { status: 503 }) : undefined;
    world.cluster.deliver();
    await world.runOne(key);
    assert.ok(far(world, 'far-y'));
    assert.equal(inventoryOf(world), undefined);
    world.cluster.fault = () => undefined;
    want(world, ['x']);
    await world.restart(planOf({ children: [list] }));
    await world.settle();
    assert.deepEqual(placesOf(world, 'ConfigMap'), ['other/far-x']);
    assert.deepEqual(inventoryOf(world), ['ConfigMap other/far-x']);
  });

  test('what cannot be put there is not made, and the resource says why', async () => {
    const { world } = await deletionWorld({ children: [list] });
    world.cluster.fault = ({ verb, manifest }) =>
      verb === 'status' && JSON.stringify(manifest?.status).includes('other/far-x')
        ? new KubeError('rejected', 'no', { status: 422 })
        : undefined;
    want(world, ['x']);
    await world.settle();
    assert.equal(far(world, 'far-x'), undefined);
    assert.match(world.ready('a'), /inventory: no/);
  });

  test('what is in the way, and was not seen before, is off the record again though another pass follows at once', async () => {
    const { world } = await deletionWorld({ children: [list] });
    want(world, ['x']);
    await world.settle();
    want(world, ['x', 'y']);
    world.cluster.deliver();
    spoof(world, { name: 'far-y' }, { token: 'injected' });
    world.cluster.fault = ({ name }) => {
      if (name === 'far-y') world.queued.set(key, 'normal');
      return undefined;
    };
    await world.runOne(key);
    assert.deepEqual(inventoryOf(world), ['ConfigMap other/far-x']);
    world.cluster.fault = () => undefined;
    await world.settle();
    assert.match(world.ready('a'), /Conflict: .*"far-y" already exists/);
    assert.deepEqual(far(world, 'far-y')?.data, { token: 'injected' });
  });

  test('what could not be made is not there: a user could put his own in its place', async () => {
    const { world } = await deletionWorld({ children: [list] });
    world.cluster.fault = ({ verb, kind }) =>
      verb === 'apply' && kind === 'ConfigMap'
        ? new KubeError('forbidden', 'no', { status: 403 })
        : undefined;
    want(world, ['x']);
    await world.settle();
    assert.deepEqual(inventoryOf(world), []);
  });
});

describe('reconcile/ownership: a child that lost its label while no process ran', () => {
  for (const [how, child] of [
    ['its owner reference', mapChild('gone')],
    ['the inventory', farChild('gone')],
  ] as const) {
    test(`and was dropped before one runs again goes, by ${how}`, async () => {
      const { world } = await deletionWorld({ children: [child, mapChild('stays')] });
      const [made] = world.cluster.server
        .list(configMap)
        .filter(({ object }) => object.metadata.name === 'gone');
      assert.ok(made);
      world.operator.stop();
      const { metadata, ...rest } = made.object;
      world.cluster.server.put({ ...rest, metadata: { ...metadata, labels: {} } } as KubeObject);
      await world.restart(planOf({ revision: 'r2', children: [mapChild('stays')] }));
      await world.settle();
      assert.deepEqual(placesOf(world, 'ConfigMap'), ['default/stays']);
      world.cluster.takeWrites();
      await world.runOne(key);
      assert.deepEqual(world.cluster.requests, []);
    });
  }

  test('goes with its resource', async () => {
    const { world, plan } = await deletionWorld({ children: [farChild('far')] });
    world.operator.stop();
    const { metadata, ...rest } = far(world)!;
    world.cluster.server.put({ ...rest, metadata: { ...metadata, labels: {} } } as KubeObject);
    await world.restart(plan);
    await deletePodSet(world);
    assert.equal(podSetOf(world), undefined);
    assert.equal(far(world), undefined);
  });
});
