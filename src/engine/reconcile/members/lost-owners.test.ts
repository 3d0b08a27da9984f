import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { MemberHarness, placedPlan } from '../../../../test/support/fakes/member-harness.ts';

const body = `
  reads:
    - { id: clusters, apiVersion: homeostat.dev/v1alpha1, kind: Cluster, selector: { matchLabels: { agents: "true" } } }
  children:
    - id: agent
      forEach: \${ reads.clusters.metadata.name }
      cluster: \${ $item }
      crossCluster: { selector: { matchLabels: { agents: "true" } } }
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }" } }
`;
const labels = { agents: 'true' };
const metric = 'homeostat_placed_objects_unknown_owner{definition="podset"}';

/** An object of the definition whose resource the hub does not have. */
function stray(name: string, hub = 'uid-of-the-hub'): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name,
      namespace: 'default',
      labels: {
        'app.kubernetes.io/managed-by': 'homeostat',
        'homeostat.dev/definition': 'podset',
        'homeostat.dev/child': 'agent',
        'homeostat.dev/owner-uid': 'uid-of-a-lost-resource',
        'homeostat.dev/hub': hub,
      },
    },
  };
}

async function started(objects: readonly KubeObject[] = []): Promise<MemberHarness> {
  const harness = new MemberHarness(placedPlan(body));
  const { server } = harness.addMember('paris', labels).cluster;
  for (const object of objects) server.put(object);
  await harness.start();
  await harness.settle();
  return harness;
}

const unknownEvents = ({ cluster }: MemberHarness) =>
  cluster.reported.filter(({ reason }) => reason === 'UnknownOwners');

describe('reconcile/observe: objects whose resource the hub does not have', () => {
  test('are reported on their Cluster, and not deleted', async () => {
    const harness = await started([stray('a'), stray('b'), stray('c', 'another-hub')]);
    harness.podSet('mine');
    await harness.settle();
    await harness.clock.advance(5_000);
    await harness.settle();
    const [event, ...more] = unknownEvents(harness);
    assert.deepEqual(more, []);
    assert.match(
      event?.note ?? '',
      /^Found 2 objects of definition "podset" \(ConfigMap\) without/,
    );
    assert.equal(event?.regarding.metadata.name, 'paris');
    assert.ok((await harness.metrics.expose()).includes(`${metric} 2\n`));
    assert.deepEqual(harness.member('paris').names('v1', 'ConfigMap'), ['a', 'b', 'c', 'mine']);
  });

  test('are looked for again until they are gone', async () => {
    const harness = await started([stray('a')]);
    await harness.clock.advance(5_000);
    harness
      .member('paris')
      .cluster.server.delete(
        { group: '', version: 'v1', kind: 'ConfigMap' },
        { namespace: 'default', name: 'a' },
      );
    await harness.settle();
    await harness.clock.advance(600_000);
    await harness.settle();
    assert.ok((await harness.metrics.expose()).includes(`${metric} 0\n`));
  });

  test('are reported again while they are there: an Event may be rejected, and does not last', async () => {
    const harness = await started([stray('a')]);
    await harness.clock.advance(5_000);
    await harness.settle();
    assert.equal(unknownEvents(harness).length, 1);
    await harness.clock.advance(600_000);
    await harness.settle();
    await harness.clock.advance(5_000);
    await harness.settle();
    assert.equal(unknownEvents(harness).length, 2);
  });

  test('are found when the labels of their member match again', async () => {
    const harness = await started([stray('a')]);
    harness.label('paris', {});
    await harness.settle();
    await harness.clock.advance(5_000);
    await harness.settle();
    const before = unknownEvents(harness).length;
    assert.ok((await harness.metrics.expose()).includes(`${metric} 0\n`));
    harness.label('paris', labels);
    await harness.settle();
    await harness.clock.advance(5_000);
    await harness.settle();
    assert.equal(unknownEvents(harness).length, before + 1);
  });

  test('are not counted any more when their Cluster is deleted', async () => {
    const harness = await started([stray('a')]);
    await harness.clock.advance(5_000);
    await harness.settle();
    assert.ok((await harness.metrics.expose()).includes(`${metric} 1\n`));
    harness.removeMember('paris');
    await harness.settle();
    assert.ok((await harness.metrics.expose()).includes(`${metric} 0\n`));
  });

  test('are found also if the hub or the member does not list its objects when the member connects', async () => {
    const harness = await started();
    const gone = new KubeError('unavailable', 'no', { status: 0 });
    harness.stopMember('paris');
    const member = harness.member('paris').cluster;
    member.server.put(stray('a'));
    harness.cluster.lose('PodSet', gone);
    member.lose('ConfigMap', gone);
    harness.startMember('paris');
    await harness.settle();
    await harness.clock.advance(5_000);
    await harness.settle();
    assert.deepEqual(unknownEvents(harness), []);
    member.unblock('ConfigMap');
    harness.cluster.unblock('PodSet');
    await harness.settle();
    await harness.clock.advance(5_000);
    await harness.settle();
    assert.equal(unknownEvents(harness).length, 1);
  });

  test('are searched again when the hub has lost a resource', async () => {
    const harness = await started();
    const restore = harness.cluster.server.backUp();
    harness.podSet('lost');
    await harness.settle();
    restore();
    harness.cluster.relist();
    await harness.settle();
    await harness.clock.advance(5_000);
    await harness.settle();
    const [event] = unknownEvents(harness);
    assert.match(event?.note ?? '', /^Found 1 object of definition "podset"/);
    assert.deepEqual(harness.member('paris').names('v1', 'ConfigMap'), ['lost']);
  });

  test('do not include what is created or deleted meanwhile', async () => {
    const harness = await started();
    const resource = harness.podSet('mine');
    await harness.settle();
    harness.stopMember('paris');
    harness.startMember('paris');
    harness.remove(resource);
    await harness.settle();
    await harness.clock.advance(5_000);
    await harness.settle();
    assert.deepEqual(unknownEvents(harness), []);
  });
});

describe('reconcile/observe: the number of objects in a member', () => {
  test('counts those of the resources of the hub, and is not known while the member cannot be used', async () => {
    const harness = await started([stray('a')]);
    const countIn = harness.placedCounts.get('podset');
    assert.ok(countIn);
    harness.podSet('one');
    harness.podSet('two');
    await harness.settle();
    assert.equal(countIn('paris'), 2);
    harness.stopMember('paris');
    assert.equal(countIn('paris'), undefined);
    harness.startMember('paris');
    await harness.settle();
    assert.equal(countIn('paris'), 2);
    harness.cluster.lose('PodSet', new KubeError('forbidden', 'no', { status: 403 }));
    assert.equal(countIn('paris'), undefined, 'the resources are not known');
    harness.cluster.unblock('PodSet');
    harness.label('paris', {});
    await harness.settle();
    assert.equal(countIn('paris'), 0);
  });
});
