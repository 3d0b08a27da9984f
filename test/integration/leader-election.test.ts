import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { thing, thingDefinition, thingPath } from '../support/definitions.ts';
import { HomeostatProcess } from '../support/homeostat-process.ts';
import { untilStatus } from '../support/scrape.ts';

/** Each process is a user of its own, so that the audit log tells who wrote. */
const users = Array.from({ length: 12 }, (_, index) => `replica-${index}`);
const shared = useControlPlane({ audit: true, controllerManager: false, users });
const leasePath = '/apis/coordination.k8s.io/v1/namespaces/homeostat-system/leases/homeostat';

/** Shorter than the defaults, and long enough for a machine that is busy. */
const flags = [
  '--leader-elect',
  ...['--lease-duration', '15s'],
  ...['--renew-deadline', '12s'],
  ...['--retry-period', '1s'],
];
/** Where no Lease is to run out, however long the machine stands still. */
const lasting = ['--lease-duration', '90s', '--renew-deadline', '60s'];
const definitions = {
  'elected.yaml': thingDefinition(
    'elected',
    `  children:
    - id: copy
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }" }
        data: { size: "\${ $string(spec.size) }" }
  status: { size: "\${ spec.size }" }
`,
  ),
};

interface Replica {
  readonly user: string;
  readonly process: HomeostatProcess;
}

