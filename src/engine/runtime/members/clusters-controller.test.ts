import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { bundledSchemas } from '#compile';
import type { KubeCluster } from '#kube';
import type { KindSchema } from '#kube/roles.ts';
import { type Gvk, gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { createSystemRandom } from '#util/random.ts';
import { unlimitedTimeSlicer } from '#util/time-slicer.ts';
import { FakeClock, settle } from '../../../../test/support/fake-clock.ts';
import { RuntimeFakeCluster } from '../../../../test/support/fakes/runtime-fake-cluster.ts';
import { locatedShadow, shadowSpec } from '../../../../test/support/fakes/shadow-definition.ts';
import { freshMetrics, silentLogger } from '../../../../test/support/silent-telemetry.ts';
import type { DefinitionTask } from '../definitions/decide.ts';
import { leaseGvk } from '../leadership/lease.ts';
import { ViewChangeNotifier } from '../view-change-notifier.ts';
import { clusterGvk } from './cluster-kind.ts';
import { ClustersController } from './clusters-controller.ts';
import type { ConnectionEvents } from './member-connection.ts';

const [secretGvk, namespaceGvk] = [gvkOf('v1', 'Secret'), gvkOf('v1', 'Namespace')];
const types = [
  { gvk: secretGvk, plural: 'secrets', namespaced: true, hasStatus: false, verbs: [] },
  { gvk: namespaceGvk, plural: 'namespaces', namespaced: false, hasStatus: true, verbs: [] },
  { gvk: leaseGvk, plural: 'leases', namespaced: true, hasStatus: false, verbs: [] },
  { gvk: clusterGvk, plural: 'clusters', namespaced: false, hasStatus: true, verbs: [] },
];
const kubeconfig = JSON.stringify({
  'current-context': 'a',
  contexts: [{ name: 'a', context: { cluster: 'a' } }],
  clusters: [{ name: 'a', cluster: { server: 'https://member' } }],
});

const clusters = { selector: { matchLabels: { tier: 'prod' } } };
const more = { controller: { rollout: { perSecond: 0 }, clusters } };
const located = locatedShadow(shadowSpec('a', { isOrphaned: true, more }));
const run: DefinitionTask = { kind: 'run', desired: { located } };

class SystemCluster extends RuntimeFakeCluster {
  constructor() {
    super(types);
  }

  override async fetchKindSchema(gvk: Gvk): Promise<KindSchema | undefined> {
    return bundledSchemas().schemaFor(gvk);
  }
}

/** A hub with the member `paris`, which is reached as long as it has its Secret. `status`: of its `Cluster`, from an earlier process. */
async function started(
  t: TestContext,
  { status, isNeeded = true }: { readonly status?: object; readonly isNeeded?: boolean } = {},
) {
  const [hub, member] = [new SystemCluster(), new SystemCluster()];
  hub.server.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kube-system' } });
  const clock = new FakeClock();
  const connections: ConnectionEvents[] = [];
  const marked: string[] = [];
  let used = 0;
  /** Definitions that do not exist. */
  const gone = new Set<string>();
  const mark = (name: string) => () => void marked.push(name);
  const request = async ({ path }: { readonly path: string }) => ({
    status: 200,
    body: path === '/version' ? { gitVersion: 'v1' } : { metadata: { uid: 'aa-1' } },
  });
  const controller = new ClustersController({
    cluster: hub,
    clock,
    random: createSystemRandom(),
    logger: silentLogger(),
    metrics: freshMetrics(),
    timeSlicer: unlimitedTimeSlicer,
    notifier: new ViewChangeNotifier(clock),
    secrets: { namespace: 'default', allowed: ['default'] },
    connect: (_config, events) => {
      connections.push(events as ConnectionEvents);
      const client = Object.assign(member, { api: { request }, disconnect: async () => {} });
      return { cluster: client as unknown as KubeCluster, close: async () => {} };
    },
    isGone: (name) => gone.has(name),
    onDefinition: mark('any'),
    onUsed: () => {
      used += 1;
    },
    listenerOf: (name) => ({ awaited: mark(name), changed: mark(name), counted: mark(name) }),
  });
  const register = (labels: Readonly<Record<string, string>>, secret = 'paris') => {
    const now = hub.server.get(clusterGvk, undefined, 'paris')?.object;
    hub.server.put({
      apiVersion: 'homeostat.dev/v1alpha1',
      kind: 'Cluster',
      ...now,
      metadata: { ...now?.metadata, name: 'paris', labels },
      spec: { kubeconfig: { secretRef: { name: secret } } },
    } as KubeObject);
  };
  hub.server.put({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'paris', namespace: 'default' },
    data: { kubeconfig: Buffer.from(kubeconfig).toString('base64') },
  } as KubeObject);
  register({ tier: 'prod' });
  if (status !== undefined)
    hub.server.apply({
      manifest: {
        apiVersion: 'homeostat.dev/v1alpha1',
        kind: 'Cluster',
        metadata: { name: 'paris' },
        status,
      },
      manager: 'homeostat/clusters.status',
      force: true,
      status: true,
    });
  /** Lets everything happen that takes less than some seconds. */
  const calm = async () => {
    for (let quiet = 0, rounds = 0; quiet < 8; quiet++, rounds++) {
      assert.ok(rounds < 100, 'It never comes to rest');
      await clock.advance(500);
      await settle();
      if ([hub.deliver(), member.deliver()].some(Boolean)) quiet = 0;
    }
  };
  const make = (name: string) =>
    member.server.put({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace: 'default' },
    });
  const shadow = (name: string) =>
    member.server.get(gvkOf('v1', 'ConfigMap'), 'default', `${name}-shadow`)?.object;
  const loseConnection = () => connections.at(-1)?.onLost?.('outage');
  /** What the status of the `Cluster` records of the definition. */
  const recorded = () => {
    const status = hub.server.get(clusterGvk, undefined, 'paris')?.object.status as
      | {
          readonly definitions?: readonly {
            readonly kinds?: unknown;
            readonly revision?: string;
          }[];
        }
      | undefined;
    const { kinds, revision } = status?.definitions?.[0] ?? {};
    return { kinds, revision };
  };
  /** Holds requests to the member from now on. Returns how to send them. */
  const held = Promise.withResolvers<void>();
  const hold = () => {
    member.pace = () => held.promise;
    return held.resolve;
  };
  const stopper = new AbortController();
  if (isNeeded) controller.activate();
  const ended = controller.run(stopper.signal);
  t.after(async () => {
    held.resolve();
    stopper.abort(new Error('The test has ended'));
    await ended;
    assert.deepEqual(member.watched, []);
  });
  await calm();
  const holder = () => {
    const lease = member.server.get(leaseGvk, 'kube-system', 'homeostat-shadow')?.object;
    return (lease?.spec as { readonly holderIdentity?: string } | undefined)?.holderIdentity;
  };
  const harness = { hub, member, controller, connections, marked, recorded, gone, holder };
  return { ...harness, register, calm, make, shadow, loseConnection, hold, uses: () => used };
}

