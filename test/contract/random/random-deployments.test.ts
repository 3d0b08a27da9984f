import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestSandbox, sandboxBackend, serverBackend } from '../../support/backends/index.ts';
import { useControlPlane } from '../../support/control-plane/index.ts';
import { SeededRandom } from '../../support/model/seeded-random.ts';
import { assertSameRuns } from '../driver/index.ts';
import { ObjectWriter } from './object-writer.ts';
import { randomDeploymentWrite } from './random-deployments.ts';

const shared = useControlPlane({ controllerManager: false });
const operations = Number(process.env.CONTRACT_OPERATIONS ?? 2000);
const seed = Number(process.env.CONTRACT_SEED ?? 1);
/** Writes to one object; then the next one begins from nothing. */
const writesPerObject = 20;

shared.describe('contract/random/deployments', () => {
  const sandbox = sandboxBackend(createTestSandbox({ controllers: false }));
  let server: ReturnType<typeof serverBackend>;
  before(() => {
    server = serverBackend(shared.plane);
  });
  after(() => server.close());

  test(`${operations} writes from seed ${seed} have the same outcome on both servers`, async () => {
    const random = new SeededRandom(seed);
    const different: string[] = [];
    for (let done = 0; done < operations && different.length < 5; done += writesPerObject) {
      const name = `d${done}`;
      const path = `/apis/apps/v1/namespaces/default/deployments/${name}`;
      const [mine, theirs] = [new ObjectWriter(sandbox, path), new ObjectWriter(server, path)];
      for (let index = 0; index < writesPerObject; index++) {
        const write = randomDeploymentWrite(random, name);
        const label = `${name}, write ${index}: ${JSON.stringify(write)}`;
        const [a, b] = [await mine.write(write), await theirs.write(write)];
        try {
          assertSameRuns([{ ...a, step: label }], [{ ...b, step: label }]);
        } catch (error) {
          if (!(error instanceof assert.AssertionError)) throw error;
          // What comes after a difference says nothing; the next object begins from nothing.
          different.push(error.message.split('\n  \n')[0] ?? '');
          break;
        }
      }
    }
    assert.deepEqual(different, []);
  });
});
