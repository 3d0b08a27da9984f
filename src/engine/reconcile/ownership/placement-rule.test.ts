import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import { gvkOf } from '#util/gvk.ts';
import type { KubeObject, ObjectMeta } from '#util/kube-object.ts';
import {
  deletePodSet,
  deletionHarness,
  farChild,
  inventoryOf,
  mapChild,
  placesOf,
  podSetOf,
} from '../../../../test/support/fakes/deletion-harness.ts';
import { type HandmadeChild, planOf } from '../../../../test/support/fakes/handmade-plan.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';

const key = 'default/a';
const configMap = gvkOf('v1', 'ConfigMap');

/** Somebody who may write objects, and knows all that a child of PodSet `a` carries, makes one that looks like it. */
function spoof(
  harness: OperatorHarness,
  { child = 'far', ...metadata }: Partial<ObjectMeta> & { readonly child?: string },
  data: Readonly<Record<string, string>> = {},
): void {
  const uid = podSetOf(harness)?.metadata.uid ?? '';
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
  harness.cluster.server.apply({ manifest, manager, force: true, status: false });
}

/** A controller reference to PodSet `a`. */
function ownedBy(harness: OperatorHarness): Pick<ObjectMeta, 'ownerReferences'> {
  const uid = podSetOf(harness)?.metadata.uid ?? '';
  const controller = { name: 'a', uid, controller: true };
  return {
    ownerReferences: [{ apiVersion: 'apps.example.com/v1', kind: 'PodSet', ...controller }],
  };
}

function far(harness: OperatorHarness, name = 'far'): KubeObject | undefined {
  return harness.cluster.server.get(configMap, 'other', name)?.object;
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
      const { harness } = await deletionHarness({
        children: [child],
        status: {
          token: (view) => (view.observed('far')?.data as { token?: string } | undefined)?.token,
        },
      });
      const owned = child.crossNamespace === false ? ownedBy(harness) : {};
      const creationTimestamp = '2030-01-01T00:00:00Z';
      spoof(harness, { ...place, ...owned, creationTimestamp }, { token: 'injected' });
      await harness.settle();
      harness.edit(podSetOf(harness)!, { spec: { edited: true } });
      await harness.settle();
      await harness.restart(planOf({ children: [child], status: { token: () => undefined } }));
      await harness.settle();
      assert.equal(JSON.stringify(harness.status('a')).includes('injected'), false);
      const namespace = child.crossNamespace === false ? 'default' : 'other';
      const made = harness.cluster.server.get(configMap, namespace, 'far')?.object;
      assert.deepEqual(made?.data, { token: 'made' });
    });
  }

  test('where a child may be is not taken for the child that is not made yet', async () => {
    const { harness } = await deletionHarness({
      children: [{ ...keeper(), when: ({ resource }) => resource.spec.on === true }],
    });
    assert.deepEqual(inventoryOf(harness), []);
    spoof(harness, { name: 'far' }, { token: 'injected' });
    await harness.settle();
    harness.edit(podSetOf(harness)!, { spec: { on: true } });
    await harness.settle();
    assert.match(
      harness.ready('a'),
      /Conflict: .*"far" already exists: it has the labels of this child, but is not in the inventory/,
    );
    assert.deepEqual(far(harness)?.data, { token: 'injected' });
    assert.deepEqual(inventoryOf(harness), []);
    harness.remove(far(harness)!);
    await harness.settle();
    assert.deepEqual(far(harness)?.data, { token: 'made' });
  });

  test('is not taken for a child of a resource that is new, either', async () => {
    const harness = new OperatorHarness(planOf({ children: [keeper()] }));
    await harness.start();
    harness.podSet('a');
    spoof(harness, { name: 'far' }, { token: 'injected' });
    await harness.settle();
    assert.match(harness.ready('a'), /Conflict: .*"far" already exists/);
    assert.deepEqual(far(harness)?.data, { token: 'injected' });
    assert.deepEqual(inventoryOf(harness), []);
  });

  for (const [where, place] of [
    ['where children may be', {}],
    ['in any other namespace', { namespace: 'elsewhere' }],
    ['with an owner reference that means nothing there', { isOwned: true }],
  ] as const) {
    test(`${where} keeps no resource from being deleted`, async () => {
      const { harness } = await deletionHarness({ children: [farChild('far')] });
      const { isOwned = false, ...metadata } = place as { isOwned?: boolean; namespace?: string };
      const owned = isOwned ? ownedBy(harness) : {};
      spoof(harness, { ...metadata, ...owned, finalizers: ['example.com/stay'] });
      await harness.settle();
      await deletePodSet(harness);
      assert.equal(podSetOf(harness), undefined);
      assert.equal(far(harness), undefined);
      assert.equal(placesOf(harness, 'ConfigMap').length, 1);
    });
  }

  test('keeps no resource from being deleted by losing its label while the process looks', async () => {
    const { harness } = await deletionHarness({ children: [farChild('far')] });
    spoof(harness, { finalizers: ['example.com/stay'] });
    // Before any pass looks at it.
    harness.cluster.deliver();
    const { metadata, ...rest } = far(harness, 'spoofed')!;
    harness.cluster.server.put({ ...rest, metadata: { ...metadata, labels: {} } } as KubeObject);
    await harness.settle();
    await deletePodSet(harness);
    assert.equal(podSetOf(harness), undefined);
    const { metadata: left } = far(harness, 'spoofed')!;
    assert.equal(left.deletionTimestamp, undefined);
  });

  test('beside a resource with "onDelete" does not keep it either', async () => {
    const { harness } = await deletionHarness({ children: [mapChild('own')], onDelete: {} });
    spoof(harness, {
      child: 'own',
      namespace: 'default',
      finalizers: ['example.com/stay'],
      ...ownedBy(harness),
    });
    await harness.settle();
    await deletePodSet(harness);
    assert.equal(podSetOf(harness), undefined);
    assert.deepEqual(placesOf(harness, 'ConfigMap'), ['default/spoofed']);
  });

  test('is not deleted when the child it claims to be of is not wanted any more', async () => {
    const when: HandmadeChild['when'] = ({ resource }) => resource.spec.off !== true;
    const { harness } = await deletionHarness({ children: [{ ...farChild('far'), when }] });
    spoof(harness, {});
    harness.edit(podSetOf(harness)!, { spec: { off: true } });
    await harness.settle();
    assert.deepEqual(placesOf(harness, 'ConfigMap'), ['other/spoofed']);
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
    const { harness } = await deletionHarness({ children: [list], status });
    spoof(harness, { finalizers: ['example.com/stay'] });
    await harness.settle();
    harness.edit(podSetOf(harness)!, { spec: { edited: true } });
    await harness.settle();
    assert.equal(harness.status('a').seen, 1);
  });
});

