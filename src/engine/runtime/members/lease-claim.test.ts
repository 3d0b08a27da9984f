import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import { createLogger } from '#telemetry';
import { FakeClock, settle } from '../../../../test/support/fake-clock.ts';
import { RuntimeFakeCluster } from '../../../../test/support/fakes/runtime-fake-cluster.ts';
import { leaseGvk } from '../leadership/lease.ts';
import { LeaseClaim } from './lease-claim.ts';

function started() {
  const leases = { gvk: leaseGvk, plural: 'leases', namespaced: true, hasStatus: false, verbs: [] };
  const cluster = new RuntimeFakeCluster([leases]);
  const clock = new FakeClock();
  const claim = new LeaseClaim({
    cluster,
    clock,
    definition: 'agents',
    hub: 'uid-of-the-hub',
    logger: createLogger({ level: 'error', destination: { write: () => {} } }),
    onChange: () => {},
  });
  const deliver = async () => {
    await settle();
    cluster.deliver();
    await settle();
  };
  return { cluster, clock, claim, deliver };
}

const leaseOf = (cluster: RuntimeFakeCluster) =>
  cluster.server.get(leaseGvk, 'kube-system', 'homeostat-agents')?.object;

describe('runtime/members/lease-claim', () => {
  test('a Lease that no one holds is created with the hub as its holder', async () => {
    const { cluster, claim, deliver } = started();
    claim.start();
    await deliver();
    assert.deepEqual(claim.state, { kind: 'held' });
    assert.deepEqual(leaseOf(cluster)?.spec, { holderIdentity: 'uid-of-the-hub' });
    await claim.release(new AbortController().signal);
    assert.equal(leaseOf(cluster), undefined);
  });

  test('a rejected creation is retried after a delay, not at once', async () => {
    const { cluster, clock, claim, deliver } = started();
    let requests = 0;
    cluster.fault = ({ verb }) => {
      if (verb !== 'apply') return undefined;
      requests += 1;
      return new KubeError('forbidden', 'no', { status: 403 });
    };
    claim.start();
    await deliver();
    await deliver();
    assert.equal(requests, 1);
    assert.deepEqual(claim.state, { kind: 'failed', message: 'no' });
    cluster.fault = () => undefined;
    await clock.advance(2_000);
    await deliver();
    assert.deepEqual(claim.state, { kind: 'held' });
    claim.stop();
  });

  test('a missing right is reported as such', async () => {
    const { cluster, claim, deliver } = started();
    const right = { verb: 'create', group: 'coordination.k8s.io', resource: 'leases' };
    cluster.fault = ({ verb }) =>
      verb === 'apply' ? new KubeError('forbidden', 'no', { status: 403, right }) : undefined;
    claim.start();
    await deliver();
    const { state } = claim;
    assert.equal(state.kind === 'failed' && state.isForbidden, true);
    assert.match(state.kind === 'failed' ? state.message : '', /not allowed to create leases/);
    claim.stop();
  });

  test('a Lease of another hub is taken, until it is deleted', async () => {
    const { cluster, claim, deliver } = started();
    const metadata = { name: 'homeostat-agents', namespace: 'kube-system' };
    cluster.server.put({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata,
      spec: { holderIdentity: 'another' },
    });
    claim.start();
    await deliver();
    assert.equal(claim.state.kind, 'taken');
    await claim.release(new AbortController().signal);
    assert.deepEqual(leaseOf(cluster)?.spec, { holderIdentity: 'another' });
  });
});
