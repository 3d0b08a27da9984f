import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gvkOf } from '#util/gvk.ts';
import { planOf } from '../../../../test/support/fakes/handmade-plan.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';
import { identityOf, kindAt } from '../identity.ts';
import { createResourceState } from '../pass/resource-state.ts';
import { ResourceQueue } from '../watch/resource-queue.ts';
import { Watches } from '../watch/watches.ts';
import { forgetUndesired } from './apply-tiers.ts';

const deployment = gvkOf('apps/v1', 'Deployment');
const configMap = gvkOf('v1', 'ConfigMap');

/** Watches on the children of both kinds, among which is the ConfigMap `there` of the owner `uid-a`. */
async function watchesOn(): Promise<Watches> {
  const harness = new OperatorHarness(planOf({ children: [] }));
  const labels = { 'homeostat.dev/owner-uid': 'uid-a' };
  const metadata = { name: 'there', namespace: 'default', labels };
  harness.cluster.server.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
  const template = () => ({ metadata: { name: 'any' } });
  const plan = planOf({
    children: [
      { id: 'one', apiVersion: 'v1', kind: 'ConfigMap', template },
      { id: 'two', apiVersion: 'apps/v1', kind: 'Deployment', template },
    ],
  });
  const nothing = () => undefined;
  const queue = new ResourceQueue({
    definition: plan.name,
    keys: () => [],
    noteEvent: nothing,
    enqueue: nothing,
  });
  const { cluster, clock, signal } = harness;
  const watches = new Watches({
    plan,
    cluster,
    clock,
    queue,
    previousKinds: [],
    onLost: () => undefined,
  });
  await watches.settled(signal);
  return watches;
}

describe('reconcile/child forget answers', () => {
  test('forgets what is neither wanted nor there, and nothing else', async () => {
    const state = createResourceState('uid-a');
    const identities = {
      wanted: identityOf(kindAt(deployment, undefined), 'default', 'wanted'),
      // It waits, say, and is as it was.
      there: identityOf(kindAt(configMap, undefined), 'default', 'there'),
      left: identityOf(kindAt(configMap, undefined), 'default', 'left'),
      patched: `patch p ${identityOf(kindAt(configMap, undefined), 'default', 'other')}`,
    };
    for (const identity of Object.values(identities))
      state.responses.serverDefaults.set(identity, 'digest');
    const pass = {
      uid: 'uid-a',
      state,
      effects: { pruned: [] },
      findings: {
        desiredObjects: new Map([
          [identityOf(kindAt(deployment, undefined), 'default', 'wanted'), 'two'],
        ]),
      },
      context: { watches: await watchesOn() },
    };
    forgetUndesired(pass);
    assert.deepEqual(
      [...state.responses.serverDefaults.keys()],
      [identities.wanted, identities.there, identities.patched],
    );
  });
});
