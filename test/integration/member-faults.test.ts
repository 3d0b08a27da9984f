import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { parseYaml } from '#definition';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { kubeconfigText } from '../support/control-plane/kubeconfig.ts';
import {
  conditionOf,
  statusOf,
  thing,
  thingDefinition,
  thingPath,
} from '../support/definitions.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy/index.ts';
import { useRuntimes } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';
import { useMembers } from '../support/members.ts';
import { tokenOf } from '../support/rights/service-account.ts';

const shared = useControlPlane({ audit: true });
const launch = useRuntimes(shared);
const definitions = '/apis/homeostat.dev/v1alpha1/operatordefinitions';

const text = thingDefinition(
  'agents',
  `  reads:
    - { id: clusters, apiVersion: homeostat.dev/v1alpha1, kind: Cluster, selector: { matchLabels: { agents: "true" } } }
  children:
    - id: agent
      forEach: \${ reads.clusters.metadata.name }
      cluster: \${ $item }
      crossCluster: { selector: { matchLabels: { agents: "true" } } }
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }" }, data: { level: "\${ spec.level }" } }
`,
);
const local = thingDefinition(
  'local',
  `  children: [{ id: a, template: { apiVersion: v1, kind: ConfigMap, metadata: { name: local }, data: { level: "\${ spec.level }" } } }]
  controller: { clusters: { selector: { matchLabels: { agents: "true" } } } }
`,
);
const mapPath = (name: string) => `/api/v1/namespaces/default/configmaps/${name}`;

