import { after, before, describe, test } from 'node:test';
import { createTestSandbox, sandboxBackend, serverBackend } from '../support/backends/index.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { rulesWebhook } from '../support/rules-webhook.ts';
import { contractCases } from './cases/index.ts';
import { suiteGroup } from './cases/suite-crds.ts';
import { assertSameRuns, createNamespace, installCrds, runCase } from './driver/index.ts';

const shared = useControlPlane({ controllerManager: false });

shared.describe('contract', () => {
  const sandbox = sandboxBackend(createTestSandbox({ controllers: false }));
  let server: ReturnType<typeof serverBackend>;
  const webhook = rulesWebhook(async (name) => {
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`;
    const { status, text } = await server.request({ method: 'GET', path });
    return status === 200 ? JSON.parse(text) : undefined;
  });

  before(async () => {
    // The sandbox knows of nothing before its start; now this server does not either, nor its caches.
    await shared.plane.compactEtcd();
    await shared.plane.restartApiServer(0);
    server = serverBackend(shared.plane, webhook);
    await webhook.start();
    for (const backend of [sandbox, server]) await installCrds(backend);
  });
  after(() => {
    webhook.stop();
    server.close();
  });

  for (const [group, cases] of Object.entries(contractCases)) {
    describe(group, () => {
      for (const [index, contractCase] of cases.entries()) {
        test(contractCase.name, async () => {
          const ns = `${group.replaceAll(' ', '-')}-${index}`;
          const { url, caBundle } = webhook;
          const variables = { ns, group: suiteGroup, webhook: url, caBundle };
          for (const backend of [sandbox, server]) await createNamespace(backend, ns);
          const mine = await runCase({ backend: sandbox, contractCase, variables });
          const theirs = await runCase({ backend: server, contractCase, variables });
          assertSameRuns(mine, theirs);
        });
      }
    });
  }
});
