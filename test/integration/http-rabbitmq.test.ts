import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, shippedText } from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';
import { endpointObject } from '../support/http-objects/test-objects.ts';
import { RabbitmqServer, rabbitmqMissing } from '../support/rabbitmq/rabbitmq-server.ts';

const shared = useControlPlane();
const launch = useRuntimes(shared);
const definition = readFileSync(
  new URL('../support/rabbitmq/topology.yaml', import.meta.url),
  'utf8',
);
const group = '/apis/homeostat.dev/v1alpha1';

/** An HTTP API that is not ours: the management API of RabbitMQ. */
shared.describe('integration/http-rabbitmq', { skip: rabbitmqMissing }, () => {
  let server: RabbitmqServer;
  let homeostat: HomeostatRuntime;
  let namespace: string;
  const client = () => shared.client();

  const start = async () => {
    homeostat = launch({
      definitions: { 'topology.yaml': definition },
      flags: ['--http-allow', `127.0.0.1:${server.port}`],
    });
    await homeostat.whenReady();
  };

  before(async () => {
    server = await RabbitmqServer.start();
    await start();
    namespace = await prepared();
  });
  after(async () => {
    await homeostat?.stop();
    await server?.stop();
  });

  const secret = (of: string, name: string, stringData: JsonObject): KubeObject => ({
    ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: of } },
    stringData,
  });

  /** A namespace whose Secrets are read, with the passwords. */
  async function prepared(): Promise<string> {
    const of = await shared.namespace();
    await client().patch(`/api/v1/namespaces/${of}`, {
      metadata: { labels: { 'homeostat.dev/http': 'true' } },
    });
    await giveAdmin(of);
    await client().apply(secret(of, 'app', { password: 'app-first' }));
    return of;
  }

  function giveAdmin(of: string) {
    const { password } = server;
    return client().apply(secret(of, 'rabbitmq-admin', { username: 'admin', password }));
  }

  const resourcePath = (of: string) =>
    `/apis/messages.example.com/v1/namespaces/${of}/topologies/shop`;
  const objectPath = (of: string, name: string) =>
    `${group}/namespaces/${of}/httpobjects/shop-${name}`;

  function put(of: string, spec: JsonObject): Promise<unknown> {
    return client().apply({
      ...{ apiVersion: 'messages.example.com/v1', kind: 'Topology' },
      metadata: { name: 'shop', namespace: of },
      spec: { url: server.url, ...spec },
    });
  }

  function untilReady(of: string) {
    return client().untilObject(resourcePath(of), (object) => {
      const ready = conditionOf(object);
      return ready?.status === 'True' && ready.observedGeneration === object?.metadata.generation;
    });
  }

  function untilReason(name: string, reason: string) {
    return client().untilObject(
      objectPath(namespace, name),
      (object) => conditionOf(object, 'Synced')?.reason === reason,
    );
  }

  async function lookAgain(name: string): Promise<void> {
    const annotations = { 'homeostat.dev/reconcile-at': String(performance.now()) };
    await client().patch(objectPath(namespace, name), { metadata: { annotations } });
  }

  /** Polls the API of RabbitMQ itself. */
  async function untilAnswer(
    path: string,
    check: (answer: JsonObject | undefined) => boolean,
  ): Promise<void> {
    while (!check((await server.ask('GET', path)) as JsonObject | undefined))
      await client().sleep(100);
  }

  /** Deletes a resource, and waits for what it has in RabbitMQ. */
  async function untilDeleted(of: string): Promise<void> {
    await client().delete(resourcePath(of));
    await client().untilList(`${group}/namespaces/${of}/httpobjects`, (all) => all.length === 0);
    assert.equal(await server.ask('GET', `/vhosts/${of}`), undefined);
  }

  const bindings = (of: string) =>
    server.ask('GET', `/bindings/${of}/e/orders/q/new`) as Promise<readonly JsonObject[]>;

  test('a virtual host with exchange, queue, binding, user and permission is created', async () => {
    await put(namespace, { description: 'first' });
    await untilReady(namespace);
    assert.deepEqual(
      (await bindings(namespace)).map(({ routing_key }) => routing_key),
      ['order.*'],
    );
    assert.equal(await server.accepts(`${namespace}-app`, 'app-first'), true);
    const user = `${namespace}-app`;
    const permission = await server.ask('GET', `/permissions/${namespace}/${user}`);
    const expected = { vhost: namespace, user, configure: '', write: '.*', read: '.*' };
    assert.deepEqual(permission, expected);
  });

  test('an edit changes what can be changed, and replaces queue and binding', async () => {
    await put(namespace, {
      ...{ description: 'second', tags: ['monitoring'] },
      ...{ maxLength: 200, routingKey: 'invoice.#' },
    });
    await untilReady(namespace);
    await untilAnswer(`/vhosts/${namespace}`, (vhost) => vhost?.description === 'second');
    const user = (await server.ask('GET', `/users/${namespace}-app`)) as JsonObject;
    assert.deepEqual(user.tags, ['monitoring']);
    const queue = (await server.ask('GET', `/queues/${namespace}/new`)) as JsonObject;
    assert.deepEqual(queue.arguments, { 'x-max-length': 200 });
    assert.deepEqual(
      (await bindings(namespace)).map(({ properties_key }) => properties_key),
      ['invoice.%23'],
    );
  });

  test('what is changed or deleted in RabbitMQ is restored', async () => {
    await server.ask('PUT', `/users/${namespace}-app`, { password: 'x', tags: 'administrator' });
    await server.ask('PUT', `/vhosts/${namespace}`, { description: 'drifted' });
    await server.ask('DELETE', `/queues/${namespace}/new`);
    for (const name of ['user', 'vhost', 'queue']) await lookAgain(name);
    await untilAnswer(`/vhosts/${namespace}`, (vhost) => vhost?.description === 'second');
    await untilAnswer(`/users/${namespace}-app`, (user) => String(user?.tags) === 'monitoring');
    assert.equal(await server.accepts(`${namespace}-app`, 'app-first'), true);
    await untilAnswer(`/queues/${namespace}/new`, (queue) => queue !== undefined);
    // It was deleted with the queue.
    await lookAgain('binding');
    while ((await bindings(namespace)).length === 0) await client().sleep(100);
  });

  test('rotated passwords: that of the user, and that of the endpoint', async () => {
    await client().apply(secret(namespace, 'app', { password: 'app-second' }));
    while (!(await server.accepts(`${namespace}-app`, 'app-second'))) await client().sleep(100);
    assert.equal(await server.accepts(`${namespace}-app`, 'app-first'), false);
    await server.ask('PUT', '/users/admin', { password: 'second', tags: 'administrator' });
    server.password = 'second';
    await lookAgain('vhost');
    await untilReason('vhost', 'Unauthorized');
    await giveAdmin(namespace);
    await untilReason('vhost', 'AsDesired');
    const stored = JSON.stringify(
      await client().list(`${group}/namespaces/${namespace}/httpobjects`),
    );
    assert.doesNotMatch(stored, /app-first|app-second|password_hash":/);
  });

  test('what is edited while RabbitMQ is down is sent when it is back', async () => {
    await server.halt();
    await put(namespace, { description: 'third', maxLength: 200, routingKey: 'invoice.#' });
    await untilReason('vhost', 'Unreachable');
    await server.start();
    await untilAnswer(`/vhosts/${namespace}`, (vhost) => vhost?.description === 'third');
    await untilReady(namespace);
  });

  test('a runtime that is killed while it creates leaves one of each', async () => {
    const other = await prepared();
    await put(other, { description: 'first' });
    // Not the virtual host: RabbitMQ gives its creator the permission in a second step, which ends with the connection.
    await untilAnswer(`/exchanges/${other}/orders`, (exchange) => exchange !== undefined);
    await homeostat.stop('SIGKILL');
    await start();
    await untilReady(other);
    assert.equal((await bindings(other)).length, 1);
    await untilDeleted(other);
  });

  test('the shipped operator: bindings come and go, and a new password is one in RabbitMQ', async () => {
    homeostat.write('shipped.yaml', shippedText('http/rabbitmq-topology.yaml'));
    const of = await prepared();
    const basic = (key: string) => ({ secretKeyRef: { name: 'rabbitmq-admin', key } });
    const auth = { basic: { usernameFrom: basic('username'), passwordFrom: basic('password') } };
    await client().apply(endpointObject({ url: server.url, auth }, { namespace: of }));
    await client().untilList(`/apis/messaging.example.com/v1alpha1/messagequeues`, () => true);
    const name = `orders-${of}`;
    const path = `/apis/messaging.example.com/v1alpha1/namespaces/${of}/messagequeues/${name}`;
    const putQueue = (...routingKeys: readonly string[]) =>
      client().apply({
        ...{ apiVersion: 'messaging.example.com/v1alpha1', kind: 'MessageQueue' },
        metadata: { name, namespace: of },
        spec: { endpoint: 'api', routingKeys },
      });
    const untilKeys = (...expected: readonly string[]) =>
      untilAnswer(`/bindings/%2F/e/${name}/q/${name}`, (bindings) => {
        const keys = (bindings as unknown as readonly JsonObject[]).map((each) => each.routing_key);
        return keys.sort().join() === expected.join();
      });
    await putQueue('order.created', 'order.paid');
    await client().untilObject(path, (object) => conditionOf(object)?.status === 'True');
    await untilKeys('order.created', 'order.paid');
    await putQueue('order.paid');
    await untilKeys('order.paid');
    // Without a tag, the user cannot log in to this API: the hash shows the new password.
    const hash = async () =>
      ((await server.ask('GET', `/users/${name}`)) as JsonObject).password_hash;
    const before = await hash();
    await client().apply(secret(of, `${name}-amqp`, { password: 'another' }));
    while ((await hash()) === before) await client().sleep(100);
    await client().delete(path);
    await untilAnswer(`/users/${name}`, (user) => user === undefined);
    await untilAnswer(`/queues/%2F/${name}`, (queue) => queue === undefined);
  });

  test('with the resource, all of it is deleted', async () => {
    await untilDeleted(namespace);
    await client().untilGone(`${group}/namespaces/${namespace}/httpendpoints/shop`);
    assert.equal(await server.ask('GET', `/users/${namespace}-app`), undefined);
  });
});
