import { after, before, describe, test } from 'node:test';
import {
  type Backend,
  createTestSandbox,
  sandboxBackend,
  serverBackend,
} from '../support/backends/index.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { controllerCases } from './cases/controllers.ts';
import { assertSameRuns, createNamespace, runCase } from './driver/index.ts';

const shared = useControlPlane();
/** How many writes bring an object to its state is the controllers' business. */
const versions = ['metadata.resourceVersion', 'items.*.metadata.resourceVersion'];

shared.describe('contract/controllers', () => {
  const simulated = createTestSandbox({ runsPods: false });
  const bare = sandboxBackend(simulated);
  // What is seen there is what stays: the other server is waited for until it shows the same.
  const sandbox: Backend = {
    ...bare,
    async request(request) {
      await simulated.settle();
      return bare.request(request);
    },
  };
  let server: ReturnType<typeof serverBackend>;
  before(() => {
    server = serverBackend(shared.plane);
  });
  after(() => {
    server.close();
    simulated.stop();
  });

  for (const [group, cases] of Object.entries(controllerCases)) {
    // Each waits for controllers, and has a namespace of its own.
    describe(group, { concurrency: 4 }, () => {
      for (const [index, contractCase] of cases.entries()) {
        test(contractCase.name, async () => {
          const variables = { ns: `${group.toLowerCase()}-${index}` };
          for (const backend of [sandbox, server]) await createNamespace(backend, variables.ns);
          const mine = await runCase({ backend: sandbox, contractCase, variables });
          const like = { records: mine, never: versions };
          const theirs = await runCase({ backend: server, contractCase, variables, like });
          assertSameRuns(mine, theirs, versions);
        });
      }
    });
  }
});
