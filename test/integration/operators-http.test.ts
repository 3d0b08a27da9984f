import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, shippedText, statusOf } from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';
import { ApiServer } from '../support/http-objects/api-server.ts';
import { endpointObject } from '../support/http-objects/test-objects.ts';

const shared = useControlPlane();
const launch = useRuntimes(shared);
const names = ['air-conditioner', 'grafana-dashboard', 'rabbitmq-topology'];
const dashboards = {
  path: '/dashboards/uid',
  key: 'uid',
  idBy: 'client',
  envelope: 'dashboard',
} as const;
const upsert = { path: '/dashboards/db', field: 'dashboard' };
const group = '/apis/homeostat.dev/v1alpha1';

/** The shipped definitions of objects behind HTTP, with servers of their APIs. */
shared.describe('integration/operators-http', () => {
  const servers: ApiServer[] = [];
  let device: ApiServer;
  let north: ApiServer;
  let south: ApiServer;
  let broker: ApiServer;
  let homeostat: HomeostatRuntime;
  const client = () => shared.client();

  async function serve(options: Omit<Parameters<typeof ApiServer.start>[0], 'note'>) {
    const server = await ApiServer.start({ note: () => shared.plane.time?.note(), ...options });
    servers.push(server);
    return server;
  }

  before(async () => {
    device = await serve({ collections: [{ path: '/device', key: 'id', idBy: 'client' }] });
    device.api
      .collection('/device')
      .objects.set('temperature', { id: 'temperature', celsius: 24.5 });
    device.api.collection('/device').objects.set('switch', { id: 'switch', cooling: false });
    north = await serve({ collections: [{ ...dashboards, upsert }] });
    south = await serve({ collections: [{ ...dashboards, upsert }] });
    broker = await serve({
      collections: [
        { path: '/exchanges/%2F', key: 'name', idBy: 'client' },
        { path: '/queues/%2F', key: 'name', idBy: 'client' },
        { path: '/bindings/%2F/e/orders/q/orders', key: 'properties_key', idBy: 'server' },
        { path: '/users', key: 'name', idBy: 'client', hidden: ['password'] },
        { path: '/permissions/%2F', key: 'user', idBy: 'client' },
      ],
    });
    homeostat = launch({
      definitions: Object.fromEntries(
        names.map((name) => [`${name}.yaml`, shippedText(`http/${name}.yaml`)]),
      ),
      flags: ['--http-allow', servers.map(({ port }) => `127.0.0.1:${port}`).join(',')],
    });
    await homeostat.whenReady(names.length);
  });
  after(async () => {
    await homeostat?.stop();
    await Promise.all(servers.map((server) => server.stop()));
  });

  async function allowedNamespace(): Promise<string> {
    const namespace = await shared.namespace();
    await client().patch(`/api/v1/namespaces/${namespace}`, {
      metadata: { labels: { 'homeostat.dev/http': 'true' } },
    });
    return namespace;
  }

  const secret = (namespace: string, name: string, stringData: JsonObject): KubeObject => ({
    ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace } },
    stringData,
  });

  function untilReady(path: string, check: (object: KubeObject) => boolean = () => true) {
    return client().untilObject(path, (object) => {
      const ready = conditionOf(object);
      const isCurrent = ready?.observedGeneration === object?.metadata.generation;
      return object !== undefined && ready?.status === 'True' && isCurrent && check(object);
    });
  }

  /** Observes an object of the runtime now, not after `every`. */
  async function lookAgain(namespace: string, name: string): Promise<void> {
    const annotations = { 'homeostat.dev/reconcile-at': String(performance.now()) };
    await client().patch(`${group}/namespaces/${namespace}/httpobjects/${name}`, {
      metadata: { annotations },
    });
  }

  async function until(check: () => boolean): Promise<void> {
    while (!check()) await client().sleep(100);
  }

  async function untilDeleted(path: string, namespace: string): Promise<void> {
    await client().delete(path);
    await client().untilGone(path);
    await client().untilList(
      `${group}/namespaces/${namespace}/httpobjects`,
      (all) => all.length === 0,
    );
  }

  test('air-conditioner: a device that is read and switched, and kept at its deletion', async () => {
    const namespace = await allowedNamespace();
    const objects = device.api.collection('/device').objects;
    await client().apply(endpointObject({ url: device.url }, { name: 'cooler', namespace }));
    await client().apply({
      ...{ apiVersion: 'devices.example.com/v1alpha1', kind: 'AirConditioner' },
      metadata: { name: 'office', namespace },
      spec: { target: 21, endpoint: 'cooler' },
    });
    const path = `/apis/devices.example.com/v1alpha1/namespaces/${namespace}/airconditioners/office`;
    await untilReady(path, (object) => statusOf(object).cooling === true);
    await until(() => objects.get('switch')?.cooling === true);
    objects.set('temperature', { id: 'temperature', celsius: 19.5 });
    await lookAgain(namespace, 'office-sensor');
    await untilReady(path, (object) => statusOf(object).measured === 19.5);
    await until(() => objects.get('switch')?.cooling === false);
    objects.set('switch', { id: 'switch', cooling: true });
    await lookAgain(namespace, 'office-switch');
    await until(() => objects.get('switch')?.cooling === false);
    await untilDeleted(path, namespace);
    assert.deepEqual(objects.get('switch'), { id: 'switch', cooling: false });
    assert.equal(device.count('POST', 'DELETE'), 0);
  });

  test('grafana-dashboard: one that is down delays no other, and has the edit when it is back', async () => {
    const namespace = await allowedNamespace();
    const titles = (server: ApiServer) =>
      Array.from(server.objects('/dashboards/uid').values(), (each) => (each as JsonObject).title);
    for (const name of ['north', 'south'])
      await client().apply(secret(namespace, name, { token: `token-of-${name}` }));
    const put = (title: string, servers: Readonly<Record<string, ApiServer>>) =>
      client().apply({
        ...{ apiVersion: 'monitoring.example.com/v1alpha1', kind: 'GrafanaDashboard' },
        metadata: { name: 'sales', namespace },
        spec: {
          title,
          content: { tags: ['shop'] },
          instances: Object.entries(servers).map(([name, { url }]) => ({
            name,
            url,
            secret: name,
          })),
        },
      });
    const path = `/apis/monitoring.example.com/v1alpha1/namespaces/${namespace}/grafanadashboards/sales`;
    await put('Sales', { north, south });
    await untilReady(path, (object) => statusOf(object).ready === 2);
    assert.deepEqual([titles(north), titles(south)], [['Sales'], ['Sales']]);
    const [first] = north.requests;
    assert.equal(first?.headers.authorization, 'Bearer token-of-north');
    await south.stop();
    await put('All sales', { north, south });
    await until(() => titles(north)[0] === 'All sales');
    await client().untilObject(path, (object) => statusOf(object).ready === 1);
    await south.start();
    await untilReady(path, (object) => statusOf(object).ready === 2);
    assert.deepEqual(titles(south), ['All sales']);
    await put('All sales', { north });
    await until(() => titles(south).length === 0);
    await untilDeleted(path, namespace);
    assert.deepEqual([titles(north), titles(south)], [[], []]);
  });

  test('rabbitmq-topology: bindings come and go, a password reaches the user, and nothing is left', async () => {
    const namespace = await allowedNamespace();
    const url = broker.url;
    await client().apply(endpointObject({ url }, { name: 'rabbitmq', namespace }));
    const put = (...routingKeys: readonly string[]) =>
      client().apply({
        ...{ apiVersion: 'messaging.example.com/v1alpha1', kind: 'MessageQueue' },
        metadata: { name: 'orders', namespace },
        spec: { endpoint: 'rabbitmq', routingKeys },
      });
    const path = `/apis/messaging.example.com/v1alpha1/namespaces/${namespace}/messagequeues/orders`;
    const bindings = () =>
      Array.from(
        broker.objects('/bindings/%2F/e/orders/q/orders').values(),
        (each) => (each as JsonObject).routing_key,
      ).sort();
    await put('order.created', 'order.paid');
    await untilReady(path, (object) => statusOf(object).bindings === 2);
    assert.deepEqual(bindings(), ['order.created', 'order.paid']);
    await put('order.paid');
    await until(() => bindings().join() === 'order.paid');
    await client().apply(secret(namespace, 'orders-amqp', { password: 'another' }));
    await until(
      () =>
        (broker.objects('/users').get('orders') as JsonObject | undefined)?.password === 'another',
    );
    await untilDeleted(path, namespace);
    for (const collection of ['/exchanges/%2F', '/queues/%2F', '/users', '/permissions/%2F'])
      assert.equal(broker.objects(collection).size, 0, collection);
    assert.deepEqual(bindings(), []);
  });
});
