import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { parseYaml } from '#definition';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, thing, thingDefinition, thingPath } from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';
import { useMembers } from '../support/members.ts';
import { ScriptedServer } from '../support/scripted-server.ts';

const shared = useControlPlane();
const launch = useRuntimes(shared);
const systemPath = '/api/v1/namespaces/kube-system';

const maps = thingDefinition(
  'maps',
  `  children: [{ id: a, template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }" }, data: { level: "\${ spec.level }" } } }]
  controller: { clusters: { selector: { matchLabels: { maps: "true" } } } }
`,
);

shared.describe('attacks/members: a member with the UID of another one', () => {
  const members = useMembers(shared, ['victim']);
  /** What the hostile server answers as its UID. Undefined: it does not respond yet. */
  let claimed: string | undefined;
  let hostile: ScriptedServer;
  let homeostat: HomeostatRuntime;

  const start = () =>
    launch({
      flags: [
        ...['--sources', 'objects', '--namespace', 'homeostat-test'],
        ...['--runtime', 'hub-of-attacks', '--cluster-secrets', 'default'],
      ],
    });
  const register = () =>
    members.register('attacker', {
      labels: { maps: 'true' },
      kubeconfig: JSON.stringify({
        'current-context': 'a',
        contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
        clusters: [{ name: 'a', cluster: { server: hostile.url } }],
        users: [{ name: 'a', user: {} }],
      }),
    });
  /** An edit in the victim is applied, and its connection has not changed. */
  async function assertServed(level: string, since: string | undefined) {
    await members.client('victim').apply(thing('maps', 'default', { level }));
    await members
      .client('victim')
      .untilObject(
        '/api/v1/namespaces/default/configmaps/one',
        (object) => (object?.data as { readonly level?: string } | undefined)?.level === level,
      );
    const victim = await shared.client().get(`${members.collection}/victim`);
    const connected = conditionOf(victim, 'Connected');
    assert.equal(connected?.status, 'True');
    assert.equal(connected?.lastTransitionTime, since);
  }
  const uidOf = (object: KubeObject | undefined) =>
    (object?.status as { readonly uid?: string } | undefined)?.uid;

  before(async () => {
    hostile = await ScriptedServer.start(({ path }) => {
      if (claimed === undefined) return { status: 503, body: {} };
      if (path === '/version') return { status: 200, body: { gitVersion: 'v1.36.0' } };
      if (path === systemPath) return { status: 200, body: { metadata: { uid: claimed } } };
      return { status: 404, body: { kind: 'Status', code: 404 } };
    });
    homeostat = start();
    await shared.client().untilList('/apis/homeostat.dev/v1alpha1/operatordefinitions', () => true);
    await shared.client().apply(parseYaml(maps) as unknown as KubeObject);
    await shared.client().untilList(members.collection, () => true);
  });
  after(() => hostile.stop());

  test('it does not take that one out of service, although its object is older', async () => {
    await register();
    await shared
      .client()
      .untilObject(`${members.collection}/attacker`, (object) => object?.status !== undefined);
    await members.register('victim', { labels: { maps: 'true' } });
    const victim = await members.untilReason('victim', 'Connected');
    await members.client('victim').untilList('/apis/maps.example.com/v1/things', () => true);
    await assertServed('before', conditionOf(victim, 'Connected')?.lastTransitionTime);
    claimed = uidOf(victim);
    const attacker = await members.untilReason('attacker', 'Duplicate');
    assert.match(
      conditionOf(attacker, 'Connected')?.message ?? '',
      /responds with the UID of the Cluster "victim", which has recorded it/,
    );
    await assertServed('after', conditionOf(victim, 'Connected')?.lastTransitionTime);
  });

  test('nor after a restart of the hub, nor while the other one is unreachable', async () => {
    await homeostat.stop();
    await members.plane('victim').stopApiServer();
    homeostat = start();
    await members.untilReason('victim', 'Unreachable');
    await members.untilReason('attacker', 'Duplicate');
    await members.plane('victim').startApiServer();
    const victim = await members.untilReason('victim', 'Connected');
    await assertServed('again', conditionOf(victim, 'Connected')?.lastTransitionTime);
    const path = thingPath('maps', 'default');
    await members
      .client('victim')
      .untilObject(path, (object) => conditionOf(object)?.status === 'True');
    assert.equal(uidOf(await shared.client().get(`${members.collection}/attacker`)), undefined);
  });
});
