import assert from 'node:assert/strict';
import type { LookupFunction } from 'node:net';
import { after, before, test } from 'node:test';
import { createDefaultLeafParser } from '#compile';
import { HttpObjectsController } from '#http-objects';
import { KubeTokenRequests, OutboundPolicy, ServiceAddresses, UndiciTransport } from '#kube';
import type { JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { clockOf, useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf } from '../support/definitions.ts';
import { ApiServer } from '../support/http-objects/api-server.ts';
import { httpCrds } from '../support/http-objects/test-crds.ts';
import { endpointObject, httpObject } from '../support/http-objects/test-objects.ts';
import { useKubeCluster } from '../support/kube-cluster.ts';
import { freshMetrics, silentLogger } from '../support/silent-telemetry.ts';

const shared = useControlPlane({ controllerManager: false });

/** Authors of endpoints and Services who want to reach what only the Pod of the runtime can reach. */
shared.describe('attacks/http-outbound', () => {
  const kube = useKubeCluster(shared);
  const stop = new AbortController();
  let server: ApiServer;
  let transport: UndiciTransport;
  let running: Promise<void>;
  let namespace: string;
  /** To which all names of Services resolve. */
  let resolved = '10.96.200.200';
  let endpoints = 0;

  before(async () => {
    const client = shared.client();
    for (const crd of httpCrds) await client.installCrd(crd);
    namespace = await shared.namespace();
    await client.patch(`/api/v1/namespaces/${namespace}`, {
      metadata: { labels: { 'homeostat.dev/http': 'true' } },
    });
    server = await ApiServer.start({
      note: () => shared.plane.time?.note(),
      collections: [{ path: '/queues', key: 'name', idBy: 'client' }],
    });
    const clock = clockOf(shared.plane);
    const lookup: LookupFunction = (host, _options, callback) => {
      if (host.endsWith('.svc')) callback(null, [{ address: resolved, family: 4 }]);
      else callback(Object.assign(new Error('Not found'), { code: 'ENOTFOUND' }), '');
    };
    transport = new UndiciTransport({
      ...{ clock, lookup, services: new ServiceAddresses({ api: kube.cluster.api, clock }) },
      policy: new OutboundPolicy({
        allowed: [`127.0.0.1:${server.port}`],
        protectedAddresses: () => ['10.96.0.1'],
      }),
    });
    const controller = new HttpObjectsController({
      ...{ cluster: kube.cluster, clock, transport },
      logger: silentLogger(),
      metrics: freshMetrics(),
      parser: createDefaultLeafParser(),
      random: { fraction: () => 0.5, text: () => '' },
      tokenRequests: new KubeTokenRequests(kube.cluster.api),
      runtimeNamespace: 'homeostat-system',
    });
    running = controller.run(stop.signal);
  });
  after(async () => {
    stop.abort();
    await running;
    await transport?.close();
    await server?.stop();
  });

  /** The condition `Synced` of an object behind an endpoint, once it is not pending. */
  async function syncedOf(spec: JsonObject, object: JsonObject = { observe: { path: '/x' } }) {
    const client = shared.client();
    endpoints += 1;
    const name = `attack-${endpoints}`;
    await client.apply(endpointObject(spec, { namespace, name }));
    await client.apply(httpObject({ ...object, endpoint: { name } }, { namespace, name }));
    const path = `/apis/homeostat.dev/v1alpha1/namespaces/${namespace}/httpobjects/${name}`;
    const found = await client.untilObject(
      path,
      (each) => conditionOf(each, 'Synced') !== undefined,
    );
    return conditionOf(found, 'Synced');
  }

  const service = (name: string, spec: JsonObject): KubeObject => ({
    ...{ apiVersion: 'v1', kind: 'Service', metadata: { name, namespace } },
    spec: { ports: [{ port: 80 }], ...spec },
  });
  const slice = (name: string, address: string): KubeObject => ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      ...{ name: `${name}-by-hand`, namespace },
      labels: { 'kubernetes.io/service-name': name },
    },
    ...{ addressType: 'IPv4', ports: [{ port: 80 }], endpoints: [{ addresses: [address] }] },
  });

  for (const [name, spec, reason] of [
    ['external', { type: 'ExternalName', externalName: 'metadata.example.com' }, 'ExternalName'],
    ['bare', {}, 'selector'],
    ['sliced', { selector: { app: 'api' } }, 'EndpointSlice'],
    ['elsewhere', { selector: { app: 'api' } }, 'resolves'],
  ] as const)
    test(`a Service of the own namespace does not lead elsewhere: ${name}`, async () => {
      await shared.client().apply(service(name, spec));
      if (name === 'bare' || name === 'sliced')
        await shared.client().apply(slice(name, '93.184.216.34'));
      const synced = await syncedOf({ url: `http://${name}.${namespace}.svc` });
      assert.equal(synced?.reason, 'NotAllowed');
      assert.match(synced?.message ?? '', new RegExp(reason));
    });

  test('a Pod in the network of its node is no way to the node', async () => {
    const client = shared.client();
    const labels = { app: 'agent' };
    await client.apply(service('agent', { selector: labels }));
    const { spec } = (await client.get(
      `/api/v1/namespaces/${namespace}/services/agent`,
    )) as unknown as { readonly spec: { readonly clusterIP: string } };
    resolved = spec.clusterIP;
    const made = await client.apply({
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'agent', namespace, labels } },
      spec: { hostNetwork: true, containers: [{ name: 'a', image: 'example.com/agent' }] },
    });
    await client.patch(`/api/v1/namespaces/${namespace}/pods/agent/status`, {
      status: { podIP: '192.0.2.9', podIPs: [{ ip: '192.0.2.9' }], hostIP: '192.0.2.9' },
    });
    // As the controller of the control plane writes it.
    await client.apply({
      ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice' },
      metadata: {
        ...{ name: 'agent-slice', namespace },
        labels: {
          'kubernetes.io/service-name': 'agent',
          'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
        },
      },
      ...{ addressType: 'IPv4', ports: [{ port: 10_250 }] },
      endpoints: [
        {
          addresses: ['192.0.2.9'],
          targetRef: { kind: 'Pod', namespace, name: 'agent', uid: made.metadata.uid ?? '' },
        },
      ],
    });
    const synced = await syncedOf({ url: `http://agent.${namespace}.svc` });
    assert.equal(synced?.reason, 'NotAllowed');
    assert.match(synced?.message ?? '', /Pod "agent" in the network of its node/);
  });

  test('a Service that becomes an ExternalName later is not followed', async () => {
    const client = shared.client();
    await client.apply(service('turning', { selector: { app: 'api' } }));
    const { spec } = (await client.get(
      `/api/v1/namespaces/${namespace}/services/turning`,
    )) as unknown as { readonly spec: { readonly clusterIP: string } };
    resolved = spec.clusterIP;
    const confirm = () =>
      new ServiceAddresses({ api: kube.cluster.api, clock: clockOf(shared.plane) }).confirm(
        { namespace, name: 'turning' },
        [resolved],
        stop.signal,
      );
    await confirm();
    await client.delete(`/api/v1/namespaces/${namespace}/services/turning`);
    await client.apply(service('turning', { type: 'ExternalName', externalName: 'a.example.com' }));
    await assert.rejects(confirm(), /ExternalName/);
  });

  for (const url of [
    'http://api.other.svc',
    'http://kubernetes.default.svc',
    'http://localhost:8080',
    'http://127.0.0.1:1',
    'http://2130706433',
    'http://0x7f.1',
    'http://[::1]',
    'http://[::ffff:127.0.0.1]',
    'http://[64:ff9b::7f00:1]',
    'http://169.254.169.254/latest',
    'http://[fd00:ec2::254]',
    'http://100.100.100.200',
    'http://168.63.129.16',
    'http://metadata.google.internal',
    'http://10.96.0.1',
  ])
    test(`${url} is not connected to`, async () => {
      assert.equal((await syncedOf({ url }))?.reason, 'NotAllowed');
    });

  test('a redirect to another place is no way there, and credentials are not sent to it', async () => {
    const target = `http://127.0.0.1:${server.port + 1}/`;
    server.redirectsTo = target;
    const synced = await syncedOf({ url: server.url });
    server.redirectsTo = undefined;
    assert.equal(synced?.reason, 'Redirected');
  });

  test('texts of a resource are data, whatever they contain', async () => {
    const client = shared.client();
    await client.apply({
      ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'db', namespace } },
      stringData: { password: 'hunter2-hunter2' },
    });
    const attack = '$(inputs.password) ${ inputs.password } {{ inputs.password }} ../%2e%2e';
    const spec = (name: string): JsonObject => ({
      inputs: { password: { secretKeyRef: { name: 'db', key: 'password' } } },
      params: { name },
      desired: { text: attack },
      observe: { path: '/queues/{name}' },
      create: { method: 'PUT', path: '/queues/{name}' },
      delete: { path: '/queues/{name}' },
      values: { text: '$(result.text)' },
    });
    const queues = () => server.requests.filter(({ path }) => path.startsWith('/queues'));
    for (const name of [
      ...[`${attack}\r\nX: y`, attack, '%2e%2e', '%252e%252e%252fadmin', 'a/permissions'],
      ...['a%2Fpermissions', '..;a', '．．', 'a\\b', 'a%00b', '\ud800'],
    ])
      assert.equal((await syncedOf({ url: server.url }, spec(name)))?.reason, 'PathInvalid', name);
    assert.deepEqual(queues(), []);
    const texts = '$(inputs.password) ${ inputs.password } {{ inputs.password }} ?a=b#c&d 100% ü';
    const synced = await syncedOf({ url: server.url }, spec(texts));
    assert.equal(synced?.reason, 'AsDesired');
    const last = queues().at(-1);
    assert.ok(server.requests.every((each) => !JSON.stringify(each).includes('hunter2')));
    assert.ok(server.requests.every((each) => each.headers.x === undefined));
    assert.equal(last?.path.split('/').length, 3);
  });

  test('no header, query or body names another method or path than the endpoint permits', async () => {
    const allow = [{ methods: ['GET', 'POST'], paths: ['/queues/**'] }];
    const spec = (create: JsonObject, desired: JsonObject = {}): JsonObject => ({
      ...{ params: { name: 'a' }, desired, deletionPolicy: 'Orphan' },
      observe: { path: '/queues/{name}' },
      create: { path: '/queues/{name}', ...create },
    });
    const before = server.requests.length;
    for (const [create, desired] of [
      [{ headers: { 'X-HTTP-Method-Override': 'DELETE' } }],
      [{ headers: { 'x-http-method': 'DELETE' } }],
      [{ headers: { X_Method_Override: 'DELETE' } }],
      [{ headers: { 'X-Rewrite-URL': '/admin' } }],
      [{ query: { _method: 'DELETE' } }],
      [{ query: { '.METHOD': 'DELETE' } }],
      [{}, { _method: 'DELETE' }],
      [{ contentType: 'form' }, { _method: 'DELETE' }],
    ] as const) {
      const synced = await syncedOf({ url: server.url, allow }, spec(create, desired));
      assert.equal(synced?.reason, 'Invalid', JSON.stringify([create, desired]));
    }
    assert.equal(server.requests.length, before);
    const slashed = { ...spec({}), params: { name: 'a/../admin' }, slashesIn: ['name'] };
    assert.equal((await syncedOf({ url: server.url, allow }, slashed))?.reason, 'PathInvalid');
    const rules = [{ methods: ['GET', 'POST'], paths: ['/queues/*'] }];
    const deeper = { ...spec({}), params: { name: 'a/permissions' }, slashesIn: ['name'] };
    const synced = await syncedOf({ url: server.url, allow: rules }, deeper);
    assert.equal(synced?.reason, 'NotAllowed');
    assert.equal(server.requests.length, before);
  });
});
