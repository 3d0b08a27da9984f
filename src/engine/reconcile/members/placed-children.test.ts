import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { MemberHarness, placedPlan } from '../../../../test/support/fakes/member-harness.ts';

const agents = `
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
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: agent }, data: { cluster: "\${ $item }", level: "\${ spec.level }" } }
  status:
    clusters: \${ [$sort(children.agent.$clusterOf($))] }
    level: \${ spec.level }
`;

/** One object in a member that the resource names. */
const single = (more = '') => `
  children:
    - id: settings
      cluster: \${ spec.cluster }
      crossCluster: { selector: all }
      ${more}
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }" }, data: { level: "\${ spec.level }" } }
`;
const labels = { agents: 'true' };

async function started(body: string, names: readonly string[] = []): Promise<MemberHarness> {
  const harness = new MemberHarness(placedPlan(body));
  for (const name of names) harness.addMember(name, labels);
  await harness.start();
  return harness;
}

function levelIn(harness: MemberHarness, cluster: string, name = 'agent'): unknown {
  return (harness.member(cluster).get('v1', 'ConfigMap', name)?.data as { level?: string })?.level;
}

function podSet(harness: MemberHarness, name = 'a'): KubeObject | undefined {
  return harness.get('apps.example.com/v1', 'PodSet', name);
}

function placements(harness: MemberHarness): string | undefined {
  return podSet(harness)?.metadata.annotations?.['clusters.homeostat.dev/podset'];
}

describe('reconcile/members: placed children', () => {
  test('an object is created in every selected member, and the status names its cluster', async () => {
    const harness = await started(agents, ['berlin', 'paris']);
    harness.podSet('a', { level: 'info' });
    await harness.settle();
    for (const name of ['berlin', 'paris'])
      assert.deepEqual(harness.member(name).get('v1', 'ConfigMap', 'agent')?.data, {
        cluster: name,
        level: 'info',
      });
    assert.deepEqual(harness.names('v1', 'ConfigMap'), []);
    assert.equal(harness.ready('a'), 'True AllReady: All children are ready');
    const { clusters, childInventory, children } = harness.status('a');
    assert.deepEqual(clusters, ['berlin', 'paris']);
    assert.deepEqual(childInventory, [
      'berlin:ConfigMap default/agent',
      'paris:ConfigMap default/agent',
    ]);
    assert.deepEqual(
      (children as readonly Record<string, unknown>[]).map(({ cluster, name }) => [cluster, name]),
      [
        ['berlin', 'agent'],
        ['paris', 'agent'],
      ],
    );
    assert.equal(placements(harness), 'berlin=berlin-u,paris=paris-ui');
    const placed = harness.member('paris').get('v1', 'ConfigMap', 'agent');
    assert.equal(placed?.metadata.labels?.['homeostat.dev/hub'], 'uid-of-the-hub');
    assert.equal(placed?.metadata.ownerReferences, undefined);
  });

  test('the record of the cluster is written before the first object in it', async () => {
    const harness = await started(agents, ['paris']);
    const order: string[] = [];
    harness.cluster.fault = ({ verb, kind }) => void order.push(`hub ${verb} ${kind}`);
    harness.member('paris').cluster.fault = ({ verb, kind }) => {
      order.push(`paris ${verb} ${kind} with ${placements(harness)}`);
      return undefined;
    };
    harness.podSet('a', { level: 'info' });
    await harness.settle();
    assert.deepEqual(order.slice(0, 2), [
      'hub apply PodSet',
      'paris apply ConfigMap with paris=paris-ui',
    ]);
  });

  test('nothing is written when nothing changes, also after a restart', async () => {
    const harness = await started(agents, ['berlin', 'paris']);
    harness.podSet('a', { level: 'info' });
    await harness.settle();
    const writes = () =>
      [harness.cluster, harness.member('berlin').cluster, harness.member('paris').cluster].flatMap(
        (cluster) => cluster.takeWrites(),
      );
    writes();
    await harness.restart(placedPlan(agents));
    await harness.settle();
    assert.deepEqual(writes(), []);
  });

  test('drift in a member is reverted', async () => {
    const harness = await started(agents, ['paris']);
    harness.podSet('a', { level: 'info' });
    await harness.settle();
    const { server } = harness.member('paris').cluster;
    const placed = harness.member('paris').get('v1', 'ConfigMap', 'agent');
    server.put({ ...placed, data: { level: 'debug' } } as unknown as KubeObject);
    await harness.settle();
    assert.equal(levelIn(harness, 'paris'), 'info');
  });

  test('drift in a member is reverted, also if a preview was the first to watch it', async () => {
    const harness = await started(agents, ['paris']);
    harness.podSet('a', { level: 'info' });
    await harness.settle();
    await harness.restart(placedPlan(agents));
    const previewer = harness.operator.startPreview();
    await previewer.of('default/a', harness.signal);
    await harness.settle();
    previewer.stop();
    const { server } = harness.member('paris').cluster;
    const placed = harness.member('paris').get('v1', 'ConfigMap', 'agent');
    server.put({ ...placed, data: { level: 'debug' } } as unknown as KubeObject);
    await harness.settle();
    assert.equal(levelIn(harness, 'paris'), 'info');
  });

  test('a label that no longer matches prunes, and the record loses the cluster', async () => {
    const harness = await started(agents, ['berlin', 'paris']);
    harness.podSet('a', { level: 'info' });
    await harness.settle();
    harness.label('berlin', {});
    await harness.settle();
    assert.deepEqual(harness.member('berlin').names('v1', 'ConfigMap'), []);
    assert.deepEqual(harness.member('paris').names('v1', 'ConfigMap'), ['agent']);
    assert.equal(placements(harness), 'paris=paris-ui');
    assert.equal(harness.ready('a'), 'True AllReady: All children are ready');
  });

  test('pruning in one member does not wait for another one', async () => {
    const harness = await started(agents, ['berlin', 'paris']);
    harness.podSet('a', { level: 'info' });
    await harness.settle();
    harness.stopMember('paris');
    await harness.settle();
    harness.label('berlin', {});
    harness.addMember('rome', labels);
    harness.stopMember('rome');
    await harness.settle();
    assert.deepEqual(harness.member('berlin').names('v1', 'ConfigMap'), []);
    assert.deepEqual(harness.member('paris').names('v1', 'ConfigMap'), ['agent']);
  });

  test('after a rejection in one member, another one is pruned', async () => {
    const harness = await started(agents, ['berlin', 'paris']);
    harness.member('paris').cluster.fault = ({ verb }) =>
      verb === 'apply' ? new KubeError('denied', 'no', { status: 403 }) : undefined;
    harness.podSet('a', { level: 'info' });
    await harness.settle();
    assert.deepEqual(harness.member('berlin').names('v1', 'ConfigMap'), ['agent']);
    harness.label('berlin', {});
    await harness.settle();
    assert.deepEqual(harness.member('berlin').names('v1', 'ConfigMap'), []);
  });
});