/** With a definition that runs in the member. */
async function running(t: TestContext) {
  const harness = await started(t);
  harness.make('one');
  harness.controller.setTask('shadow', run);
  await harness.calm();
  assert.ok(harness.shadow('one'), JSON.stringify(harness.controller.viewOf('shadow')));
  return harness;
}

describe('runtime/members/clusters-controller', () => {
  test('members are used from the first task that needs them on, or may have needed them', async (t) => {
    const { hub, controller, calm, uses } = await started(t, { isNeeded: false });
    const message = 'Being deleted';
    controller.noteTask({ kind: 'wait', message });
    controller.noteTask({ kind: 'finalize', reason: 'Deleted', message });
    assert.equal(uses(), 0);
    const policy = { children: true, crd: true };
    const uninstall = { policy, located, sinceMs: 0 };
    controller.noteTask({ kind: 'finalize', reason: 'Deleted', message, uninstall });
    await calm();
    assert.equal(uses(), 1);
    // A definition that is deleted does not bring the kind.
    assert.deepEqual([hub.watched, hub.takeWrites()], [[], []]);
    controller.noteTask(run);
    await calm();
    assert.equal(uses(), 1);
    assert.ok(hub.watched.some(({ gvk }) => gvk.kind === 'Cluster'));
  });

  test('a definition that was forgotten does nothing after the member is connected again', async (t) => {
    const { member, controller, connections, recorded, calm, make, shadow, loseConnection } =
      await running(t);
    const before = recorded();
    assert.ok(before.revision);
    await controller.forget('shadow');
    loseConnection();
    await calm();
    assert.equal(connections.length, 2);
    member.takeWrites();
    make('two');
    await calm();
    assert.equal(shadow('two'), undefined);
    assert.deepEqual(member.takeWrites(), []);
    assert.deepEqual(recorded(), before);
  });

  test('a definition that was forgotten runs again at once when it gets a task', async (t) => {
    const { controller, connections, calm, make, shadow } = await running(t);
    await controller.forget('shadow');
    make('two');
    await calm();
    assert.equal(shadow('two'), undefined);
    controller.setTask('shadow', run);
    await calm();
    assert.ok(shadow('two'));
    assert.equal(controller.viewOf('shadow')?.clusters.running, 1);
    assert.equal(connections.length, 1);
  });

  test('a connection does not end before the work of a definition that was forgotten', async (t) => {
    const { controller, connections, member, calm, make, shadow, loseConnection, hold } =
      await running(t);
    const release = hold();
    make('two');
    await calm();
    assert.equal(member.inFlight, 1);
    const forgotten = controller.forget('shadow');
    loseConnection();
    await calm();
    assert.equal(connections.length, 1);
    release();
    await forgotten;
    await calm();
    assert.equal(connections.length, 2);
    make('three');
    await calm();
    assert.equal(shadow('three'), undefined);
    controller.setTask('shadow', run);
    await calm();
    assert.ok(shadow('three'));
  });

  test('a task after a definition was forgotten waits until the work before has ended', async (t) => {
    const { controller, member, calm, make, shadow, hold } = await running(t);
    const release = hold();
    make('two');
    await calm();
    const forgotten = controller.forget('shadow');
    member.requests.length = 0;
    controller.setTask('shadow', run);
    await calm();
    assert.deepEqual([member.inFlight, member.requests], [1, []]);
    release();
    await forgotten;
    await calm();
    assert.ok(shadow('two'));
    assert.equal(controller.viewOf('shadow')?.clusters.running, 1);
  });

  test('the selection of a member that cannot be reached is shown when its labels change', async (t) => {
    const { controller, marked, register, calm } = await started(t);
    register({ tier: 'test' }, 'missing');
    await calm();
    controller.setTask('shadow', run);
    await calm();
    assert.equal(controller.viewOf('shadow')?.clusters.selected, 0);
    marked.length = 0;
    register({ tier: 'test', other: 'label' }, 'missing');
    await calm();
    assert.ok(!marked.includes('shadow'));
    register({ tier: 'prod' }, 'missing');
    await calm();
    const { selected, unreachable } = controller.viewOf('shadow')?.clusters ?? {};
    assert.deepEqual({ selected, unreachable }, { selected: 1, unreachable: ['paris'] });
    assert.ok(marked.includes('shadow'));
    marked.length = 0;
    register({ tier: 'test' }, 'missing');
    await calm();
    assert.ok(marked.includes('shadow'));
  });

  test('a definition that is gone leaves the status of a member when it is forgotten, with its Lease', async (t) => {
    const { controller, gone, recorded, holder, calm, shadow } = await running(t);
    assert.equal(holder(), controller.hubUid);
    gone.add('shadow');
    await controller.forget('shadow');
    await calm();
    assert.deepEqual(recorded(), { kinds: undefined, revision: undefined });
    assert.equal(holder(), undefined);
    assert.ok(shadow('one'));
  });

  test('so does one that an earlier process has recorded, when it is known that it is gone', async (t) => {
    const definitions = [{ name: 'shadow', state: 'Running', revision: 'r1' }];
    const { controller, gone, recorded, holder, member, calm } = await started(t, {
      status: { uid: 'aa-1', definitions },
    });
    const spec = { holderIdentity: controller.hubUid };
    const metadata = { name: 'homeostat-shadow', namespace: 'kube-system' };
    member.server.put({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec });
    await calm();
    assert.equal(recorded().revision, 'r1');
    gone.add('shadow');
    controller.giveUpGone();
    await calm();
    assert.equal(recorded().revision, undefined);
    assert.equal(holder(), undefined);
  });

  test('a Lease that another hub has stays when a definition is gone', async (t) => {
    const { controller, gone, recorded, holder, member, calm } = await running(t);
    const lease = member.server.get(leaseGvk, 'kube-system', 'homeostat-shadow')?.object;
    assert.ok(lease);
    member.server.put({ ...lease, spec: { holderIdentity: 'another' } });
    await calm();
    gone.add('shadow');
    await controller.forget('shadow');
    await calm();
    assert.equal(recorded().revision, undefined);
    assert.equal(holder(), 'another');
  });

  test('a Cluster of another runtime does not hold up the end of a definition', async (t) => {
    const { hub, member, controller, calm } = await running(t);
    hub.server.put({
      apiVersion: 'homeostat.dev/v1alpha1',
      kind: 'Cluster',
      metadata: { name: 'rome', labels: { 'homeostat.dev/runtime': 'there' } },
      spec: { kubeconfig: { secretRef: { name: 'rome' } } },
    });
    await calm();
    const message = 'Being deleted';
    controller.setTask('shadow', { kind: 'finalize', reason: 'Deleted', message });
    await calm();
    assert.equal(controller.isDone('shadow'), false);
    member.server.delete(secretGvk, { namespace: 'default', name: 'one' });
    await calm();
    assert.equal(controller.isDone('shadow'), true);
  });
});
