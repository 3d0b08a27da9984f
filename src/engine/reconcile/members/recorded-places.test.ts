import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import { gvkOf } from '#util/gvk.ts';
import { MemberHarness, placedPlan } from '../../../../test/support/fakes/member-harness.ts';

const labels = { agents: 'true' };
const annotation = 'clusters.homeostat.dev/podset';
const placed = `
  reads:
    - id: clusters
      apiVersion: homeostat.dev/v1alpha1
      kind: Cluster
      selector: { matchLabels: { agents: "true" } }
  children:
    - id: agent
      forEach: \${ reads.clusters.metadata.name }
      cluster: \${ $item }
      crossCluster: { selector: { matchLabels: { agents: "true" } } }
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: agent } }
`;
const unplaced = '  children: []\n';

function podSet(harness: MemberHarness) {
  const found = harness.get('apps.example.com/v1', 'PodSet', 'a');
  assert.ok(found);
  return found;
}

/** Its object is in member `paris`. */
async function started(): Promise<MemberHarness> {
  const harness = new MemberHarness(placedPlan(placed));
  harness.addMember('paris', labels);
  await harness.start();
  harness.podSet('a');
  return harness;
}

function namesIn(harness: MemberHarness): readonly string[] {
  return harness.member('paris').names('v1', 'ConfigMap');
}

async function settled(harness: MemberHarness): Promise<void> {
  harness.queued.set('default/a', 'normal');
  await harness.settle();
}

describe('reconcile/members: a definition that places nothing any more', () => {
  const lost: readonly {
    readonly what: string;
    readonly lose: (harness: MemberHarness) => Promise<void>;
  }[] = [
    {
      what: 'in the inventory, as its author removed the annotation',
      lose: async (harness) => {
        await harness.settle();
        const { metadata } = podSet(harness);
        const { [annotation]: cluster, ...annotations } = metadata.annotations ?? {};
        assert.equal(cluster, 'paris=paris-ui');
        harness.edit(podSet(harness), { metadata: { ...metadata, annotations } });
      },
    },
    {
      what: 'in the annotation, as the process was killed before its first report',
      lose: async (harness) => {
        harness.cluster.fault = ({ verb }) =>
          verb === 'status' ? new KubeError('unavailable', 'no', { status: 503 }) : undefined;
        await harness.settle();
        harness.cluster.fault = () => undefined;
        assert.equal(harness.status('a').childInventory, undefined);
        assert.equal(podSet(harness).metadata.annotations?.[annotation], 'paris=paris-ui');
      },
    },
  ];

  for (const { what, lose } of lost) {
    test(`deletes objects in a member that are only ${what}`, async () => {
      const harness = await started();
      await lose(harness);
      assert.deepEqual(namesIn(harness), ['agent']);
      harness.formerKinds = [gvkOf('v1', 'ConfigMap')];
      await harness.restart(placedPlan(unplaced));
      await settled(harness);
      assert.deepEqual(namesIn(harness), []);
      assert.match(harness.ready('a'), /^True/);
    });

    test(`finds them for a deletion without the definition, too: only ${what}`, async () => {
      const harness = await started();
      await lose(harness);
      await harness.breakDefinition(placedPlan(placed));
      harness.remove(podSet(harness));
      await harness.settle();
      assert.deepEqual(namesIn(harness), []);
      assert.equal(harness.get('apps.example.com/v1', 'PodSet', 'a'), undefined);
    });
  }
});

describe('reconcile/members: what is given up', () => {
  const named = `
  children:
    - id: agent
      cluster: \${ spec.cluster }
      crossCluster: { selector: all }
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: agent } }
`;
  const givenUp = ({ cluster }: MemberHarness) =>
    cluster.reported.filter(({ reason }) => reason === 'ObjectsGivenUp').length;

  test('are the objects in a deleted Cluster, though the resource still names it', async () => {
    const harness = new MemberHarness(placedPlan(named));
    harness.addMember('paris', labels);
    await harness.start();
    harness.podSet('a', { cluster: 'paris' });
    await harness.settle();
    assert.equal(podSet(harness).metadata.annotations?.[annotation], 'paris=paris-ui');
    harness.removeMember('paris');
    await harness.settle();
    assert.equal(podSet(harness).metadata.annotations?.[annotation], undefined);
    assert.equal(givenUp(harness), 1);
  });

  test('are not the objects in a Cluster that is not read yet', async () => {
    const harness = await started();
    await harness.settle();
    harness.cluster.block('Cluster', new KubeError('forbidden', 'no', { status: 403 }));
    harness.formerKinds = [gvkOf('v1', 'ConfigMap')];
    await harness.restart(placedPlan(unplaced));
    await settled(harness);
    assert.equal(podSet(harness).metadata.annotations?.[annotation], 'paris=paris-ui');
    assert.equal(givenUp(harness), 0);
    harness.cluster.unblock('Cluster');
    await harness.settle();
    assert.deepEqual(namesIn(harness), []);
  });
});
