import { before, describe, test } from 'node:test';
import { contractCases } from '../../contract/cases/index.ts';
import { suiteGroup } from '../../contract/cases/suite-crds.ts';
import { createNamespace, installCrds, runCase } from '../../contract/driver/index.ts';
import { createTestSandbox, sandboxBackend } from '../../support/backends/index.ts';
import { ConversionWebhook } from '../../support/conversion-webhook.ts';

// The same cases that test/contract puts to a real server, too.
describe('unit/sandbox/contract', () => {
  const sandbox = sandboxBackend(createTestSandbox({ controllers: false }));
  before(() => installCrds(sandbox));

  for (const [group, cases] of Object.entries(contractCases)) {
    describe(group, () => {
      for (const [index, contractCase] of cases.entries()) {
        test(contractCase.name, async () => {
          const ns = `${group}-${index}`;
          await createNamespace(sandbox, ns);
          const { caBundle } = new ConversionWebhook(() => []);
          const webhook = 'https://127.0.0.1:1/convert';
          const variables = { ns, group: suiteGroup, webhook, caBundle };
          await runCase({ backend: sandbox, contractCase, variables });
        });
      }
    });
  }
});
