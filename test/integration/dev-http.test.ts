import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { DevProcess } from '../support/dev-process.ts';
import { ApiServer } from '../support/http-objects/api-server.ts';

const objects = (url: string) => `
apiVersion: homeostat.dev/v1alpha1
kind: HttpEndpoint
metadata: { name: api }
spec:
  url: ${url}
  auth: { bearer: { tokenFrom: { secretKeyRef: { name: api, key: token } } } }
---
apiVersion: homeostat.dev/v1alpha1
kind: HttpObject
metadata: { name: orders }
spec:
  endpoint: { name: api }
  desired: { durable: true }
  observe: { path: "/queues/{metadata.name}" }
  create: { method: PUT, path: "/queues/{metadata.name}" }
  update: { method: PUT, path: "/queues/{metadata.name}" }
  delete: { path: "/queues/{metadata.name}" }
---
apiVersion: v1
kind: Secret
metadata: { name: api }
stringData: { token: letmein }
`;

describe('integration/dev-http', () => {
  const running: DevProcess[] = [];
  let server: ApiServer | undefined;
  after(async () => {
    await Promise.all(running.map((dev) => dev.stop()));
    await server?.stop();
  });
  const start = (...options: ConstructorParameters<typeof DevProcess>) => {
    const dev = new DevProcess(...options);
    running.push(dev);
    return dev;
  };

  test('samples of objects behind HTTP need no definition, and the default namespace permits them', async () => {
    server = await ApiServer.start({
      collections: [{ path: '/queues', key: 'name', idBy: 'client' }],
    });
    server.authorization = 'Bearer letmein';
    const dev = start({ files: { 'samples/queue.yaml': objects(server.url) } });
    await dev.untilSaid(/^Created HttpObject "orders"$/m);
    await dev.untilSaid(/HttpObject default\/orders: Ready/);
    assert.deepEqual([...server.objects('/queues').values()], [{ name: 'orders', durable: true }]);
    assert.doesNotMatch(dev.output, /Cannot apply/);
    const tree = await dev.run('tree');
    assert.match(tree.stdout, /HttpEndpoint default\/api[\s\S]*HttpObject default\/orders/);
    assert.equal(await dev.stop(), 0);
  });

  test('an API behind a Service is simulated, and dev says so', async () => {
    const dev = start({
      files: { 'samples/queue.yaml': objects('http://rabbitmq.default.svc:15672/api') },
    });
    await dev.untilSaid(/^http:\/\/rabbitmq\.default\.svc:15672 is simulated/m);
    await dev.untilSaid(/HttpObject default\/orders: Ready/);
    assert.equal(dev.output.match(/is simulated/g)?.length, 1);
    assert.equal(await dev.stop(), 0);
  });

  test('a Service of another namespace is not simulated: in a cluster, no request may lead there', async () => {
    const dev = start({
      files: { 'samples/queue.yaml': objects('http://rabbitmq.shop.svc:15672/api') },
    });
    await dev.untilSaid(/HttpObject default\/orders: .*No connection to rabbitmq\.shop\.svc:15672/);
    assert.doesNotMatch(dev.output, /is simulated/);
    assert.equal(await dev.stop(), 0);
  });

  test('--http-objects serves the kinds before there is an object, and a misplaced one is sent to the samples', async () => {
    const files = { 'queue.yaml': objects('http://127.0.0.1:9') };
    const dev = start({ files, args: ['--http-objects'] });
    await dev.untilSaid(/Put it into the folder "samples"/);
    const get = await dev.run('get', 'httpobjects');
    assert.match(get.stdout + get.stderr, /No resources found/, JSON.stringify(get));
    assert.equal(await dev.stop(), 0);
  });
});
