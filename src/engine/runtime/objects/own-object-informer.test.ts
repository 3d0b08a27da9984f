import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import { FakeClock, settle } from '../../../../test/support/fake-clock.ts';
import { RuntimeFakeCluster } from '../../../../test/support/fakes/runtime-fake-cluster.ts';
import { silentLogger } from '../../../../test/support/silent-telemetry.ts';
import { crdGvk } from '../crd/crd-definition.ts';
import { operatorDefinitionKind } from './definition-crd.ts';
import { OwnObjectInformer } from './own-object-informer.ts';

const missing = new KubeError('kind-missing', 'The kind is not served', { status: 404 });

async function started(t: TestContext) {
  const clock = new FakeClock();
  const cluster = new RuntimeFakeCluster([]);
  const stopper = new AbortController();
  const changes: string[] = [];
  const informer = new OwnObjectInformer({
    kind: operatorDefinitionKind,
    cluster,
    clock,
    logger: silentLogger(),
    onEvent: () => {},
    onSynced: () => changes.push('synced'),
    onGone: () => changes.push('gone'),
  });
  const ended = informer.run(stopper.signal);
  const stop = async () => {
    stopper.abort(new Error('The test has ended'));
    await ended;
  };
  t.after(stop);
  await settle();
  const kind = operatorDefinitionKind.gvk.kind;
  const lose = async () => {
    cluster.lose(kind, missing);
    await settle();
  };
  const restore = async () => {
    cluster.unblock(kind);
    await settle();
  };
  const crd = { gvk: crdGvk, name: operatorDefinitionKind.crdName };
  const isInstalled = () => cluster.server.get(crd.gvk, undefined, crd.name) !== undefined;
  const uninstall = () => cluster.server.delete(crd.gvk, { namespace: undefined, name: crd.name });
  return { clock, informer, changes, lose, restore, stop, isInstalled, uninstall };
}

describe('runtime/objects/own-object-informer', () => {
  test('a kind that is served again within 30 s was never gone', async (t) => {
    const { clock, informer, changes, lose, restore } = await started(t);
    await lose();
    await clock.advance(29_000);
    assert.equal(informer.isGone, false);
    await restore();
    await clock.advance(60_000);
    assert.equal(informer.isGone, false);
    assert.deepEqual(changes, ['synced', 'synced']);
  });

  test('a kind that is not served for 30 s is gone until it is served', async (t) => {
    const { clock, informer, changes, lose, restore } = await started(t);
    await lose();
    await clock.advance(30_000);
    assert.equal(informer.isGone, true);
    await restore();
    assert.equal(informer.isGone, false);
    assert.deepEqual(changes, ['synced', 'gone', 'synced']);
    await lose();
    await clock.advance(30_000);
    assert.equal(informer.isGone, true);
  });

  test('a CRD that is deleted again before its objects are listed is installed again', async (t) => {
    const { clock, lose, isInstalled, uninstall } = await started(t);
    uninstall();
    await lose();
    assert.equal(isInstalled(), true);
    uninstall();
    await clock.advance(10_000);
    assert.equal(isInstalled(), true);
  });

  test('a stop leaves no timer', async (t) => {
    const { clock, lose, stop } = await started(t);
    await lose();
    await stop();
    assert.equal(clock.pending, 0);
  });
});