describe('reconcile/members: the hub', () => {
  test('its UID may become known after the start, with the first member', async () => {
    const harness = await started(agents);
    harness.podSet('a', { level: 'info' });
    await harness.settle();
    harness.addMember('paris', labels);
    await harness.settle();
    const placed = harness.member('paris').get('v1', 'ConfigMap', 'agent');
    assert.equal(placed?.metadata.labels?.['homeostat.dev/hub'], 'uid-of-the-hub');
  });
});

describe('reconcile/members: a member that cannot be used', () => {
  test('keeps what it has, and the others are changed', async () => {
    const harness = await started(agents, ['berlin', 'paris']);
    harness.podSet('a', { level: 'info' });
    await harness.settle();
    harness.stopMember('paris');
    await harness.settle();
    const resource = podSet(harness);
    assert.ok(resource);
    harness.edit(resource, {
      spec: { level: 'debug' },
      metadata: { ...resource.metadata, generation: 2 },
    });
    await harness.settle();
    assert.equal(levelIn(harness, 'berlin'), 'debug');
    assert.equal(levelIn(harness, 'paris'), 'info');
    assert.equal(
      harness.ready('a'),
      'False ClusterUnreachable: agent "agent": Cluster "paris" cannot be used: it is not connected (Unreachable)',
    );
    assert.deepEqual(harness.status('a').clusters, ['berlin', 'paris'], 'the last value is kept');
    assert.equal(harness.status('a').level, 'debug');
    assert.equal(placements(harness), 'berlin=berlin-u,paris=paris-ui');
    harness.startMember('paris');
    await harness.settle();
    assert.equal(levelIn(harness, 'paris'), 'debug');
    assert.equal(harness.ready('a'), 'True AllReady: All children are ready');
    assert.deepEqual(harness.member('paris').forbiddenWrites, []);
  });

  test('is not reported while it connects again, nor after a restart, until its Cluster says that it cannot be reached', async () => {
    const harness = await started(agents, ['berlin', 'paris']);
    harness.podSet('a', { level: 'info' });
    await harness.settle();
    harness.cluster.takeWrites();
    const { cluster } = harness.member('paris');
    harness.disconnect('paris');
    await harness.settle();
    await harness.restart(placedPlan(agents));
    await harness.settle();
    harness.startMember('paris');
    await harness.settle();
    assert.deepEqual(harness.cluster.takeWrites(), []);
    assert.deepEqual(cluster.takeWrites(), ['apply ConfigMap/agent']);
    harness.disconnect('paris');
    await harness.settle();
    await harness.clock.advance(20_000);
    await harness.runOne('default/a');
    assert.equal(
      harness.ready('a'),
      'False ClusterUnreachable: agent "agent": Cluster "paris" cannot be used: it is connecting',
    );
  });

  test('has the same time to connect after a pause of the resource', async () => {
    const harness = await started(agents, ['berlin', 'paris']);
    harness.podSet('a', { level: 'info' });
    await harness.settle();
    harness.disconnect('paris');
    await harness.settle();
    const resource = podSet(harness);
    assert.ok(resource);
    const { metadata } = resource;
    const annotations = { ...metadata.annotations, 'homeostat.dev/paused': 'true' };
    harness.edit(resource, { metadata: { ...metadata, annotations } });
    await harness.settle();
    assert.match(harness.ready('a'), /^False Paused/);
    await harness.clock.advance(20_000);
    harness.cluster.takeWrites();
    harness.edit(resource, { metadata });
    await harness.settle();
    assert.deepEqual(harness.cluster.takeWrites(), []);
    await harness.clock.advance(20_000);
    await harness.runOne('default/a');
    assert.match(harness.ready('a'), /^False ClusterUnreachable/);
  });

  test('that is connecting does not hold back the report of an edit', async () => {
    const harness = await started(agents, ['berlin', 'paris']);
    harness.podSet('a', { level: 'info' });
    await harness.settle();
    harness.disconnect('paris');
    const resource = podSet(harness);
    assert.ok(resource);
    const metadata = { ...resource.metadata, generation: 2 };
    harness.edit(resource, { spec: { level: 'debug' }, metadata });
    await harness.settle();
    assert.match(harness.ready('a'), /^False ClusterUnreachable/);
    assert.equal(harness.status('a').level, 'debug');
  });

  test('is not pruned, though the definition selects connected members only', async () => {
    const harness = await started(
      agents.replace(
        'reads.clusters.metadata.name',
        'reads.clusters[$condition($, "Connected").status = "True"].metadata.name',
      ),
      ['berlin', 'paris'],
    );
    harness.podSet('a', { level: 'info' });
    await harness.settle();
    // The hub says so before the connection ends.
    harness.setConnected('paris', false);
    await harness.settle();
    assert.deepEqual(harness.member('paris').names('v1', 'ConfigMap'), ['agent']);
    assert.deepEqual(harness.status('a').clusters, ['berlin']);
    assert.equal(harness.ready('a'), 'True AllReady: All children are ready');
    harness.stopMember('paris');
    await harness.settle();
    harness.startMember('paris');
    await harness.settle();
    assert.deepEqual(harness.member('paris').names('v1', 'ConfigMap'), ['agent']);
    assert.deepEqual(harness.status('a').clusters, ['berlin', 'paris']);
  });

  test('is not written to when it is lost while the reconcile runs', async () => {
    const harness = await started(agents, ['berlin', 'paris']);
    harness.label('paris', {});
    harness.podSet('a', { level: 'info' });
    await harness.settle();
    const { cluster } = harness.member('paris');
    // The object is put on record before it is created: the hub reports the outage in between.
    harness.cluster.fault = ({ verb }) => {
      if (verb !== 'status') return undefined;
      harness.cluster.fault = () => undefined;
      harness.setConnected('paris', false);
      harness.cluster.deliver();
      return undefined;
    };
    harness.label('paris', labels);
    await harness.settle();
    assert.deepEqual(cluster.takeWrites(), []);
    harness.setConnected('paris', true);
    await harness.settle();
    assert.deepEqual(cluster.takeWrites(), ['apply ConfigMap/agent']);
  });

  test('is not pruned when it was away only while the reconcile read', async () => {
    const late = `
  reads:
    - id: clusters
      apiVersion: homeostat.dev/v1alpha1
      kind: Cluster
      selector: { matchLabels: { agents: "\${ children.first.data.selected }" } }
  children:
    - id: first
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: first }, data: { selected: "true", level: "\${ spec.level }" } }
    - id: agent
      forEach: '\${ reads.clusters[$condition($, "Connected").status = "True"].metadata.name }'
      cluster: \${ $item }
      crossCluster: { selector: all }
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: agent }, data: { level: "\${ spec.level }" } }
`;
    const harness = await started(late, ['berlin', 'paris']);
    const resource = harness.podSet('a', { level: 'info' });
    await harness.settle();
    const say = (isConnected: boolean) => async () => {
      harness.setConnected('paris', isConnected);
      harness.cluster.deliver();
    };
    // It is away when the read is resolved, after "first", and back before anything is pruned.
    harness.cluster.pace = say(false);
    harness.member('berlin').cluster.pace = async () => {
      harness.cluster.pace = undefined;
      await say(true)();
    };
    harness.edit(resource, { spec: { level: 'debug' } });
    harness.cluster.deliver();
    await harness.runOne('default/a');
    assert.deepEqual(harness.member('paris').names('v1', 'ConfigMap'), ['agent']);
    assert.ok(!harness.cluster.requests.some(({ verb }) => verb === 'delete'));
  });

  test('is not written to before its objects are listed', async () => {
    const harness = await started(agents, ['paris']);
    const { cluster } = harness.member('paris');
    cluster.block('ConfigMap', new KubeError('unavailable', 'down', { status: 503 }));
    harness.podSet('a', { level: 'info' });
    await harness.settle();
    assert.deepEqual(cluster.takeWrites(), []);
    cluster.unblock('ConfigMap');
    await harness.settle();
    assert.deepEqual(cluster.takeWrites(), ['apply ConfigMap/agent']);
  });

  test('does not respond: the element waits, and the next try comes later', async () => {
    const harness = await started(agents, ['berlin', 'paris']);
    harness.member('paris').cluster.fault = () => new KubeError('timeout', 'late', { status: 0 });
    harness.podSet('a', { level: 'info' });
    await harness.settle();
    assert.equal(levelIn(harness, 'berlin'), 'info');
    assert.match(harness.ready('a'), /^False ClusterUnreachable: .*"paris"/);
    assert.equal(harness.passes.at(-1)?.end.kind, 'retry');
  });

  test('that is another cluster by now is given up, and the new one gets its own objects', async () => {
    const harness = await started(agents, ['paris']);
    harness.podSet('a', { level: 'info' });
    await harness.settle();
    const old = harness.member('paris');
    const next = harness.replaceMember('paris', 'another-uid');
    await harness.settle();
    assert.deepEqual(old.names('v1', 'ConfigMap'), ['agent']);
    assert.deepEqual(next.names('v1', 'ConfigMap'), ['agent']);
    assert.equal(placements(harness), 'paris=another-');
    assert.deepEqual(old.forbiddenWrites, []);
  });

  test('whose recorded UID differs from that of the connection is not used', async () => {
    const harness = await started(agents, ['paris']);
    harness.podSet('a', { level: 'info' });
    await harness.settle();
    const { cluster } = harness.member('paris');
    cluster.takeWrites();
    const found = harness.cluster.server.get(
      { group: 'homeostat.dev', version: 'v1alpha1', kind: 'Cluster' },
      undefined,
      'paris',
    )?.object;
    harness.cluster.server.put({
      ...found,
      status: { ...(found?.status as object), uid: 'paris-uid-of-another' },
    } as KubeObject);
    const resource = podSet(harness);
    assert.ok(resource);
    harness.edit(resource, { spec: { level: 'debug' } });
    await harness.settle();
    assert.deepEqual(cluster.takeWrites(), []);
  });
});

