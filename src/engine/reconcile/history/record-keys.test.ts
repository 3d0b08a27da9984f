import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import { gvkOf } from '#util/gvk.ts';
import { createSystemRandom } from '#util/random.ts';
import { FakeClock, settle } from '../../../../test/support/fake-clock.ts';
import { FakeCluster } from '../../../../test/support/fakes/fake-cluster.ts';
import { types } from '../../../../test/support/fakes/operator-harness.ts';
import { RecordKeys, type RecordKeysOptions } from './record-keys.ts';

const secrets = gvkOf('v1', 'Secret');
const name = 'homeostat-history-keys';

async function started(more: Partial<RecordKeysOptions> = {}) {
  const cluster = new FakeCluster(types);
  const clock = new FakeClock();
  const create = () => {
    const keys = new RecordKeys(
      {
        cluster,
        clock,
        random: createSystemRandom(),
        definition: 'journal',
        namespace: 'default',
        ...more,
      },
      () => undefined,
    );
    keys.start();
    return keys;
  };
  const rest = async () => {
    for (let turns = 0; turns < 20; turns++) await settle();
    cluster.deliver();
  };
  const keys = create();
  await rest();
  const put = (data: Readonly<Record<string, string>>) =>
    cluster.server.put({
      apiVersion: 'v1',
      kind: 'Secret',
      data,
      metadata: { name, namespace: 'default' },
    });
  return { cluster, clock, keys, create, rest, put };
}

describe('reconcile/history keys', () => {
  test('nothing is written before a resource has something to record', async () => {
    const { cluster, keys } = await started();
    assert.equal(keys.state.kind, 'synced');
    assert.equal(keys.ring?.newest, undefined);
    assert.deepEqual(cluster.takeWrites(), []);
  });

  test('the Secret is created once; who comes later uses its key', async () => {
    const { cluster, keys, create, rest } = await started();
    const other = create();
    await rest();
    keys.want();
    other.want();
    assert.equal(keys.state.kind, 'waiting');
    await rest();
    await rest();
    assert.equal(cluster.server.list(secrets).length, 1);
    assert.equal(keys.state.kind, 'synced');
    assert.ok(keys.ring?.newest);
    assert.deepEqual(other.ring?.newest, keys.ring.newest);
    assert.ok(keys.ring.newest.bytes.length >= 32);
  });

  test('a reader creates none', async () => {
    const { cluster, keys, rest } = await started({ isReadOnly: true });
    keys.want();
    await rest();
    assert.equal(keys.state.kind, 'synced');
    assert.deepEqual(cluster.takeWrites(), []);
  });

  test('the key with the highest number signs, all verify', async () => {
    const { keys, put, rest } = await started();
    put({ 9: btoa('a'.repeat(32)), 10: btoa('b'.repeat(32)), 11: btoa('short'), x: 'eA==' });
    await rest();
    assert.equal(keys.ring?.newest?.id, '10');
    assert.ok(keys.ring.find('9'));
    assert.equal(keys.ring.find('11'), undefined);
  });

  test('a Secret without a key is reported and not replaced', async () => {
    const { cluster, keys, put, rest } = await started();
    put({ 1: 'no base64!' });
    await rest();
    keys.want();
    await rest();
    const { state } = keys;
    assert.ok(state.kind === 'failing');
    assert.match(state.error.message, /^Secret "default\/homeostat-history-keys" has no key: /);
    assert.deepEqual(cluster.takeWrites(), []);
  });

  test('a rejected creation is reported and tried again', async () => {
    const { cluster, clock, keys, rest } = await started();
    cluster.fault = ({ verb }) =>
      verb === 'apply' ? new KubeError('forbidden', 'no', { status: 403 }) : undefined;
    keys.want();
    await rest();
    assert.equal(keys.state.kind, 'failing');
    cluster.fault = () => undefined;
    await clock.advance(1_000);
    await rest();
    assert.equal(keys.state.kind, 'synced');
  });

  test('a Secret that another process created, and that is gone before it was read, is created', async () => {
    const { cluster, clock, keys, rest } = await started();
    cluster.fault = ({ verb }) =>
      verb === 'apply' ? new KubeError('already-exists', 'it exists', { status: 409 }) : undefined;
    keys.want();
    await rest();
    assert.equal(keys.state.kind, 'waiting');
    cluster.fault = () => undefined;
    await clock.advance(1_000);
    await rest();
    assert.equal(keys.state.kind, 'synced');
  });
});
