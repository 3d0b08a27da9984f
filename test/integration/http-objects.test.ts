import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createDefaultLeafParser } from '#compile';
import { HttpObjectsController, SimulatedApi } from '#http-objects';
import type { HttpTransport } from '#kube/roles.ts';
import type { JsonObject } from '#util/json.ts';
import { conditionsOf, type KubeObject } from '#util/kube-object.ts';
import { clockOf, useControlPlane } from '../support/control-plane/index.ts';
import { httpCrds } from '../support/http-objects/test-crds.ts';
import {
  apiUrl,
  endpointObject,
  httpObject,
  queueSpec,
} from '../support/http-objects/test-objects.ts';
import { useKubeCluster } from '../support/kube-cluster.ts';
import { freshMetrics, silentLogger } from '../support/silent-telemetry.ts';

const shared = useControlPlane({ controllerManager: false });

shared.describe('integration/http-objects', () => {
  const kube = useKubeCluster(shared);
  const stop = new AbortController();
  /** Requests to an endpoint that never answers. */
  const hanging = Promise.withResolvers<never>();
  let api: SimulatedApi;
  let running: Promise<void>;

  before(async () => {
    for (const crd of httpCrds) await shared.client().installCrd(crd);
    const clock = clockOf(shared.plane);
    api = new SimulatedApi({
      spec: { url: apiUrl, collections: [{ path: '/queues', key: 'name', idBy: 'client' }] },
      clock,
    });
    const transport: HttpTransport = {
      send: (request, signal) =>
        request.url.startsWith('http://dead.') ? hanging.promise : api.send(request, signal),
    };
    const controller = new HttpObjectsController({
      ...{ cluster: kube.cluster, clock, transport },
      logger: silentLogger(),
      parser: createDefaultLeafParser(),
      random: { fraction: () => 0.5, text: () => '' },
      metrics: freshMetrics(),
      tokenRequests: { create: async () => ({ token: 'jwt', audiences: [] }) },
      runtimeNamespace: 'homeostat-system',
    });
    running = controller.run(stop.signal);
  });

  after(async () => {
    stop.abort();
    hanging.promise.catch(() => {});
    hanging.reject(new Error('The test has ended'));
    await running;
  });

  /** A namespace whose Secrets are read, with an endpoint. */
  async function namespaceWithEndpoint(spec: JsonObject = {}, isAllowed = true): Promise<string> {
    const namespace = await shared.namespace();
    if (isAllowed)
      await shared.client().patch(`/api/v1/namespaces/${namespace}`, {
        metadata: { labels: { 'homeostat.dev/http': 'true' } },
      });
    await shared.client().apply(endpointObject(spec, { namespace }));
    return namespace;
  }

  const path = (namespace: string, name: string, plural = 'httpobjects') =>
    `/apis/homeostat.dev/v1alpha1/namespaces/${namespace}/${plural}/${name}`;

  function untilReason(namespace: string, name: string, reason: string) {
    return shared
      .client()
      .untilObject(path(namespace, name), (object) =>
        conditionsOf(object).some((each) => each.type === 'Synced' && each.reason === reason),
      );
  }

  const queue = (name: string, desired: JsonObject = { limit: 1 }): JsonObject => ({
    ...queueSpec,
    ...{ params: { name }, desired, every: '0' },
  });

  test('an object is created, changed, and deleted before its endpoint', async () => {
    const namespace = await namespaceWithEndpoint();
    const client = shared.client();
    await client.apply(httpObject(queue('orders'), { namespace }));
    await untilReason(namespace, 'www', 'AsDesired');
    const { objects } = api.collection('/queues');
    assert.deepEqual(objects.get('orders'), { limit: 1, name: 'orders' });

    await client.apply(httpObject(queue('orders', { limit: 2 }), { namespace }));
    await client.untilObject(path(namespace, 'www'), (object) => {
      const status = object?.status as JsonObject | undefined;
      return status?.observedGeneration === 2;
    });
    assert.deepEqual(objects.get('orders'), { limit: 2, name: 'orders' });

    await client.delete(path(namespace, 'api', 'httpendpoints'));
    const endpoint = await client.get(path(namespace, 'api', 'httpendpoints'));
    assert.deepEqual(endpoint?.metadata.finalizers, ['homeostat.dev/http-endpoint']);
    await client.delete(path(namespace, 'www'));
    await client.untilGone(path(namespace, 'www'));
    assert.equal(objects.get('orders'), undefined);
    await client.untilGone(path(namespace, 'api', 'httpendpoints'));
  });

  test('an endpoint that is deleted is gone when its last object has moved to another one', async () => {
    const namespace = await namespaceWithEndpoint();
    const client = shared.client();
    await client.apply(endpointObject({}, { namespace, name: 'next' }));
    await client.apply(httpObject(queue('moving'), { namespace }));
    await untilReason(namespace, 'www', 'AsDesired');
    await client.delete(path(namespace, 'api', 'httpendpoints'));
    await untilReason(namespace, 'www', 'EndpointTerminating');
    await client.apply(
      httpObject({ ...queue('moving'), endpoint: { name: 'next' } }, { namespace }),
    );
    await client.untilGone(path(namespace, 'api', 'httpendpoints'));
  });

  test('a Secret that changes is sent, and one of a namespace without the label is not read', async () => {
    const inputs = { password: { secretKeyRef: { name: 'db', key: 'password' } } };
    const secret = (namespace: string, password: string): KubeObject => ({
      ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'db', namespace } },
      stringData: { password },
    });
    const client = shared.client();
    const closed = await namespaceWithEndpoint({}, false);
    const spec = { ...queue('with-secret'), inputs, secretFields: { password: 'password' } };
    await client.apply(secret(closed, 'hunter2'));
    await client.apply(httpObject(spec, { namespace: closed }));
    await untilReason(closed, 'www', 'NamespaceNotAllowed');

    const namespace = await namespaceWithEndpoint();
    await client.apply(httpObject(spec, { namespace }));
    await untilReason(namespace, 'www', 'ValueMissing');
    await client.apply(secret(namespace, 'hunter2'));
    await untilReason(namespace, 'www', 'AsDesired');
    const { objects } = api.collection('/queues');
    assert.equal(objects.get('with-secret')?.password, 'hunter2');
    await client.apply(secret(namespace, 'hunter3'));
    const isSent = () => objects.get('with-secret')?.password === 'hunter3';
    while (!isSent()) await client.sleep(100);
    const live = await client.get(path(namespace, 'www'));
    assert.doesNotMatch(JSON.stringify(live), /hunter/);
  });

  test('the later of two objects for one is a conflict, until the first one is deleted', async () => {
    const namespace = await namespaceWithEndpoint();
    const client = shared.client();
    await client.apply(httpObject(queue('shared'), { namespace, name: 'one' }));
    await untilReason(namespace, 'one', 'AsDesired');
    await client.apply(httpObject(queue('shared', { limit: 5 }), { namespace, name: 'two' }));
    await untilReason(namespace, 'two', 'Conflict');
    await client.delete(path(namespace, 'one'));
    await untilReason(namespace, 'two', 'AsDesired');
    assert.deepEqual(api.collection('/queues').objects.get('shared'), { limit: 5, name: 'shared' });
  });

  test('a dead endpoint delays no other', async () => {
    const dead = await namespaceWithEndpoint({
      url: 'http://dead.shop.svc',
      limits: { concurrent: 20 },
    });
    const client = shared.client();
    const names = Array.from({ length: 30 }, (_, index) => `dead-${index}`);
    await Promise.all(
      names.map((name) => client.apply(httpObject(queue(name), { namespace: dead, name }))),
    );
    const namespace = await namespaceWithEndpoint();
    await client.apply(httpObject(queue('alive'), { namespace }));
    await untilReason(namespace, 'www', 'AsDesired');
  });

  test('an API server rejects what the schema does not permit', async () => {
    const namespace = await namespaceWithEndpoint();
    const answer = await shared.client().request({
      method: 'POST',
      path: path(namespace, '').replace(/\/$/, ''),
      body: httpObject({ ...queue('x'), adopt: 'Always' }, { namespace }),
    });
    assert.equal(answer.status, 422);
  });
});