describe('reconcile/members: deletion', () => {
  test('removes the objects in every member, then the finalizer', async () => {
    const harness = await started(agents, ['berlin', 'paris']);
    const resource = harness.podSet('a', { level: 'info' });
    await harness.settle();
    harness.remove(resource);
    await harness.settle();
    assert.equal(podSet(harness), undefined);
    for (const name of ['berlin', 'paris'])
      assert.deepEqual(harness.member(name).names('v1', 'ConfigMap'), []);
  });

  test('waits for a member that cannot be used, and names it', async () => {
    const harness = await started(agents, ['berlin', 'paris']);
    const resource = harness.podSet('a', { level: 'info' });
    await harness.settle();
    harness.stopMember('paris');
    await harness.settle();
    harness.remove(resource);
    await harness.settle();
    assert.deepEqual(harness.member('berlin').names('v1', 'ConfigMap'), []);
    assert.match(harness.ready('a'), /^False ClusterUnreachable: Cluster "paris" cannot be used/);
    harness.startMember('paris');
    await harness.settle();
    assert.equal(podSet(harness), undefined);
    assert.deepEqual(harness.member('paris').names('v1', 'ConfigMap'), []);
  });

  test('also without the definition', async () => {
    const plan = placedPlan(agents);
    const harness = await started(agents, ['berlin', 'paris']);
    const resource = harness.podSet('a', { level: 'info' });
    await harness.settle();
    await harness.breakDefinition(plan);
    harness.remove(resource);
    await harness.settle();
    assert.equal(podSet(harness), undefined);
    for (const name of ['berlin', 'paris'])
      assert.deepEqual(harness.member(name).names('v1', 'ConfigMap'), []);
  });

  test('a deleted Cluster gives its objects up: nothing waits for it, nothing is deleted there', async () => {
    const harness = await started(agents, ['berlin', 'paris']);
    const resource = harness.podSet('a', { level: 'info' });
    await harness.settle();
    const { cluster } = harness.member('paris');
    cluster.takeWrites();
    harness.removeMember('paris');
    await harness.settle();
    assert.equal(placements(harness), 'berlin=berlin-u');
    assert.deepEqual(harness.status('a').childInventory, ['berlin:ConfigMap default/agent']);
    const events = harness.cluster.reported.filter(({ reason }) => reason === 'ObjectsGivenUp');
    assert.equal(events.length, 1);
    assert.match(events[0]?.note ?? '', /^The objects in cluster "paris" are given up/);
    harness.remove(resource);
    await harness.settle();
    assert.equal(podSet(harness), undefined);
    assert.deepEqual(cluster.takeWrites(), []);
    assert.deepEqual(harness.member('paris').names('v1', 'ConfigMap'), ['agent']);
  });

  test('searches allowed members too: the record on the resource can be edited', async () => {
    const harness = await started(agents, ['paris']);
    const resource = harness.podSet('a', { level: 'info' });
    await harness.settle();
    const now = podSet(harness);
    assert.ok(now);
    harness.edit(now, { metadata: { ...now.metadata, annotations: {} } });
    harness.remove(resource);
    await harness.settle();
    assert.equal(podSet(harness), undefined);
    assert.deepEqual(harness.member('paris').names('v1', 'ConfigMap'), []);
  });

  test('an entry that an author adds leads to nothing that is not a child', async () => {
    const harness = await started(agents, ['paris']);
    const resource = harness.podSet('a', { level: 'info' });
    await harness.settle();
    const rome = harness.addMember('rome');
    rome.cluster.server.put({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'agent', namespace: 'default', labels: {} },
    });
    const now = podSet(harness);
    assert.ok(now);
    const annotations = { 'clusters.homeostat.dev/podset': 'paris=paris-ui,rome=rome-uid' };
    harness.edit(now, { metadata: { ...now.metadata, annotations } });
    await harness.settle();
    harness.remove(resource);
    await harness.settle();
    assert.equal(podSet(harness), undefined);
    assert.deepEqual(rome.cluster.takeWrites(), []);
  });
});