describe('reconcile/ownership: what is on record', () => {
  const list: HandmadeChild = {
    ...farChild('far'),
    forEach: ({ resource }) => (resource.spec.items as string[] | undefined) ?? [],
    template: (_, { item }) => ({ metadata: { name: `far-${item}`, namespace: 'other' } }),
  };
  const want = (harness: OperatorHarness, items: readonly string[]) =>
    harness.edit(podSetOf(harness)!, { spec: { items } });

  test('all that is added at once is put there in one write before it is made, and taken off when it is gone', async () => {
    const { harness } = await deletionHarness({ children: [list] });
    want(harness, ['x', 'y', 'z']);
    await harness.settle();
    harness.cluster.takeWrites();
    assert.deepEqual(inventoryOf(harness), [
      'ConfigMap other/far-x',
      'ConfigMap other/far-y',
      'ConfigMap other/far-z',
    ]);
    want(harness, ['x', 'u', 'v']);
    await harness.settle();
    const writes = harness.cluster.takeWrites();
    assert.deepEqual(writes.slice(0, 3), [
      'status PodSet/a',
      'apply ConfigMap/far-u',
      'apply ConfigMap/far-v',
    ]);
    assert.equal(writes.filter((write) => write === 'status PodSet/a').length, 2);
    assert.deepEqual(inventoryOf(harness), [
      'ConfigMap other/far-u',
      'ConfigMap other/far-v',
      'ConfigMap other/far-x',
    ]);
  });

  test('what was made by a process that died before it could say so is found', async () => {
    const { harness } = await deletionHarness({ children: [list] });
    want(harness, ['x']);
    harness.cluster.deliver();
    // The status that puts it on record is written; the one that reports it is not.
    let statuses = 0;
    harness.cluster.fault = ({ verb }) =>
      verb === 'status' && ++statuses > 1
        ? new KubeError('unavailable', 'away', { status: 503 })
        : undefined;
    await harness.runOne(key);
    assert.ok(far(harness, 'far-x'));
    harness.cluster.fault = () => undefined;
    want(harness, []);
    await harness.restart(planOf({ children: [list] }));
    await harness.settle();
    assert.equal(far(harness, 'far-x'), undefined);
  });

  test('what the first pass of a process that died has made is found, and put there', async () => {
    const { harness } = await deletionHarness({ children: [] });
    harness.remove(podSetOf(harness)!);
    await harness.settle();
    await harness.restart(planOf({ children: [list] }));
    harness.podSet('a', { items: ['x', 'y'] });
    harness.cluster.fault = ({ verb }) =>
      verb === 'status' ? new KubeError('unavailable', 'away', { status: 503 }) : undefined;
    harness.cluster.deliver();
    await harness.runOne(key);
    assert.ok(far(harness, 'far-y'));
    assert.equal(inventoryOf(harness), undefined);
    harness.cluster.fault = () => undefined;
    want(harness, ['x']);
    await harness.restart(planOf({ children: [list] }));
    await harness.settle();
    assert.deepEqual(placesOf(harness, 'ConfigMap'), ['other/far-x']);
    assert.deepEqual(inventoryOf(harness), ['ConfigMap other/far-x']);
  });

  test('what cannot be put there is not made, and the resource says why', async () => {
    const { harness } = await deletionHarness({ children: [list] });
    harness.cluster.fault = ({ verb, manifest }) =>
      verb === 'status' && JSON.stringify(manifest?.status).includes('other/far-x')
        ? new KubeError('rejected', 'no', { status: 422 })
        : undefined;
    want(harness, ['x']);
    await harness.settle();
    assert.equal(far(harness, 'far-x'), undefined);
    assert.match(harness.ready('a'), /inventory: no/);
  });

  test('what is in the way, and was not seen before, is off the record again though another pass follows at once', async () => {
    const { harness } = await deletionHarness({ children: [list] });
    want(harness, ['x']);
    await harness.settle();
    want(harness, ['x', 'y']);
    harness.cluster.deliver();
    spoof(harness, { name: 'far-y' }, { token: 'injected' });
    harness.cluster.fault = ({ name }) => {
      if (name === 'far-y') harness.queued.set(key, 'normal');
      return undefined;
    };
    await harness.runOne(key);
    assert.deepEqual(inventoryOf(harness), ['ConfigMap other/far-x']);
    harness.cluster.fault = () => undefined;
    await harness.settle();
    assert.match(harness.ready('a'), /Conflict: .*"far-y" already exists/);
    assert.deepEqual(far(harness, 'far-y')?.data, { token: 'injected' });
  });

  test('what could not be made is not there: a user could put his own in its place', async () => {
    const { harness } = await deletionHarness({ children: [list] });
    harness.cluster.fault = ({ verb, kind }) =>
      verb === 'apply' && kind === 'ConfigMap'
        ? new KubeError('forbidden', 'no', { status: 403 })
        : undefined;
    want(harness, ['x']);
    await harness.settle();
    assert.deepEqual(inventoryOf(harness), []);
  });
});

