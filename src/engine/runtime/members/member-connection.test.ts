import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ClusterConfig, KubeCluster } from '#kube';
import { KubeError } from '#kube/roles.ts';
import { createLogger } from '#telemetry';
import { gvkOf } from '#util/gvk.ts';
import { whenAborted } from '#util/when-aborted.ts';
import { FakeClock, settle } from '../../../../test/support/fake-clock.ts';
import { RuntimeFakeCluster } from '../../../../test/support/fakes/runtime-fake-cluster.ts';
import { ConnectionError } from './connection-state.ts';
import { type ConnectionEvents, MemberConnection } from './member-connection.ts';

const namespaces = {
  gvk: gvkOf('v1', 'Namespace'),
  plural: 'namespaces',
  namespaced: false,
  hasStatus: true,
  verbs: [],
};

const forbiddenWatch = new KubeError('forbidden', 'no', {
  status: 403,
  right: { verb: 'watch', group: '', resource: 'namespaces', name: 'kube-system' },
});

/** A connection to a cluster that responds as the test says. */
function started() {
  const clock = new FakeClock();
  const events: ConnectionEvents[] = [];
  const clusters: RuntimeFakeCluster[] = [];
  const answers = { isDown: false, why: 'down', isDuplicate: false, uid: 'aa-1', checks: 0 };
  /** The work in the member ends after this. */
  const work = { end: Promise.resolve() };
  const ended: string[] = [];
  /** The kinds of the states that were reported. */
  const reported: string[] = [];
  const connect = (_: ClusterConfig, options: ConnectionEvents) => {
    events.push(options);
    const cluster = new RuntimeFakeCluster([namespaces]);
    clusters.push(cluster);
    const request = async ({ path }: { readonly path: string }) => {
      if (answers.isDown) throw new KubeError('unavailable', answers.why, { status: 0 });
      const body = path === '/version' ? { gitVersion: 'v1' } : { metadata: { uid: answers.uid } };
      return { status: 200, body };
    };
    const get = async () => {
      answers.checks += 1;
      if (answers.isDown) throw new KubeError('unavailable', 'down', { status: 503 });
      return { object: { metadata: { uid: answers.uid } } };
    };
    const client = Object.assign(cluster, { api: { request }, get, disconnect: async () => {} });
    return { cluster: client as unknown as KubeCluster, close: async () => {} };
  };
  const log: string[] = [];
  const write = (line: string) => {
    const { level, msg, reason } = JSON.parse(line);
    log.push(`${level} ${msg}: ${reason}`);
  };
  const stopper = new AbortController();
  const config: ClusterConfig = {
    server: 'https://member',
    namespace: 'default',
    credentials: { load: async () => ({ headers: {} }) },
  };
  const connection: MemberConnection = new MemberConnection({
    logger: createLogger({ level: 'debug', destination: { write } }),
    clock,
    connect,
    onChange: () => void reported.push(connection.state.kind),
    random: { fraction: () => 1, text: () => '' },
    admit: async (uid) => {
      if (uid !== 'aa-1') throw new ConnectionError({ reason: 'Replaced', message: uid });
      if (answers.isDuplicate) throw new ConnectionError({ reason: 'Duplicate', message: uid });
    },
    async onConnected(_, signal) {
      await whenAborted(signal);
      ended.push(String(signal.reason));
      await work.end;
    },
  });
  connection.setAccess({ config, digest: 'first' });
  const run = connection.run(stopper.signal);
  const stop = async () => {
    stopper.abort();
    await run;
  };
  return { clock, config, connection, events, clusters, answers, work, ended, reported, log, stop };
}

const reasonOf = ({ state }: MemberConnection) =>
  state.kind === 'failed' ? state.failure.reason : state.kind;