describe('reconcile/members: another cluster for a child', () => {
  test('the object is created there first, then removed', async () => {
    const harness = await started(single(), ['berlin', 'paris']);
    const resource = harness.podSet('a', { cluster: 'paris', level: 'info' });
    await harness.settle();
    const order: string[] = [];
    for (const name of ['berlin', 'paris'])
      harness.member(name).cluster.fault = ({ verb }) => void order.push(`${name} ${verb}`);
    harness.edit(resource, { spec: { cluster: 'berlin', level: 'info' } });
    await harness.settle();
    assert.deepEqual(order, ['berlin apply', 'paris delete']);
    assert.equal(placements(harness), 'berlin=berlin-u');
  });

  test('the object stays while the new cluster cannot be used', async () => {
    const harness = await started(single(), ['berlin', 'paris']);
    const resource = harness.podSet('a', { cluster: 'paris', level: 'info' });
    await harness.settle();
    harness.stopMember('berlin');
    harness.edit(resource, { spec: { cluster: 'berlin', level: 'info' } });
    await harness.settle();
    assert.deepEqual(harness.member('paris').names('v1', 'ConfigMap'), ['a']);
    harness.startMember('berlin');
    await harness.settle();
    assert.deepEqual(harness.member('paris').names('v1', 'ConfigMap'), []);
    assert.deepEqual(harness.member('berlin').names('v1', 'ConfigMap'), ['a']);
  });

  test('a kind that the definition has dropped is on record while a member that cannot be used has it', async () => {
    const harness = await started(agents, ['paris']);
    harness.podSet('a', { level: 'info' });
    await harness.settle();
    harness.stopMember('paris');
    const kind = { group: '', version: 'v1', kind: 'ConfigMap' };
    harness.formerKinds = [kind];
    await harness.restart(placedPlan('  children: []\n'));
    await harness.settle();
    assert.equal(harness.operator.hasChildren(kind), true);
    harness.startMember('paris');
    await harness.settle();
    assert.deepEqual(harness.member('paris').names('v1', 'ConfigMap'), []);
    assert.equal(harness.operator.hasChildren(kind), false);
    assert.equal(placements(harness), undefined);
  });

  test('also of a list, while the new cluster cannot be used', async () => {
    const listed = single('forEach: [1]');
    const harness = await started(listed, ['berlin', 'paris']);
    const resource = harness.podSet('a', { cluster: 'paris', level: 'info' });
    await harness.settle();
    harness.stopMember('berlin');
    harness.edit(resource, { spec: { cluster: 'berlin', level: 'info' } });
    await harness.settle();
    assert.deepEqual(harness.member('paris').names('v1', 'ConfigMap'), ['a']);
    harness.startMember('berlin');
    await harness.settle();
    assert.deepEqual(harness.member('paris').names('v1', 'ConfigMap'), []);
  });

  test('from the hub to a member, and back', async () => {
    const onHub = single().replace(/ +cluster: .*\n +crossCluster: .*\n/, '');
    const harness = await started(onHub, ['paris']);
    harness.podSet('a', { cluster: 'paris', level: 'info' });
    await harness.settle();
    assert.deepEqual(harness.names('v1', 'ConfigMap'), ['a']);
    harness.formerKinds = [{ group: '', version: 'v1', kind: 'ConfigMap' }];
    await harness.restart(placedPlan(single()));
    await harness.settle();
    assert.deepEqual(harness.names('v1', 'ConfigMap'), []);
    assert.deepEqual(harness.member('paris').names('v1', 'ConfigMap'), ['a']);
    harness.formerKinds = [];
    await harness.restart(placedPlan(onHub));
    await harness.settle();
    assert.deepEqual(harness.names('v1', 'ConfigMap'), ['a']);
    assert.deepEqual(harness.member('paris').names('v1', 'ConfigMap'), []);
    assert.equal(placements(harness), undefined);
    assert.equal(podSet(harness)?.metadata.finalizers?.length ?? 0, 0);
  });

  test('a member outside crossCluster is an error that keeps the objects', async () => {
    const harness = await started(
      single().replace('selector: all', 'selector: { matchLabels: { tier: prod } }'),
    );
    harness.addMember('paris', { tier: 'prod' });
    harness.addMember('test', { tier: 'test' });
    const resource = harness.podSet('a', { cluster: 'paris', level: 'info' });
    await harness.settle();
    harness.edit(resource, { spec: { cluster: 'test', level: 'info' } });
    await harness.settle();
    assert.deepEqual(harness.member('paris').names('v1', 'ConfigMap'), ['a']);
    assert.deepEqual(harness.member('test').names('v1', 'ConfigMap'), []);
    assert.equal(
      harness.ready('a'),
      'False RenderFailed: settings "a": cluster: "test" does not match the selector of "crossCluster"',
    );
  });

  test('one that does not exist is waited for', async () => {
    const harness = await started(single());
    harness.podSet('a', { cluster: 'paris', level: 'info' });
    await harness.settle();
    assert.equal(
      harness.ready('a'),
      'False ClusterUnreachable: settings "a": Cluster "paris" cannot be used: it does not exist',
    );
    harness.addMember('paris');
    await harness.settle();
    assert.deepEqual(harness.member('paris').names('v1', 'ConfigMap'), ['a']);
  });
});