shared.describe('integration/leader-election', () => {
  const running = new Set<Replica>();
  const left = [...users];
  // What is mounted into the Pods of all replicas.
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-elected-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  before(async () => {
    const client = shared.client();
    await client.apply({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'homeostat-system' },
    });
    const group = 'rbac.authorization.k8s.io';
    await client.apply({
      apiVersion: `${group}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'replicas' },
      roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: users.map((name) => ({ apiGroup: group, kind: 'User', name })),
    });
  });
  afterEach(async () => {
    await Promise.all([...running].map(({ process }) => process.stop('SIGKILL')));
    running.clear();
    await shared.client().delete(leasePath);
  });

  function start(more: readonly string[] = []): Replica {
    const user = left.shift();
    assert.ok(user, 'More users are needed');
    const kubeconfig = shared.plane.kubeconfigPath(user);
    const all = { kubeconfig, definitions, folder, flags: [...flags, ...more] };
    const replica = { user, process: new HomeostatProcess(all) };
    running.add(replica);
    return replica;
  }

  /** One that leads, and one that follows. */
  async function startTwo(more: readonly string[] = []): Promise<readonly [Replica, Replica]> {
    const leader = start(more);
    await leader.process.whenLogged('Became leader');
    await leader.process.whenReady();
    const follower = start(more);
    await follower.process.whenLogged('Follower, another process is the leader');
    await untilStatus(follower.process, '/readyz', 200);
    return [leader, follower];
  }

  async function untilCopied(namespace: string, size: number, name = 'one'): Promise<void> {
    await shared
      .client()
      .untilObject(
        `/api/v1/namespaces/${namespace}/configmaps/${name}`,
        (object) => (object?.data as { readonly size?: string })?.size === String(size),
      );
    await shared
      .client()
      .untilObject(
        thingPath('elected', namespace, name),
        (object) => (object?.status as { readonly size?: number })?.size === size,
      );
  }

  function apply(namespace: string, size: number, name = 'one') {
    return shared.client().apply(thing('elected', namespace, { size }, name));
  }

  /** When the present holder has taken the Lease, by the clock of this machine. */
  async function acquiredAtMs(): Promise<number> {
    const lease = await shared.client().get<KubeObject>(leasePath);
    return Date.parse(String((lease?.spec as { readonly acquireTime?: string })?.acquireTime));
  }

  function writesOf({ user }: Replica) {
    const reads = new Set(['get', 'list', 'watch']);
    return shared.audit
      .entries({ user, ofDefinitions: true })
      .filter(({ verb }) => !reads.has(verb));
  }

  function textsOf(replica: Replica, sinceMs = 0): readonly string[] {
    return writesOf(replica)
      .filter(({ atMs }) => atMs > sinceMs)
      .map(({ verb, uri, status }) => `${verb} ${uri} ${status}`);
  }

  test('one works, the other is ready and writes nothing; asked to stop, the first hands over', async () => {
    const namespace = await shared.namespace();
    const [first, second] = await startTwo(lasting);
    await apply(namespace, 1);
    await untilCopied(namespace, 1);
    await apply(namespace, 2);
    await untilCopied(namespace, 2);
    assert.equal(await untilStatus(second.process, '/readyz', 200), 'ok\n');
    assert.equal(await untilStatus(second.process, '/healthz', 200), 'ok\n');
    const metrics = await untilStatus(second.process, '/metrics', 200);
    assert.match(metrics, /^leader_election_master_status\{name="homeostat"\} 0$/m);
    const asked = shared.audit.entries({ user: second.user, ofDefinitions: true });
    assert.deepEqual(
      [...new Set(asked.map(({ resource }) => resource))].filter((each) => each !== 'leases'),
      [],
    );
    assert.match(
      await untilStatus(second.process, '/readyz?verbose', 200),
      /\[\+\]follower: the leader is /,
    );
    assert.deepEqual(textsOf(second), []);

    // It has reported and recorded all that there is: what it leaves undone the next one does.
    await shared.audit.quiet(1_000, { user: first.user, ofDefinitions: true });
    assert.equal(await first.process.stop(), 0);
    await second.process.whenLogged('Became leader');
    assert.ok(first.process.entries.some(({ msg }) => msg === 'Released leadership'));
    const atMs = await acquiredAtMs();
    await apply(namespace, 3);
    await untilCopied(namespace, 3);
    await shared.audit.quiet(1_000, { user: second.user });
    assert.deepEqual(textsOf(first, atMs), []);
    // What was done is not done again: the new wish, and the word on who leads.
    assert.deepEqual(
      writesOf(second)
        // How many resources are ready changes with the edit.
        .filter(({ uri }) => !/\/operatordefinitions\/[^/]+\/status/.test(uri))
        .map(({ verb, resource }) => `${verb} ${resource}`)
        .sort(),
      ['create events', 'patch configmaps', 'patch things/status'],
    );
    const lease = await shared.client().get<KubeObject>(leasePath);
    assert.equal((lease?.spec as { readonly leaseTransitions?: number })?.leaseTransitions, 1);
  });

  test('killed, it is followed when the Lease has run out', async () => {
    const namespace = await shared.namespace();
    const [first, second] = await startTwo();
    await apply(namespace, 1);
    await untilCopied(namespace, 1);
    await first.process.stop('SIGKILL');
    await apply(namespace, 2);
    await second.process.whenLogged('Became leader');
    await untilCopied(namespace, 2);
  });

  test('a start that fails holds no Lease', async () => {
    const blocker = createServer().listen(0, '127.0.0.1');
    await once(blocker, 'listening');
    const { port } = blocker.address() as AddressInfo;
    const { process } = start(['--http', `127.0.0.1:${port}`]);
    try {
      assert.equal(await process.ended(), 2);
      assert.match(process.errors, /Cannot listen on/);
      const lease = await shared.client().get(leasePath);
      const { holderIdentity = '' } = (lease?.spec ?? {}) as { readonly holderIdentity?: string };
      assert.equal(holderIdentity, '');
    } finally {
      blocker.close();
    }
  });

  test('frozen in the middle of its work and continued, it writes nothing and ends', async () => {
    const namespace = await shared.namespace();
    const [first, second] = await startTwo();
    const names = Array.from({ length: 150 }, (_, index) => `thing-${index}`);
    const since = writesOf(first).length;
    const applies = names.map((name) => apply(namespace, 1, name));
    await shared.audit.untilSeen(() => writesOf(first).length > since + 20);
    process.kill(first.process.pid, 'SIGSTOP');
    await Promise.all(applies);
    await second.process.whenLogged('Became leader');
    const atMs = await acquiredAtMs();
    for (const name of names) await untilCopied(namespace, 1, name);
    process.kill(first.process.pid, 'SIGCONT');
    assert.equal(await first.process.ended(), 1);
    const words = first.process.entries.filter(({ level }) => level === 'error');
    assert.deepEqual(
      words.map(({ msg, reason }) => `${msg}: ${reason}`),
      ['Leadership lost, exiting: The Lease was not renewed in time'],
    );
    await apply(namespace, 2, 'after');
    await untilCopied(namespace, 2, 'after');
    await shared.audit.quiet(500, { user: first.user });
    assert.deepEqual(textsOf(first, atMs), []);
    assert.ok(textsOf(second, atMs).length > 0);
  });

  test('while the server is away no process writes; back, one of those that are left leads', async () => {
    const namespace = await shared.namespace();
    const [first, second] = await startTwo();
    await apply(namespace, 1);
    await untilCopied(namespace, 1);
    await shared.plane.stopApiServer();
    // The leadership is lost while the server is unreachable: the kubelet would start the process again.
    assert.equal(await first.process.ended(), 1);
    const third = start();
    await third.process.whenLogged('The Lease cannot be read or written, will retry');
    await shared.plane.startApiServer();
    await apply(namespace, 2);
    await untilCopied(namespace, 2);
    // What it does may be seen before what it says.
    await Promise.race([second, third].map(({ process }) => process.whenLogged('Became leader')));
    const leaders = [second, third].filter(({ process }) =>
      process.entries.some(({ msg }) => msg === 'Became leader'),
    );
    assert.equal(leaders.length, 1);
  });
});
