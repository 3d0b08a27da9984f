import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { isJsonObject, type Json } from '../../../src/util/json.ts';
import {
  type Backend,
  createTestSandbox,
  sandboxBackend,
  serverBackend,
} from '../../support/backends/index.ts';
import { useControlPlane } from '../../support/control-plane/index.ts';
import { SeededRandom } from '../../support/model/seeded-random.ts';
import { assertSameRuns } from '../driver/index.ts';
import { Normaliser } from '../driver/normaliser.ts';
import { type RandomWrite, randomGroup, randomWrite } from './random-writes.ts';
import { widgetCrd } from './widget-schema.ts';

const shared = useControlPlane({ controllerManager: false });
const operations = Number(process.env.CONTRACT_OPERATIONS ?? 2000);
const seed = Number(process.env.CONTRACT_SEED ?? 1);
/** Writes to one object; then the next one begins from nothing. */
const writesPerObject = 25;

describe('contract/random', { skip: shared.skip }, () => {
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
      const [mine, theirs] = [new WidgetWriter(sandbox, name), new WidgetWriter(server, name)];
      for (let index = 0; index < writesPerObject; index++) {
        const write = randomWrite(random, name);
        const label = `${name}, write ${index}: ${JSON.stringify(write)}`;
        const [a, b] = [await mine.write(write), await theirs.write(write)];
        assertSameRuns([{ ...a, step: label }], [{ ...b, step: label }]);
      }
    }
  });
});

/** Writes to one Widget of one server and remembers its version. */
class WidgetWriter {
  readonly #backend: Backend;
  readonly #path: string;
  readonly #normaliser = new Normaliser();
  #version = '1';

  constructor(backend: Backend, name: string) {
    this.#backend = backend;
    this.#path = `/apis/${randomGroup}/v1/namespaces/default/widgets/${name}`;
  }

  async write({ method, tail, contentType, body, isVersioned }: RandomWrite) {
    const metadata = isJsonObject(body.metadata) ? body.metadata : {};
    const versioned = { ...body, metadata: { ...metadata, resourceVersion: this.#version } };
    const answer = await this.#backend.request({
      method,
      path: this.#path + tail,
      headers: { 'content-type': contentType, 'user-agent': 'random' },
      body: JSON.stringify(isVersioned ? versioned : body),
    });
    const parsed: Json = JSON.parse(answer.text);
    const written = isJsonObject(parsed) && isJsonObject(parsed.metadata) ? parsed.metadata : {};
    if (typeof written.resourceVersion === 'string') this.#version = written.resourceVersion;
    return { status: answer.status, body: this.#normaliser.normalise(parsed) };
  }
}

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