describe('reconcile/members: objects of others', () => {
  for (const [whose, hub] of [
    ['another hub', { 'homeostat.dev/hub': 'another-hub' }],
    ['a runtime in the member', {}],
  ] as const)
    test(`an object of ${whose} is a conflict, also with adopt`, async () => {
      const harness = await started(single('adopt: IfUnowned'), ['paris']);
      const owned = {
        'app.kubernetes.io/managed-by': 'homeostat',
        'homeostat.dev/definition': 'podset',
        'homeostat.dev/child': 'settings',
        'homeostat.dev/owner-uid': 'somebody',
        ...hub,
      };
      const { cluster } = harness.member('paris');
      cluster.server.put({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'a', namespace: 'default', labels: owned },
      });
      harness.podSet('a', { cluster: 'paris', level: 'info' });
      await harness.settle();
      assert.match(harness.ready('a'), /^False Conflict: /);
      assert.deepEqual(cluster.takeWrites(), []);
    });

  test('an object without an owner is adopted', async () => {
    const harness = await started(single('adopt: IfUnowned'), ['paris']);
    harness.member('paris').cluster.server.put({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a', namespace: 'default' },
    });
    harness.podSet('a', { cluster: 'paris', level: 'info' });
    await harness.settle();
    assert.equal(levelIn(harness, 'paris', 'a'), 'info');
  });
});

