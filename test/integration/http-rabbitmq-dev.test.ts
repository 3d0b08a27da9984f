import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '#util/json.ts';
import { DevProcess } from '../support/dev-process.ts';
import { RabbitmqServer, rabbitmqMissing } from '../support/rabbitmq/rabbitmq-server.ts';

const definition = readFileSync(
  new URL('../support/rabbitmq/topology.yaml', import.meta.url),
  'utf8',
);

if (rabbitmqMissing !== false) process.stderr.write(`\n*** SKIPPED: ${rabbitmqMissing}\n\n`);

/** `homeostat dev` sends requests to servers on this machine without a flag. */
describe('integration/http-rabbitmq-dev', { skip: rabbitmqMissing }, () => {
  let server: RabbitmqServer;
  let dev: DevProcess;

  before(async () => {
    server = await RabbitmqServer.start();
    dev = new DevProcess({ files: { 'topology.yaml': definition } });
  });
  after(async () => {
    await dev?.stop('SIGKILL');
    await server?.stop();
  });

  const passwords = () => `apiVersion: v1
kind: Namespace
metadata: { name: shop, labels: { homeostat.dev/http: "true" } }
---
apiVersion: v1
kind: Secret
metadata: { name: rabbitmq-admin, namespace: shop }
stringData: { username: admin, password: ${server.password} }
---
apiVersion: v1
kind: Secret
metadata: { name: app, namespace: shop }
stringData: { password: app-first }
`;

  const topology = (description: string) => `apiVersion: messages.example.com/v1
kind: Topology
metadata: { name: shop, namespace: shop }
spec: { url: "${server.url}", description: ${description} }
`;

  async function apply(text: string): Promise<void> {
    dev.save('more/objects.yaml', text);
    const { code, stderr } = await dev.run('apply', '-f', 'operators/more/objects.yaml');
    assert.equal(code, 0, stderr);
  }

  async function untilAnswer(
    path: string,
    check: (answer: JsonObject | undefined) => boolean,
  ): Promise<void> {
    while (!check((await server.ask('GET', path)) as JsonObject | undefined)) await sleep(100);
  }

  test('a virtual host with all in it is created, changed and deleted', async () => {
    await dev.untilSaid(/topology/);
    await apply(passwords());
    await apply(topology('first'));
    await untilAnswer('/permissions/shop/shop-app', (permission) => permission !== undefined);
    await untilAnswer('/bindings/shop/e/orders/q/new', (bindings) => bindings?.length === 1);
    assert.equal(await server.accepts('shop-app', 'app-first'), true);
    await apply(topology('second'));
    await untilAnswer('/vhosts/shop', (vhost) => vhost?.description === 'second');
    const { code, stderr } = await dev.run('delete', '-f', 'operators/more/objects.yaml');
    assert.equal(code, 0, stderr);
    await untilAnswer('/vhosts/shop', (vhost) => vhost === undefined);
    await untilAnswer('/users/shop-app', (user) => user === undefined);
  });
});
