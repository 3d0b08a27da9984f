import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type Backend,
  createTestSandbox,
  sandboxBackend,
  serverBackend,
} from '../../support/backends/index.ts';
import { useControlPlane } from '../../support/control-plane/index.ts';
import { SeededRandom } from '../../support/model/seeded-random.ts';
import { assertSameRuns } from '../driver/index.ts';
import { ObjectWriter } from './object-writer.ts';
import { randomGroup, randomWrite } from './random-writes.ts';
import { widgetCrd } from './widget-schema.ts';

const shared = useControlPlane({ controllerManager: false });
const operations = Number(process.env.CONTRACT_OPERATIONS ?? 2000);
const seed = Number(process.env.CONTRACT_SEED ?? 1);
/** Writes to one object; then the next one begins from nothing. */
const writesPerObject = 25;

shared.describe('contract/random', () => {
  const sandbox = sandboxBackend(createTestSandbox({ controllers: false }));
  let server: ReturnType<typeof serverBackend>;

  before(async () => {
    server = serverBackend(shared.plane);
    for (const backend of [sandbox, server]) await installWidgets(backend);
  });
  after(() => server.close());

  test(`${operations} writes from seed ${seed} have the same outcome on both servers`, async () => {
    const random = new SeededRandom(seed);
    for (let done = 0; done < operations; done += writesPerObject) {
      const name = `w${done}`;
      const path = `/apis/${randomGroup}/v1/namespaces/default/widgets/${name}`;
      const [mine, theirs] = [new ObjectWriter(sandbox, path), new ObjectWriter(server, path)];
      for (let index = 0; index < writesPerObject; index++) {
        const write = randomWrite(random, name);
        const label = `${name}, write ${index}: ${JSON.stringify(write)}`;
        const [a, b] = [await mine.write(write), await theirs.write(write)];
        assertSameRuns([{ ...a, step: label }], [{ ...b, step: label }]);
      }
    }
  });
});

async function installWidgets(backend: Backend): Promise<void> {
  const crd = await backend.request({
    method: 'POST',
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(widgetCrd(randomGroup)),
  });
  assert.equal(crd.status, 201, crd.text);
  const path = `/apis/${randomGroup}/v1/widgets`;
  // Nothing announces that a new kind is served: it is asked for until it is there.
  while ((await backend.request({ method: 'GET', path })).status !== 200) await delay(20);
}
