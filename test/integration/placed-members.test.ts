import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { parseYaml } from '#definition';
import type { KubeObject } from '#util/kube-object.ts';
import { type AuditEntry, useControlPlane } from '../support/control-plane/index.ts';
import {
  conditionOf,
  statusOf,
  thing,
  thingDefinition,
  thingPath,
} from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';
import { useMembers } from '../support/members.ts';

const shared = useControlPlane({ audit: true });
const launch = useRuntimes(shared);
const definitions = '/apis/homeostat.dev/v1alpha1/operatordefinitions';
const names = ['east', 'south', 'west'];

/** An object in every member with the label, and one in the member that the resource names. */
const text = thingDefinition(
  'agents',
  `  reads:
    - { id: clusters, apiVersion: homeostat.dev/v1alpha1, kind: Cluster, selector: { matchLabels: { agents: "true" } } }
  children:
    - id: agent
      forEach: \${ reads.clusters.metadata.name }
      cluster: \${ $item }
      crossCluster: { selector: { matchLabels: { agents: "true" } } }
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }-agent" }, data: { level: "\${ spec.level }" } }
    - id: main
      when: \${ $exists(spec.main) }
      cluster: \${ spec.main }
      crossCluster: { selector: all }
      template: { apiVersion: v1, kind: Secret, metadata: { name: "\${ metadata.name }-main" }, stringData: { level: "\${ spec.level }" } }
  status: { clusters: "\${ [$sort(children.agent.$clusterOf($))] }" }
`,
);

const agentPath = (name = 'one') => `/api/v1/namespaces/default/configmaps/${name}-agent`;
const mainPath = (name = 'one') => `/api/v1/namespaces/default/secrets/${name}-main`;
const annotation = 'clusters.homeostat.dev/agents';