shared.describe('integration/member-faults', () => {
  const members = useMembers(shared, ['east', 'west', 'other']);
  let proxy: FaultProxy;
  let leader: HomeostatRuntime;
  let proxied: string;
  const labelled = { labels: { agents: 'true' } };

  const apply = (level: string) =>
    shared.client().apply(thing('agents', 'default', { level }, 'one'));
  const untilLevel = (member: string, level: string, name = 'one') =>
    members
      .client(member)
      .untilObject(
        mapPath(name),
        (object) => (object?.data as { readonly level?: string })?.level === level,
      );
  const untilCondition = (isWanted: (reason: string, message: string) => boolean) =>
    shared.client().untilObject(thingPath('agents', 'default'), (object) => {
      const { reason = '', message = '' } = conditionOf(object) ?? {};
      return isWanted(reason, message);
    });
  const untilReady = () => untilCondition((reason) => reason === 'AllReady');
  const untilWaiting = (member: string) =>
    untilCondition(
      (reason, message) => reason === 'ClusterUnreachable' && message.includes(`"${member}"`),
    );
  const deletesIn = (member: string, since: number) =>
    members
      .audit(member)
      .entries({ since })
      .filter(({ verb }) => verb === 'delete')
      .map(({ uri }) => uri);

  /** A token of a ServiceAccount of a member that may do everything; it ends with the ServiceAccount. */
  async function serviceAccountToken(member: string, name: string): Promise<string> {
    const client = members.client(member);
    const account = { namespace: 'default', name };
    await client.apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: account });
    await client.apply({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: {
        apiGroup: 'rbac.authorization.k8s.io',
        kind: 'ClusterRole',
        name: 'cluster-admin',
      },
      subjects: [{ kind: 'ServiceAccount', ...account }],
    });
    return tokenOf(client, account);
  }
  const kubeconfigWith = (member: string, token: string) => {
    const { server, caCertificate } = members.plane(member);
    return kubeconfigText({ server, caCertificate, token });
  };

  const start = () =>
    launch({
      flags: [
        ...['--sources', 'objects', '--namespace', 'homeostat-test', '--leader-elect'],
        ...['--lease-duration', '20s', '--renew-deadline', '16s', '--retry-period', '1s'],
        ...['--runtime', 'hub-of-faults', '--cluster-secrets', 'default'],
      ],
    });

  before(async () => {
    const found = await startFaultProxy(members.plane('west'));
    proxy = found.proxy;
    proxied = readFileSync(found.kubeconfig, 'utf8');
    const metadata = { name: 'homeostat-test' };
    await shared.client().apply({ apiVersion: 'v1', kind: 'Namespace', metadata });
    leader = start();
    await shared.client().untilList(definitions, () => true);
    for (const each of [text, local])
      await shared.client().apply(parseYaml(each) as unknown as KubeObject);
    await shared.client().untilList(members.collection, () => true);
    await members.register('east', labelled);
    await members.register('west', { ...labelled, kubeconfig: proxied });
    for (const name of ['east', 'west']) await members.untilReason(name, 'Running', 'Ready');
    await shared.client().untilList('/apis/agents.example.com/v1/things', () => true);
    await apply('1');
    await untilReady();
    for (const name of ['east', 'west']) {
      await members.client(name).untilList('/apis/local.example.com/v1/things', () => true);
      await members.client(name).apply(thing('local', 'default', { level: '1' }));
      await untilLevel(name, '1', 'local');
    }
  });
  after(() => proxy?.stop());

  test('a member that accepts connections and never answers is unreachable, and delays no other one', async () => {
    const fault = proxy.inject({
      name: 'frozen',
      on: 'request',
      action: { kind: 'hold', what: 'request' },
    });
    const silence = proxy.inject({ name: 'silent', on: 'event', action: { kind: 'silence' } });
    await members.client('west').patch(mapPath('one'), { data: { level: 'drifted' } });
    await members.client('west').patch(mapPath('local'), { data: { level: 'drifted' } });
    await apply('2');
    await untilLevel('east', '2');
    await members.client('east').apply(thing('local', 'default', { level: '2' }));
    await untilLevel('east', '2', 'local');
    await members.untilReason('west', 'Unreachable');
    await untilWaiting('west');
    fault.remove();
    silence.remove();
    await members.untilReason('west', 'Connected');
    await untilLevel('west', '2');
    await untilReady();
  });

  test('a slow member is served, and delays no other one', async () => {
    const fault = proxy.inject({
      name: 'slow',
      on: 'request',
      action: { kind: 'delay', requestMs: 1_000, answerMs: 500 },
    });
    await apply('3');
    await untilLevel('east', '3');
    await untilLevel('west', '3');
    await untilReady();
    assert.ok(fault.count > 0);
    fault.remove();
  });

  test('an answer that is no Kubernetes object does not disturb the hub, and is not quoted', async () => {
    const fault = proxy.inject({
      name: 'confused',
      on: 'request',
      action: { kind: 'answer', status: 302 },
    });
    await apply('4');
    await untilLevel('east', '4');
    fault.remove();
    await untilLevel('west', '4');
    await untilReady();
  });

  test('rotated credentials are used from then on, and nothing is deleted', async () => {
    const marks = members.audit('west').mark();
    for (const account of ['first', 'second']) {
      const kubeconfig = kubeconfigWith('west', await serviceAccountToken('west', account));
      await members.register('west', { ...labelled, kubeconfig });
      const user = `system:serviceaccount:default:${account}`;
      const seen = (verbs: readonly string[]) =>
        members
          .audit('west')
          .untilSeen((entries) => entries.some(({ verb }) => verbs.includes(verb)), {
            user,
            since: marks,
          });
      // Until then the credentials before may still write.
      await seen(['list', 'watch']);
      await apply(account);
      await untilLevel('west', account);
      await seen(['patch']);
    }
    assert.deepEqual(deletesIn('west', marks), []);
  });

  test('a revoked token disconnects the member until its Secret changes', async () => {
    await members.client('west').delete('/api/v1/namespaces/default/serviceaccounts/second');
    // An API server accepts a token for some seconds more.
    let found: KubeObject | undefined;
    const rejected = members.untilReason('west', 'Unauthorized').then((object) => {
      found = object;
    });
    for (let turn = 0; found === undefined; turn++) {
      await apply(`turn ${turn}`);
      await untilLevel('east', `turn ${turn}`);
    }
    await rejected;
    await apply('5');
    assert.match(JSON.stringify(statusOf(found)), /does not accept the credentials/);
    await untilLevel('east', '5');
    await untilWaiting('west');
    const user = 'system:serviceaccount:default:second';
    const mark = members.audit('west').mark();
    await members.audit('west').quiet(5_000, { user });
    assert.deepEqual(members.audit('west').entries({ user, since: mark }), []);
    await members.register('west', { ...labelled, kubeconfig: proxied });
    await members.untilReason('west', 'Connected');
    await untilLevel('west', '5');
    await untilReady();
  });

  test('a Secret that is deleted, or leads to another cluster, deletes and creates nothing', async () => {
    const since = { west: members.audit('west').mark(), other: members.audit('other').mark() };
    await shared.client().delete('/api/v1/namespaces/default/secrets/west');
    await members.untilReason('west', 'SecretMissing');
    await untilWaiting('west');
    const kubeconfig = members.plane('other').kubeconfig('operator');
    await members.register('west', { ...labelled, kubeconfig });
    await members.untilReason('west', 'Replaced');
    await untilWaiting('west');
    await members.register('west', { ...labelled, kubeconfig: proxied });
    await members.untilReason('west', 'Connected');
    await untilReady();
    assert.deepEqual(deletesIn('west', since.west), []);
    assert.deepEqual(members.audit('other').writes({ since: since.other }), []);
  });

  test('the next leader continues, and writes nothing when nothing has changed', async () => {
    await shared.audit.quiet(12_000, { ofDefinitions: true });
    const follower = start();
    await follower.whenLogged('Follower, another process is the leader');
    const since = new Map(['east', 'west'].map((name) => [name, members.audit(name).mark()]));
    const mark = shared.audit.mark();
    await leader.stop();
    await follower.whenLogged('Became leader');
    await members
      .audit('west')
      .untilSeen(
        (entries) =>
          ['things', 'configmaps'].every((each) =>
            entries.some(({ resource, verb }) => resource === each && verb === 'watch'),
          ),
        { since: since.get('west') ?? 0 },
      );
    await shared.audit.quiet(12_000, { ofDefinitions: true });
    for (const [name, from] of since)
      assert.deepEqual(members.audit(name).writes({ since: from }), []);
    // The Lease of the leader, and the Event of its change, are those of the processes. At its end a leader writes how often its last Events occurred.
    assert.deepEqual(
      shared.audit
        .writes({ since: mark })
        .filter(({ resource, namespace, verb }) =>
          resource === 'events'
            ? namespace !== 'homeostat-test' && verb !== 'patch'
            : resource !== 'leases' || namespace !== 'homeostat-test',
        ),
      [],
    );
    const next = start();
    await next.whenLogged('Follower, another process is the leader');
    await apply('5 and killed');
    await follower.stop('SIGKILL');
    await next.whenLogged('Became leader');
    for (const name of ['east', 'west']) await untilLevel(name, '5 and killed');
    await untilReady();
  });

  test('another cluster on purpose: its UID in the spec gives the old objects up and places new ones', async () => {
    const system = await members.client('other').get('/api/v1/namespaces/kube-system');
    const mark = members.audit('west').mark();
    const kubeconfig = members.plane('other').kubeconfig('operator');
    await members.register('west', {
      ...labelled,
      kubeconfig,
      spec: { uid: system?.metadata.uid },
    });
    await untilLevel('other', '5 and killed');
    await untilReady();
    const resource = await shared.client().get(thingPath('agents', 'default'));
    const places = resource?.metadata.annotations?.['clusters.homeostat.dev/agents'] ?? '';
    assert.ok(places.includes(`west=${system?.metadata.uid?.slice(0, 8)}`), places);
    assert.deepEqual(deletesIn('west', mark), []);
    assert.ok(await members.client('west').get(mapPath('one')));
  });
});