describe('reconcile/members: order and sequence', () => {
  const ordered = agents.replace(
    '  status:',
    `    - id: second
      forEach: \${ reads.clusters.metadata.name }
      cluster: \${ $item }
      crossCluster: { selector: { matchLabels: { agents: "true" } } }
      after: [agent]
      template: { apiVersion: v1, kind: Secret, metadata: { name: second } }
  status:`,
  );

  test('"after" counts the elements of the same member', async () => {
    const harness = await started(ordered, ['berlin', 'paris']);
    harness.member('paris').cluster.fault = ({ verb, kind }) =>
      verb === 'apply' && kind === 'ConfigMap'
        ? new KubeError('denied', 'no', { status: 403 })
        : undefined;
    harness.podSet('a', { level: 'info' });
    await harness.settle();
    assert.deepEqual(harness.member('berlin').names('v1', 'Secret'), ['second']);
    assert.deepEqual(harness.member('paris').names('v1', 'Secret'), []);
  });

  for (const strategy of [
    'ordered: true',
    'updateStrategy: { rollingUpdate: { maxUnavailable: 1 } }',
  ])
    test(`a member that cannot be used holds up no other with "${strategy}"`, async () => {
      const body = agents.replace('    - id: agent\n', `    - id: agent\n      ${strategy}\n`);
      const harness = await started(body, ['berlin', 'paris', 'rome']);
      harness.podSet('a', { level: 'info' });
      await harness.settle();
      harness.stopMember('paris');
      await harness.settle();
      const resource = podSet(harness);
      assert.ok(resource);
      harness.edit(resource, { spec: { level: 'debug' } });
      await harness.settle();
      for (const name of ['berlin', 'rome']) assert.equal(levelIn(harness, name), 'debug');
      assert.equal(levelIn(harness, 'paris'), 'info');
    });

  test('a member that cannot be used holds up no other with "maxSurge", and keeps its object', async () => {
    const surge = 'updateStrategy: { rollingUpdate: { maxSurge: 1 } }';
    const body = agents
      .replace('    - id: agent\n', `    - id: agent\n      ${surge}\n`)
      .replace('name: agent', 'name: "agent-${ spec.level }"');
    const harness = await started(body, ['berlin', 'paris', 'rome']);
    harness.podSet('a', { level: 'info' });
    await harness.settle();
    harness.stopMember('paris');
    await harness.settle();
    const resource = podSet(harness);
    assert.ok(resource);
    harness.edit(resource, { spec: { level: 'debug' } });
    await harness.settle();
    const agentsIn = (name: string) => harness.member(name).names('v1', 'ConfigMap');
    for (const name of ['berlin', 'rome']) assert.deepEqual(agentsIn(name), ['agent-debug']);
    assert.deepEqual(agentsIn('paris'), ['agent-info']);
    harness.startMember('paris');
    await harness.settle();
    assert.deepEqual(agentsIn('paris'), ['agent-debug']);
  });

  test('a member that cannot be used does not hold up the creation of ordered elements in others', async () => {
    const body = agents.replace('    - id: agent\n', '    - id: agent\n      ordered: true\n');
    const harness = await started(body, ['berlin', 'paris', 'rome']);
    harness.stopMember('paris');
    await harness.settle();
    harness.podSet('a', { level: 'info' });
    await harness.settle();
    for (const name of ['berlin', 'rome']) assert.equal(levelIn(harness, name), 'info');
    assert.equal(levelIn(harness, 'paris'), undefined);
  });
});

