import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { parseYaml } from '#definition';
import type { KubeObject } from '#util/kube-object.ts';
import { type AuditEntry, clockOf, useControlPlane } from '../support/control-plane/index.ts';
import { kubeconfigText } from '../support/control-plane/kubeconfig.ts';
import { conditionOf, thing, thingDefinition, thingPath } from '../support/definitions.ts';
import {
  authorityCertificate,
  type FaultProxy,
  type ProxiedRequest,
  serverCertificate,
  startFaultProxy,
} from '../support/fault-proxy/index.ts';
import { useRuntimes } from '../support/homeostat.ts';
import { useMembers } from '../support/members.ts';

const shared = useControlPlane({ audit: true });
const launch = useRuntimes(shared);
const definitions = '/apis/homeostat.dev/v1alpha1/operatordefinitions';
const { signal } = new AbortController();

/** A ConfigMap for each resource, by more workers than a member gets connections. */
const maps = (name: string, controller = '') =>
  thingDefinition(
    name,
    `  children: [{ id: a, template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }" }, data: { level: "\${ spec.level }" } } }]
  controller: { concurrency: 40${controller} }
`,
  );
/** Requests in flight to one member, as docs/clusters.md says. */
const mostInFlight = 8;
const many = Array.from({ length: 40 }, (_, index) => `thing-${index}`);

const untrusted =
  /^The certificate of the API server cannot be verified \([A-Z_]+\); correct "certificate-authority-data" in the kubeconfig$/;

/** What is listed or watched, whatever the version. */
function collectionOf({ verb, uri }: AuditEntry): string {
  const { pathname, searchParams } = new URL(uri, 'http://server');
  const selector = searchParams.get('fieldSelector');
  return `${verb} ${pathname}${selector === null ? '' : ` ${selector}`}`;
}

