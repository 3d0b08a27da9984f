import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import type { JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { conditionsOf } from '#util/kube-object.ts';
import type { TimeSlicer } from '#util/time-slicer.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import type { FakeCluster } from '../../../test/support/fakes/fake-cluster.ts';
import { SharedMember } from '../../../test/support/fakes/member-link.ts';
import { PublishedDefinitions } from '../../../test/support/fakes/published-definitions.ts';
import { type ShadowOptions, shadowSpec } from '../../../test/support/fakes/shadow-definition.ts';

const kind = 'ServiceAccount';
const clusters = { selector: { matchLabels: { tier: 'prod' } } };
const inMembers = (rollout: JsonObject = { perSecond: 0 }): ShadowOptions => ({
  kind,
  isOrphaned: true,
  more: { controller: { rollout, clusters } },
});
const resources = ['one', 'two', 'three'];
/** The text "a", in an expression that takes time. */
const computed = '${ $join(["a"]) }';

/** Every piece of work of a reconcile waits for some time first. */
class LateSlicer implements TimeSlicer {
  readonly #clock: FakeClock;
  lateMs = 0;

  constructor(clock: FakeClock) {
    this.#clock = clock;
  }

  acquire(): Promise<void> | undefined {
    if (this.lateMs === 0) return undefined;
    return new Promise((resolve) => void this.#clock.after(this.lateMs, resolve));
  }

  release(): number {
    return 0;
  }

  isExpired(): boolean {
    return false;
  }

  yield(): Promise<void> {
    return Promise.resolve();
  }
}

/** A hub with two members; `shadow` runs in the hub and `local` in both members. */
async function started(t: TestContext, options = inMembers()) {
  const clock = new FakeClock();
  const members = [new SharedMember('east', 'aa-1'), new SharedMember('west', 'aa-2')];
  const hub = new PublishedDefinitions({ clock, members });
  const slicer = new LateSlicer(clock);
  hub.timeSlicer = slicer;
  for (const { name, cluster } of members) {
    hub.register(name, { tier: 'prod' });
    for (const resource of resources) cluster.make(kind, resource);
  }
  for (const resource of resources) hub.cluster.make('Service', resource);
  await hub.start();
  t.after(() => hub.stop());
  hub.put('shadow', shadowSpec(computed, { kind: 'Service', isOrphaned: true }));
  hub.put('local', shadowSpec(computed, options));
  await hub.wait(60_000);
  for (const { cluster } of members) assert.equal(cluster.shadow('three'), 'a');
  assert.equal(hub.cluster.shadow('three'), 'a');
  const link = (name: string) => hub.links.get(name) ?? assert.fail(`There is no ${name}`);
  /** The next process begins; returns what it has written after a minute, in all clusters. */
  const restart = async (during: () => unknown = () => undefined) => {
    await hub.stop();
    hub.cluster.takeWrites();
    const recorded = [...hub.links.values()].map((each) => each.record());
    await hub.start();
    await during();
    await hub.wait(60_000);
    return [hub.cluster.takeWrites(), ...recorded.map((take) => take())].flat();
  };
  const [east, west] = members as [SharedMember, SharedMember];
  return { hub, clock, slicer, east, west, link, restart };
}

type Harness = Awaited<ReturnType<typeof started>>;

const statusIn = (object: KubeObject | undefined) => (object?.status ?? {}) as Status;

interface Status {
  readonly instances?: number;
  readonly readyInstances?: number;
  readonly clusters?: { readonly running: number; readonly unreachable: number };
  readonly revisions?: readonly unknown[];
}

const ready = (object: KubeObject | undefined) =>
  conditionsOf(object ?? {}).find(({ type }) => type === 'Ready');

/** What happens to the next process, in which nothing has changed. */
const starts: readonly (readonly [string, (harness: Harness) => (() => unknown) | undefined])[] = [
  ['at once', () => undefined],
  [
    'whose first reconciles are late',
    ({ slicer }) => {
      slicer.lateMs = 700;
      return undefined;
    },
  ],
  [
    'that is connected to its members slowly',
    ({ clock, link }) => {
      const after = (ms: number) => () =>
        new Promise<void>((resolve) => void clock.after(ms, resolve));
      link('east').contact = after(1_000);
      link('west').contact = after(4_000);
      return undefined;
    },
  ],
  [
    'that is connected to its members slowly, and whose first reconciles are late',
    ({ slicer, clock, link }) => {
      slicer.lateMs = 700;
      link('west').contact = () => new Promise<void>((resolve) => void clock.after(2_000, resolve));
      return undefined;
    },
  ],
  ...(['Lease', kind, 'ConfigMap'] as const).map(
    (what) =>
      [
        `where a member fails to list ${what} for a moment`,
        ({ hub, link }: Harness) => {
          const error = new KubeError('unexpected', 'Try again', { status: 500 });
          let failing: FakeCluster | undefined;
          link('west').onOpen = (cluster) => {
            failing ??= cluster;
            if (failing === cluster) cluster.block(what, error);
          };
          return async () => {
            await hub.wait(1_000);
            failing?.unblock(what);
          };
        },
      ] as const,
  ),
  [
    'that fails to list the members for a moment',
    ({ hub }) => {
      hub.cluster.block('Cluster', new KubeError('unexpected', 'Try again', { status: 500 }));
      return async () => {
        await hub.wait(3_000);
        hub.cluster.unblock('Cluster');
      };
    },
  ],
  [
    'that fails to read the Secret of the members for a moment',
    ({ hub }) => {
      hub.cluster.block('Secret', new KubeError('unexpected', 'Try again', { status: 500 }));
      return async () => {
        await hub.wait(1_000);
        hub.cluster.unblock('Secret');
      };
    },
  ],
];

describe('runtime/silent-start: when nothing has changed, the next process writes nothing', () => {
  for (const [title, prepare] of starts)
    test(`one that starts ${title}`, async (t) => {
      const harness = await started(t);
      assert.deepEqual(await harness.restart(prepare(harness)), []);
      harness.slicer.lateMs = 0;
      await harness.hub.wait(10_000);
    });

  for (const lateMs of [0, 700])
    test(`nor while definitions are deleted and wait for resources, with reconciles that are ${lateMs} ms late`, async (t) => {
      const { hub, slicer, restart } = await started(t);
      for (const name of ['shadow', 'local']) hub.delete(name);
      await hub.wait(60_000);
      assert.match(String(ready(hub.object('shadow'))?.message), /^3 resources have its finalizer/);
      assert.match(String(ready(hub.object('local'))?.message), /^6 resources have its finalizer/);
      slicer.lateMs = lateMs;
      assert.deepEqual(await restart(), []);
      slicer.lateMs = 0;
      await hub.wait(10_000);
    });

  test('nor while a member that was unreachable stays so', async (t) => {
    const { hub, link, restart } = await started(t);
    link('west').cut();
    await hub.wait(60_000);
    assert.equal(statusIn(hub.object('local')).clusters?.unreachable, 1);
    assert.deepEqual(await restart(), []);
  });
});

describe('runtime/silent-start: what has changed is written', () => {
  test('a resource that was created meanwhile, once', async (t) => {
    const { hub, slicer, east, restart } = await started(t);
    slicer.lateMs = 700;
    const writes = await restart(() => {
      slicer.lateMs = 0;
    });
    assert.deepEqual(writes, []);
    await hub.stop();
    hub.cluster.make('Service', 'four');
    east.cluster.make(kind, 'four');
    await hub.start();
    await hub.wait(60_000);
    const statuses = hub.cluster.takeWrites().filter((write) => write.startsWith('status '));
    assert.deepEqual(statuses.toSorted(), [
      'status Cluster/east',
      'status OperatorDefinition/local',
      'status OperatorDefinition/shadow',
    ]);
    const [shadow, local] = ['shadow', 'local'].map((name) => statusIn(hub.object(name)));
    assert.deepEqual([shadow?.instances, shadow?.readyInstances], [4, 4]);
    assert.deepEqual([local?.instances, local?.readyInstances], [7, 7]);
  });

  test('a member that cannot be reached', async (t) => {
    const { hub, link, restart } = await started(t);
    await restart(() => link('west').cut());
    const { running, unreachable } = statusIn(hub.object('local')).clusters ?? {};
    assert.deepEqual({ running, unreachable }, { running: 1, unreachable: 1 });
  });

  test('a member in which a definition fails, when that lasts', async (t) => {
    const { hub, link, restart } = await started(t);
    const error = new KubeError('unexpected', 'Try again', { status: 500 });
    link('west').onOpen = (cluster) => cluster.block('Lease', error);
    await restart();
    assert.equal(ready(hub.object('local'))?.reason, 'ClustersFailing');
    assert.equal(ready(hub.member('west'))?.reason, 'DefinitionsFailing');
  });
});

describe('runtime/silent-start: a roll-out in members', () => {
  test('keeps the older revision of a member that is not connected when the next process begins', async (t) => {
    const slow = inMembers({ perSecond: 0.01 });
    const { hub, west, link, restart } = await started(t, slow);
    hub.put('local', shadowSpec('b', slow));
    await hub.wait(10_000);
    const texts = resources.map((name) => west.cluster.shadow(name));
    assert.deepEqual(new Set(texts), new Set(['a', 'b']));
    assert.equal(statusIn(hub.object('local')).revisions?.length, 2);
    link('west').cut();
    await restart();
    const { clusters, revisions } = statusIn(hub.object('local'));
    assert.deepEqual([clusters?.unreachable, revisions?.length], [1, 2]);
  });
});