describe('runtime/members/member-connection', () => {
  test('a member that sends too much is throttled while it does, and not after a new connection', async () => {
    const { connection, clock, events, stop } = started();
    const isThrottled = () =>
      connection.state.kind === 'connected' && connection.state.isThrottled === true;
    await settle();
    events[0]?.onThrottled(true);
    assert.equal(isThrottled(), true);
    events[0]?.onThrottled(false);
    assert.equal(isThrottled(), false);
    events[0]?.onThrottled(true);
    events[0]?.onLost?.('outage');
    await settle();
    // Of the connection that has ended.
    events[0]?.onThrottled(true);
    assert.equal(connection.state.kind, 'connecting');
    await clock.advance(1_000);
    assert.equal(connection.state.kind, 'connected');
    assert.equal(isThrottled(), false);
    await stop();
  });

  test('a member whose objects need too much memory is disconnected, and tried again later', async () => {
    const { clock, connection, events, ended, stop } = started();
    await settle();
    assert.equal(connection.state.kind, 'connected');
    events[0]?.onExceeded?.('own');
    await settle();
    assert.equal(reasonOf(connection), 'LimitExceeded');
    assert.equal(ended.length, 1, 'its definitions have stopped');
    await clock.advance(1_000);
    await settle();
    assert.equal(connection.state.kind, 'connected');
    await stop();
  });

  test('a member that exceeds the limit again and again is tried after doubling pauses; some stable minutes end the row', async () => {
    const { clock, connection, events, stop } = started();
    const exceed = async () => {
      events.at(-1)?.onExceeded?.('own');
      await settle();
    };
    await settle();
    for (const pauseMs of [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]) {
      const before = events.length;
      await exceed();
      await clock.advance(pauseMs - 1);
      assert.equal(events.length, before, `not before ${pauseMs} ms`);
      await clock.advance(1);
      assert.equal(events.length, before + 1);
    }
    await clock.advance(299_000);
    const before = events.length;
    await exceed();
    await clock.advance(59_000);
    assert.equal(events.length, before, 'five minutes are not over');
    await clock.advance(1_000);
    await clock.advance(300_000);
    await exceed();
    await clock.advance(1_000);
    assert.equal(events.length, before + 2);
    assert.equal(connection.state.kind, 'connected');
    await stop();
  });

  test('credentials that are rejected are not tried again, before they change', async () => {
    const { clock, config, connection, events, stop } = started();
    await settle();
    events[0]?.onUnauthorized?.();
    await settle();
    assert.equal(reasonOf(connection), 'Unauthorized');
    await clock.advance(3_600_000);
    assert.equal(events.length, 1);
    connection.setAccess({ config, digest: 'second' });
    await settle();
    assert.equal(connection.state.kind, 'connected');
    await stop();
  });

  test('another kubeconfig ends the work in the member, then connects; the same one does not', async () => {
    const { config, connection, events, ended, stop } = started();
    await settle();
    connection.setAccess({ config, digest: 'first' });
    await settle();
    assert.equal(ended.length, 0);
    connection.setAccess({ config, digest: 'second' });
    assert.equal(connection.state.kind, 'connecting');
    await settle();
    assert.deepEqual(ended, ['Error: The kubeconfig has changed']);
    assert.equal(connection.state.kind, 'connected');
    assert.equal(events.length, 2);
    await stop();
  });

  test('a member that cannot be reached any more is disconnected, and shows why', async () => {
    const { clock, config, connection, ended, stop } = started();
    await settle();
    connection.setAccess({ reason: 'SecretMissing', message: 'gone' });
    assert.equal(reasonOf(connection), 'SecretMissing');
    await settle();
    assert.equal(ended.length, 1);
    await clock.advance(60_000);
    assert.equal(reasonOf(connection), 'SecretMissing');
    connection.setAccess({ config, digest: 'first' });
    await settle();
    assert.equal(connection.state.kind, 'connected');
    await stop();
    assert.equal(clock.pending, 0, 'no timer is left');
  });

  test('a member that is lost is connecting for 15 s, then unreachable', async () => {
    const { clock, connection, events, answers, stop } = started();
    await settle();
    answers.isDown = true;
    events[0]?.onLost?.('outage');
    await settle();
    await clock.advance(14_000);
    assert.equal(connection.state.kind, 'connecting');
    await clock.advance(1_000);
    assert.equal(reasonOf(connection), 'Unreachable');
    answers.isDown = false;
    await clock.advance(60_000);
    assert.equal(connection.state.kind, 'connected');
    await stop();
    assert.equal(clock.pending, 0, 'no timer is left');
  });

  test('why it cannot be connected is a warning once, and again when the reason changes', async () => {
    const { clock, connection, events, answers, log, stop } = started();
    const line = (level: string, why: string) =>
      `${level} Connecting to a member cluster failed: ${why}`;
    const tries = async (count: number) => {
      for (const start = log.length; log.length < start + count; ) await clock.advance(1_000);
    };
    answers.isDown = true;
    await tries(3);
    assert.deepEqual(log, [line('warn', 'down'), line('debug', 'down'), line('debug', 'down')]);
    answers.why = 'reset';
    await tries(2);
    assert.deepEqual(log.slice(3), [line('warn', 'reset'), line('debug', 'reset')]);
    answers.isDown = false;
    await clock.advance(60_000);
    assert.equal(connection.state.kind, 'connected');
    answers.isDown = true;
    events.at(-1)?.onLost?.('outage');
    await tries(1);
    assert.deepEqual(log.slice(5), [line('warn', 'reset')]);
    await stop();
  });

  test('every 10 minutes the UID is checked, also while the connection is kept and its watch shows nothing', async () => {
    const { clock, connection, events, answers, ended, stop } = started();
    await settle();
    await clock.advance(1_200_000);
    assert.equal(answers.checks, 2);
    assert.equal(connection.state.kind, 'connected');
    answers.uid = 'aa-2';
    await clock.advance(599_000);
    assert.deepEqual([connection.state.kind, ended.length], ['connected', 0]);
    await clock.advance(2_000);
    assert.equal(ended.length, 1, 'its definitions have stopped');
    assert.equal(reasonOf(connection), 'Replaced');
    await clock.advance(3_600_000);
    assert.equal(events.length, 2, 'it is not tried again');
    await stop();
  });

  test('a check that fails ends the work in the member, and nothing starts there before it has ended', async () => {
    const { clock, connection, events, answers, work, ended, stop } = started();
    await settle();
    const held = Promise.withResolvers<void>();
    work.end = held.promise;
    answers.isDown = true;
    await clock.advance(600_000);
    answers.isDown = false;
    await clock.advance(60_000);
    assert.deepEqual([ended.length, events.length], [1, 1]);
    held.resolve();
    await settle();
    await clock.advance(60_000);
    assert.deepEqual([connection.state.kind, events.length], ['connected', 2]);
    await stop();
  });

  test('a missing right to watch its identity is reported while the member is used, until it is granted', async () => {
    const { connection, clusters, ended, stop } = started();
    await settle();
    clusters[0]?.lose('Namespace', forbiddenWatch);
    assert.equal(
      connection.state.kind === 'connected' && connection.state.missingRight,
      'The runtime is not allowed to watch namespaces at the cluster scope; grant the rule { apiGroups: [""], resources: ["namespaces"], resourceNames: ["kube-system"], verbs: ["list", "watch"] }',
    );
    clusters[0]?.unblock('Namespace');
    await settle();
    assert.equal(connection.state.kind === 'connected' && connection.state.missingRight, undefined);
    assert.equal(ended.length, 0, 'the work in the member continues');
    await stop();
  });

  test('a duplicate is tried again: the other Cluster may be another cluster by now', async () => {
    const { clock, connection, answers, stop } = started();
    answers.isDuplicate = true;
    await settle();
    assert.equal(reasonOf(connection), 'Duplicate');
    answers.isDuplicate = false;
    await clock.advance(60_000);
    assert.equal(connection.state.kind, 'connected');
    await stop();
  });

  test('a change of the access is reported, and one that changes nothing is not', async () => {
    const { config, connection, reported, stop } = started();
    await settle();
    reported.length = 0;
    const missing = { reason: 'SecretMissing', message: 'No Secret' } as const;
    connection.setAccess(missing);
    assert.deepEqual(reported, ['failed']);
    connection.setAccess({ ...missing });
    assert.deepEqual(reported, ['failed']);
    connection.setAccess({ ...missing, message: 'No key' });
    assert.deepEqual(reported, ['failed', 'failed']);
    connection.setAccess({ config, digest: 'second' });
    assert.deepEqual(reported, ['failed', 'failed', 'connecting']);
    await stop();
  });
});