shared.describe('integration/member-connections', () => {
  const members = useMembers(shared, ['east', 'west']);
  let proxy: FaultProxy;
  let proxied: string;
  const labelled = { labels: { many: 'true' } };

  /** The cells of `kubectl get clusters.homeostat.dev NAME`, by column. */
  async function rowOf(name: string): Promise<Readonly<Record<string, unknown>>> {
    const { columnDefinitions, rows } = await shared.client().must<{
      readonly columnDefinitions: readonly { readonly name: string }[];
      readonly rows: readonly [{ readonly cells: readonly unknown[] }];
    }>({
      method: 'GET',
      path: `${members.collection}/${name}`,
      accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
    });
    const [{ cells }] = rows;
    return Object.fromEntries(columnDefinitions.map(({ name: title }, at) => [title, cells[at]]));
  }

  /** Waits until the member is not connected for this reason, with this message, and `kubectl get` shows it. */
  async function untilFailed(name: string, reason: string, message: RegExp): Promise<void> {
    const found = await members.untilReason(name, reason);
    const connected = conditionOf(found, 'Connected');
    assert.equal(connected?.status, 'False');
    assert.match(connected?.message ?? '', message);
    await shared
      .client()
      .untilObject(`${members.collection}/${name}`, (object) =>
        (conditionOf(object)?.message ?? '').startsWith(`${reason}: `),
      );
    const { Connected, Ready, Reason } = await rowOf(name);
    assert.deepEqual(
      { Connected, Ready, Reason },
      {
        Connected: 'False',
        Ready: 'False',
        Reason: 'NotConnected',
      },
    );
  }

  async function untilConnected(name: string): Promise<void> {
    await members.untilReason(name, 'Connected');
    await members.untilReason(name, 'Running', 'Ready');
    assert.equal((await rowOf(name)).Connected, 'True');
  }

  before(async () => {
    const plane = members.plane('west');
    const found = await startFaultProxy({
      server: members.serverOf('west'),
      caCertificate: plane.caCertificate,
      folder: plane.folder,
      token: (user) => plane.token(user),
    });
    proxy = found.proxy;
    proxied = readFileSync(found.kubeconfig, 'utf8');
    launch({
      flags: [
        ...['--sources', 'objects', '--namespace', 'homeostat-test'],
        ...['--runtime', 'hub-of-connections', '--cluster-secrets', 'default'],
      ],
    });
    await shared.client().untilList(definitions, () => true);
    for (const text of [
      maps('many', ', clusters: { selector: { matchLabels: { many: "true" } } }'),
      maps('here'),
    ])
      await shared.client().apply(parseYaml(text) as unknown as KubeObject);
    await shared.client().untilList(members.collection, () => true);
    await shared.client().untilList('/apis/here.example.com/v1/things', () => true);
  });
  after(() => proxy?.stop());

  test('a kubeconfig with the certificate of another authority is Untrusted, until it has the right one', async () => {
    const kubeconfig = kubeconfigText({
      server: proxy.url,
      caCertificate: authorityCertificate('second'),
      token: members.plane('west').token('operator'),
    });
    await members.register('west', { kubeconfig });
    await untilFailed('west', 'Untrusted', untrusted);
    assert.equal(proxy.requestCount, 0, 'no request, and no token, is sent to it');
    await members.register('west', { kubeconfig: proxied });
    await untilConnected('west');
  });

  test('a server that shows the certificate of another authority is Untrusted, until it shows its own again', async () => {
    proxy.presentCertificate(serverCertificate('second'));
    const before = proxy.requestCount;
    proxy.cutAll();
    await untilFailed('west', 'Untrusted', untrusted);
    assert.equal(proxy.requestCount, before);
    proxy.presentCertificate(serverCertificate('first'));
    await untilConnected('west');
  });

  test('a Secret in a namespace that the runtime does not allow is Forbidden, until the Cluster names another', async () => {
    const elsewhere = { kubeconfig: { secretRef: { namespace: 'kube-public', name: 'west' } } };
    await members.register('west', { kubeconfig: proxied, spec: elsewhere });
    await untilFailed(
      'west',
      'Forbidden',
      /Secrets of namespace "kube-public" are not allowed; the runtime allows "default" \(--cluster-secrets\)/,
    );
    await members.register('west', { kubeconfig: proxied });
    await untilConnected('west');
  });

  test('a right that is missing in the member is Forbidden, with the rule, until it is granted', async () => {
    const kubeconfig = members.plane('east').kubeconfig('limited');
    await members.register('east', { kubeconfig });
    await untilFailed(
      'east',
      'Forbidden',
      /^The runtime is not allowed to get namespaces .*; grant the rule \{ apiGroups: \[""\], resources: \["namespaces"\], verbs: \["get"\] \}$/,
    );
    const apiVersion = 'rbac.authorization.k8s.io/v1';
    const apiGroup = 'rbac.authorization.k8s.io';
    const metadata = { name: 'limited' };
    const client = members.client('east');
    const grant = (...verbs: readonly string[]) =>
      client.apply({
        apiVersion,
        kind: 'ClusterRole',
        metadata,
        rules: [{ apiGroups: [''], resources: ['namespaces'], verbs }],
      });
    await grant('get');
    await client.apply({
      apiVersion,
      kind: 'ClusterRoleBinding',
      metadata,
      roleRef: { apiGroup, kind: 'ClusterRole', name: 'limited' },
      subjects: [{ apiGroup, kind: 'User', name: 'limited' }],
    });
    for (const [verb, next] of [
      ['list', ['get', 'list']],
      ['watch', ['get', 'list', 'watch']],
    ] as const) {
      const isNamed = (object: KubeObject | undefined) =>
        conditionOf(object)?.reason === 'Forbidden' &&
        conditionOf(object)?.message ===
          `The runtime is not allowed to ${verb} namespaces at the cluster scope; grant the rule { apiGroups: [""], resources: ["namespaces"], resourceNames: ["kube-system"], verbs: ["list", "watch"] }`;
      await shared.client().untilObject(`${members.collection}/east`, isNamed);
      assert.equal((await rowOf('east')).Connected, 'True');
      await grant(...next);
    }
    await untilConnected('east');
    await shared.client().delete(`${members.collection}/east`);
  });

  test('a member gets at most 8 requests at a time, also when more resources change at once, and the hub is not held up', async () => {
    await members.register('west', { ...labelled, kubeconfig: proxied });
    await members.client('west').untilList('/apis/many.example.com/v1/things', () => true);
    await untilConnected('west');
    const clock = clockOf(shared.plane);
    // The question for the UID has a connection of its own.
    const isCounted = ({ verb, name }: ProxiedRequest) =>
      verb !== 'watch' && name !== 'kube-system';
    const inFlight = () => proxy.openRequests.filter(isCounted).length;
    let most = 0;
    let isHeld = true;
    const fault = proxy.inject({
      name: 'held',
      on: 'request',
      when: isCounted,
      action: {
        kind: 'call',
        async run() {
          most = Math.max(most, inFlight());
          while (isHeld) await clock.sleep(100, signal);
          return 'forward';
        },
      },
    });
    for (const name of many)
      await members.client('west').apply(thing('many', 'default', { level: '1' }, name));
    await proxy.untilOpen(() => inFlight() >= mostInFlight);
    for (const name of many)
      await shared.client().apply(thing('here', 'default', { level: '1' }, name));
    const isReady = (object: KubeObject | undefined) => conditionOf(object)?.status === 'True';
    for (const name of many)
      await shared.client().untilObject(thingPath('here', 'default', name), isReady);
    assert.ok(inFlight() >= mostInFlight, 'nothing has been let through meanwhile');
    isHeld = false;
    for (const name of many)
      await members.client('west').untilObject(thingPath('many', 'default', name), isReady);
    fault.remove();
    assert.equal(most, mostInFlight);
    await shared.client().delete(`${members.collection}/west`);
    await shared.client().untilGone(`${members.collection}/west`);
  });

  test('a member without a definition costs two watches, and no request when idle', async () => {
    const hub = shared.audit;
    const east = members.audit('east');
    await hub.quiet(12_000, { ofDefinitions: true });
    const known = new Set(hub.entries({ everything: true }).map(collectionOf));
    const since = { hub: hub.mark(), east: east.mark() };
    // By a name of its own: watches on Secrets of earlier tests may linger.
    await members.register('idle', { kubeconfig: members.plane('east').kubeconfig('operator') });
    await untilConnected('idle');
    await hub.quiet(12_000, { ofDefinitions: true });
    const watchesOf = (entries: readonly AuditEntry[]) =>
      [...new Set(entries.filter(({ verb }) => verb === 'watch').map(collectionOf))].filter(
        (watch) => !known.has(watch),
      );
    assert.deepEqual(watchesOf(hub.entries({ everything: true, since: since.hub })), [
      'watch /api/v1/namespaces/default/secrets metadata.name=idle',
    ]);
    assert.deepEqual(watchesOf(east.entries({ everything: true, since: since.east })), [
      'watch /api/v1/namespaces metadata.name=kube-system',
    ]);

    const rest = { hub: hub.mark(), east: east.mark() };
    // A simulated clock passes the time after which a watch without data counts as dead.
    await clockOf(shared.plane).sleep(shared.plane.time === undefined ? 30_000 : 300_000, signal);
    const requests = [
      hub.entries({ everything: true, since: rest.hub }),
      east.entries({ everything: true, since: rest.east }),
    ].map((entries) => entries.filter(({ verb }) => verb !== 'watch').map(collectionOf));
    const [ofHub, ofEast = []] = requests;
    assert.deepEqual(ofHub, []);
    // Every ten minutes, each member is identified anew: this one, and the one of earlier tests, in the same cluster.
    const identified = ofEast.filter((each) => each === 'get /api/v1/namespaces/kube-system');
    assert.deepEqual(ofEast, identified);
    assert.ok(identified.length <= 2, `${identified.length} requests in less than ten minutes`);
  });
});