shared.describe('integration/placed-members', () => {
  const members = useMembers(shared, names);
  let homeostat: HomeostatRuntime;

  const start = () =>
    launch({
      flags: [
        ...['--sources', 'objects', '--namespace', 'homeostat-test'],
        ...['--runtime', 'hub-of-placed', '--cluster-secrets', 'default'],
      ],
    });
  const labelled = { labels: { agents: 'true' } };
  const apply = (spec: object, name = 'one') =>
    shared.client().apply(thing('agents', 'default', spec, name));
  const untilThing = (isWanted: (object: KubeObject) => boolean, name = 'one') =>
    shared
      .client()
      .untilObject(
        thingPath('agents', 'default', name),
        (object) => object !== undefined && isWanted(object),
      );
  const untilReady = (clusters: readonly string[], name = 'one') =>
    untilThing(
      (object) =>
        JSON.stringify(statusOf(object).clusters) === JSON.stringify(clusters) &&
        conditionOf(object)?.status === 'True' &&
        statusOf(object).observedGeneration === object.metadata.generation,
      name,
    );
  const untilLevel = (member: string, level: string, name = 'one') =>
    members
      .client(member)
      .untilObject(
        agentPath(name),
        (object) => (object?.data as { readonly level?: string })?.level === level,
      );
  const isWaiting = (object: KubeObject, member: string) => {
    const { reason, message = '' } = conditionOf(object) ?? {};
    return reason === 'ClusterUnreachable' && message.includes(`"${member}"`);
  };
  const writesIn = (member: string, since: number) => members.audit(member).writes({ since });
  /** Marks to count from, once what was sent before is on record. */
  async function marks(): Promise<ReadonlyMap<string, number>> {
    await Promise.all(names.map((name) => members.audit(name).quiet(1_000)));
    return new Map(names.map((name) => [name, members.audit(name).mark()]));
  }

  before(async () => {
    homeostat = start();
    await shared.client().untilList(definitions, () => true);
    await shared.client().apply(parseYaml(text) as unknown as KubeObject);
    await shared.client().untilList(members.collection, () => true);
    for (const name of names) await members.register(name, labelled);
    for (const name of names) await members.untilReason(name, 'Connected');
    await shared.client().untilList('/apis/agents.example.com/v1/things', () => true);
  });

  test('objects are placed in every member, and the resource on the hub records them', async () => {
    await apply({ level: 'info', main: 'west' });
    const found = await untilReady(names);
    for (const name of names) {
      const placed = await members.client(name).get(agentPath());
      assert.equal(placed?.metadata.labels?.['homeostat.dev/owner-uid'], found?.metadata.uid);
      assert.equal(placed?.metadata.ownerReferences, undefined);
    }
    assert.equal(await shared.client().get(agentPath()), undefined, 'nothing is on the hub');
    assert.equal(await members.client('east').get(mainPath()), undefined);
    assert.ok(await members.client('west').get(mainPath()));
    assert.match(
      found?.metadata.annotations?.[annotation] ?? '',
      /^east=[0-9a-f]{8},south=[0-9a-f]{8},west=[0-9a-f]{8}$/,
    );
  });

  test('drift in a member is reverted', async () => {
    await members.client('east').patch(agentPath(), { data: { level: 'changed' } });
    await untilLevel('east', 'info');
  });

  test('a restart of the hub writes nothing, neither there nor in members', async () => {
    await untilReady(names);
    // The numbers of placed objects are written later.
    await shared.audit.quiet(12_000, { ofDefinitions: true });
    await homeostat.stop();
    const since = await marks();
    await shared.audit.quiet(1_000, { ofDefinitions: true });
    const mark = shared.audit.mark();
    homeostat = start();
    for (const name of names)
      await members
        .audit(name)
        .untilSeen(
          (entries) =>
            entries.some(({ resource, verb }) => resource === 'configmaps' && verb === 'watch'),
          { since: since.get(name) ?? 0 },
        );
    await shared.audit.quiet(12_000, { ofDefinitions: true });
    for (const name of names) assert.deepEqual(writesIn(name, since.get(name) ?? 0), []);
    // On a slow machine the start takes more than 5 s: the definition reports it.
    const written = shared.audit.writes({ since: mark });
    assert.deepEqual(
      written.filter(({ resource }) => resource !== 'operatordefinitions/status'),
      [],
    );
  });

  test('the Cluster counts the objects that resources of the hub have there', async () => {
    await shared
      .client()
      .untilObject(`${members.collection}/west`, (object) => statusOf(object).placed === 2);
    await shared
      .client()
      .untilObject(`${members.collection}/east`, (object) => statusOf(object).placed === 1);
  });

  test('the object of a changed cluster is created there first, then removed from the old one', async () => {
    const since = await marks();
    await apply({ level: 'info', main: 'east' });
    await members.client('west').untilGone(mainPath());
    await untilReady(names);
    const timeOf = async (member: string, verb: string) => {
      const isIt = (each: AuditEntry) => each.resource === 'secrets' && each.verb === verb;
      const from = since.get(member) ?? 0;
      const audit = members.audit(member);
      await audit.untilSeen((entries) => entries.some(isIt), { since: from });
      return audit.entries({ since: from }).find(isIt)?.atMs ?? 0;
    };
    assert.ok((await timeOf('east', 'patch')) <= (await timeOf('west', 'delete')));
  });

  test('a label that no longer matches prunes in that member only', async () => {
    const since = await marks();
    await members.register('south', { labels: {} });
    await members.client('south').untilGone(agentPath());
    await untilReady(['east', 'west']);
    for (const name of ['east', 'west'])
      assert.deepEqual(writesIn(name, since.get(name) ?? 0), [], name);
    await members.register('south', labelled);
    await untilReady(names);
  });

  test('an object of another hub is a conflict, also with adopt', async () => {
    await members.client('east').apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: 'two-agent',
        namespace: 'default',
        labels: {
          'app.kubernetes.io/managed-by': 'homeostat',
          'homeostat.dev/definition': 'agents',
          'homeostat.dev/child': 'agent',
          'homeostat.dev/owner-uid': '11111111-2222-3333-4444-555555555555',
          'homeostat.dev/hub': 'another-hub',
        },
      },
      data: { level: 'theirs' },
    });
    const since = await marks();
    await apply({ level: 'info' }, 'two');
    const found = await untilThing((object) => conditionOf(object)?.reason === 'Conflict', 'two');
    const message =
      /ConfigMap "two-agent" in cluster "east" already exists and is owned by another hub/;
    assert.match(conditionOf(found)?.message ?? '', message);
    await untilLevel('west', 'info', 'two');
    assert.deepEqual(writesIn('east', since.get('east') ?? 0), []);
    await shared.client().delete(thingPath('agents', 'default', 'two'));
    await shared.client().untilGone(thingPath('agents', 'default', 'two'));
    await members.client('west').untilGone(agentPath('two'));
    assert.ok(await members.client('east').get(agentPath('two')), 'it is not ours');
    await members.client('east').delete(agentPath('two'));
  });

  test('a member that does not respond keeps its objects, and holds up no other one', async () => {
    await members.plane('west').stopApiServer();
    await apply({ level: 'debug', main: 'east' });
    for (const name of ['east', 'south']) await untilLevel(name, 'debug');
    await members.untilReason('west', 'Unreachable');
    await untilThing((object) => isWaiting(object, 'west'));
  });

  test('a deletion waits for it, also after the hub was killed, and is complete when it responds again', async () => {
    await shared.client().delete(thingPath('agents', 'default'));
    for (const name of ['east', 'south']) await members.client(name).untilGone(agentPath());
    await untilThing(
      (object) => object.metadata.deletionTimestamp !== undefined && isWaiting(object, 'west'),
    );
    await homeostat.stop('SIGKILL');
    homeostat = start();
    await homeostat.whenReady();
    await shared.audit.quiet(3_000, { ofDefinitions: true });
    await untilThing((object) => isWaiting(object, 'west'));
    await members.plane('west').startApiServer();
    await shared.client().untilGone(thingPath('agents', 'default'));
    for (const name of names) {
      assert.equal(await members.client(name).get(agentPath()), undefined);
      assert.equal(await members.client(name).get(mainPath()), undefined);
    }
  });

  test('a deleted Cluster object gives its objects up: nothing waits, and nothing is deleted there', async () => {
    await members.untilReason('west', 'Connected');
    await apply({ level: 'info' }, 'three');
    await untilReady(names, 'three');
    await members.plane('west').stopApiServer();
    await members.untilReason('west', 'Unreachable');
    await shared.client().delete(thingPath('agents', 'default', 'three'));
    await untilThing((object) => isWaiting(object, 'west'), 'three');
    await shared.client().delete(`${members.collection}/west`);
    await shared.client().untilGone(thingPath('agents', 'default', 'three'));
    await members.plane('west').startApiServer();
    assert.ok(await members.client('west').get(agentPath('three')));
  });
});