describe('reconcile/ownership: a child that lost its label while no process ran', () => {
  for (const [how, child] of [
    ['its owner reference', mapChild('gone')],
    ['the inventory', farChild('gone')],
  ] as const) {
    test(`and was dropped before one runs again is deleted, by ${how}`, async () => {
      const { harness } = await deletionHarness({ children: [child, mapChild('stays')] });
      const [made] = harness.cluster.server
        .list(configMap)
        .filter(({ object }) => object.metadata.name === 'gone');
      assert.ok(made);
      harness.operator.stop();
      const { metadata, ...rest } = made.object;
      harness.cluster.server.put({ ...rest, metadata: { ...metadata, labels: {} } } as KubeObject);
      await harness.restart(planOf({ revision: 'r2', children: [mapChild('stays')] }));
      await harness.settle();
      assert.deepEqual(placesOf(harness, 'ConfigMap'), ['default/stays']);
      harness.cluster.takeWrites();
      await harness.runOne(key);
      assert.deepEqual(harness.cluster.requests, []);
    });
  }

  test('is deleted with its resource', async () => {
    const { harness, plan } = await deletionHarness({ children: [farChild('far')] });
    harness.operator.stop();
    const { metadata, ...rest } = far(harness)!;
    harness.cluster.server.put({ ...rest, metadata: { ...metadata, labels: {} } } as KubeObject);
    await harness.restart(plan);
    await deletePodSet(harness);
    assert.equal(podSetOf(harness), undefined);
    assert.equal(far(harness), undefined);
  });
});