describe('reconcile/members: reads', () => {
  const reading = `
  reads:
    - { id: one, apiVersion: v1, kind: ConfigMap, name: source, cluster: "\${ spec.cluster }", crossCluster: { selector: all } }
    - { id: many, apiVersion: v1, kind: ConfigMap, selector: { matchLabels: { x: "1" } }, cluster: paris }
  children:
    - id: copy
      template: { apiVersion: v1, kind: Secret, metadata: { name: copy }, data: { level: "\${ reads.one.data.level }" } }
  status:
    where: \${ $clusterOf(reads.one) }
    names: \${ [reads.many.metadata.name] }
`;
  const source = (level: string) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'source', namespace: 'default', labels: { x: '1' } },
    data: { level },
  });

  test('an object in a member is read, and its change triggers a reconcile', async () => {
    const harness = await started(reading, ['paris']);
    const { server } = harness.member('paris').cluster;
    server.put(source('info'));
    harness.podSet('a', { cluster: 'paris' });
    await harness.settle();
    const copied = () => (harness.get('v1', 'Secret', 'copy')?.data as { level?: string })?.level;
    assert.equal(copied(), 'info');
    assert.deepEqual(harness.status('a').names, ['source']);
    assert.equal(harness.status('a').where, 'paris');
    server.put(source('debug'));
    await harness.settle();
    assert.equal(copied(), 'debug');
    harness.stopMember('paris');
    await harness.settle();
    assert.deepEqual(harness.status('a').names, ['source'], 'the last value is kept');
    assert.equal(copied(), 'debug');
    server.put(source('trace'));
    harness.startMember('paris');
    await harness.settle();
    assert.equal(copied(), 'trace');
  });
});

