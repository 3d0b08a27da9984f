import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gvkOf } from '#util/gvk.ts';
import { FakeClock } from '../../../../test/support/fake-clock.ts';
import { Ledger } from './ledger.ts';
import { tryRecreate } from './recreations.ts';

describe('reconcile/ledger/recreations', () => {
  test('an object is recreated once in 600 s for one intent, and at once for another', async () => {
    const clock = new FakeClock();
    const plan = { definition: { controller: { retry: { permanentMs: 600_000 } } } };
    const pass = { context: { clock, plan }, state: { ledger: new Ledger() } };
    const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'map' } };
    const gvk = { ...gvkOf('v1', 'ConfigMap'), cluster: undefined };
    const ref = { gvk, name: 'map' };
    const intent = { ref, identity: 'map', manifest, pathHash: '' };
    const live = { object: manifest, cluster: undefined, appliedBy: [] };
    const may = (intentHash: string) => tryRecreate(pass, { intent, intentHash, live });
    assert.deepEqual([may('one'), may('one'), may('two')], [true, false, true]);
    await clock.advance(599_000);
    assert.equal(may('two'), false);
    await clock.advance(1_000);
    assert.equal(may('two'), true);
  });
});
