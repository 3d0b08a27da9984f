import { after, before, test } from 'node:test';
import { sandboxBackend, serverBackend } from '../support/backends/index.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { garbage } from './cases/garbage.ts';
import { assertSameRuns, createNamespace, runCase } from './driver/index.ts';

const shared = useControlPlane();

shared.describe('contract/garbage', () => {
  const sandbox = sandboxBackend();
  let server: ReturnType<typeof serverBackend>;
  before(() => {
    server = serverBackend(shared.plane);
  });
  after(() => server.close());

  for (const [index, contractCase] of garbage.entries()) {
    test(contractCase.name, async () => {
      const variables = { ns: `garbage-${index}` };
      for (const backend of [sandbox, server]) await createNamespace(backend, variables.ns);
      const mine = await runCase({ backend: sandbox, contractCase, variables });
      const theirs = await runCase({ backend: server, contractCase, variables });
      assertSameRuns(mine, theirs);
    });
  }
});