describe('reconcile/members: replicas spread over connected members', () => {
  const spread = `
  reads:
    - { id: clusters, apiVersion: homeostat.dev/v1alpha1, kind: Cluster, selector: { matchLabels: { web: "true" } } }
  vars:
    names: '\${ [$sort(reads.clusters[$condition($, "Connected").status = "True"].metadata.name)] }'
  children:
    - id: web
      forEach: \${ vars.names }
      cluster: \${ $item }
      crossCluster: { selector: { matchLabels: { web: "true" } } }
      template:
        apiVersion: apps/v1
        kind: Deployment
        metadata: { name: "\${ metadata.name }" }
        spec:
          replicas: '\${ $floor(spec.replicas / $count(vars.names)) + ($index < spec.replicas % $count(vars.names) ? 1 : 0) }'
          selector: { matchLabels: { app: web } }
          template: { metadata: { labels: { app: web } }, spec: { containers: [{ name: web, image: nginx }] } }
  status:
    clusters: '\${ [children.web.{ "name": $clusterOf($), "replicas": spec.replicas }] }'
`;

  test('the sum stays when a member is lost, which keeps its objects, and comes back', async () => {
    const harness = new MemberHarness(placedPlan(spread));
    for (const name of ['berlin', 'paris', 'rome']) harness.addMember(name, { web: 'true' });
    await harness.start();
    harness.podSet('a', { replicas: 7 });
    await harness.settle();
    const replicas = () =>
      (harness.status('a').clusters as readonly Record<string, unknown>[]).map(
        ({ name, replicas: count }) => `${name} ${count}`,
      );
    assert.deepEqual(replicas(), ['berlin 3', 'paris 2', 'rome 2']);
    harness.stopMember('rome');
    await harness.settle();
    assert.deepEqual(replicas(), ['berlin 4', 'paris 3']);
    assert.deepEqual(harness.member('rome').names('apps/v1', 'Deployment'), ['a']);
    harness.startMember('rome');
    await harness.settle();
    assert.deepEqual(replicas(), ['berlin 3', 'paris 2', 'rome 2']);
    harness.label('rome', {});
    await harness.settle();
    assert.deepEqual(replicas(), ['berlin 4', 'paris 3']);
    assert.deepEqual(harness.member('rome').names('apps/v1', 'Deployment'), []);
  });
});

describe('reconcile/members: a list that waits', () => {
  const listed = `
  reads: [{ id: list, apiVersion: v1, kind: ConfigMap, name: list }]
  children:
    - id: agent
      forEach: \${ $split(reads.list.data.names, ",") }
      cluster: \${ $item }
      crossCluster: { selector: all }
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: agent } }
  status:
    clusters: \${ [$sort(children.agent.$clusterOf($))] }
`;

  test('is reported as before while a member that may have its objects cannot be used', async () => {
    const harness = await started(listed, ['berlin', 'paris']);
    const list: KubeObject = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      data: { names: 'berlin,paris' },
      metadata: { name: 'list', namespace: 'default' },
    };
    harness.cluster.server.put(list);
    harness.podSet('a');
    await harness.settle();
    assert.deepEqual(harness.status('a').clusters, ['berlin', 'paris']);
    harness.remove(list);
    harness.stopMember('paris');
    await harness.settle();
    assert.deepEqual(harness.status('a').clusters, ['berlin', 'paris']);
    harness.startMember('paris');
    harness
      .member('paris')
      .cluster.server.delete(
        { group: '', version: 'v1', kind: 'ConfigMap' },
        { namespace: 'default', name: 'agent' },
      );
    await harness.settle();
    assert.deepEqual(harness.status('a').clusters, ['berlin']);
  });
});

describe('reconcile/members: nothing changes without them', () => {
  test('a definition without placement has the same requests and watches', async () => {
    const plain = `
  children:
    - id: settings
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }" } }
`;
    const seen = async (harness: MemberHarness) => {
      await harness.start();
      harness.podSet('a', {});
      await harness.settle();
      return { requests: harness.cluster.requests, watched: harness.cluster.watched };
    };
    const without = new MemberHarness(placedPlan(plain));
    const withMembers = new MemberHarness(placedPlan(plain));
    const paris = withMembers.addMember('paris', labels);
    assert.deepEqual(await seen(withMembers), await seen(without));
    assert.deepEqual(paris.cluster.requests, []);
    assert.deepEqual(paris.cluster.watched, []);
  });
});
