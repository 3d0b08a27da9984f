import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type Backend,
  createTestSandbox,
  sandboxBackend,
  serverBackend,
} from '../support/backends/index.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { contractCases } from './cases/index.ts';
import { suiteCrds, suiteGroup } from './cases/suite-crds.ts';
import { assertSameRuns, runCase } from './driver/index.ts';

const shared = useControlPlane({ controllerManager: false });

describe('contract', { skip: shared.skip }, () => {
  const sandbox = sandboxBackend(createTestSandbox({ controllers: false }));
  let server: ReturnType<typeof serverBackend>;

  before(async () => {
    server = serverBackend(shared.plane);
    for (const backend of [sandbox, server]) await installCrds(backend);
  });
  after(() => server.close());

  for (const [group, cases] of Object.entries(contractCases)) {
    describe(group, () => {
      for (const [index, contractCase] of cases.entries()) {
        test(contractCase.name, async () => {
          const ns = `${group.replaceAll(' ', '-')}-${index}`;
          const variables = { ns, group: suiteGroup };
          for (const backend of [sandbox, server]) await createNamespace(backend, ns);
          const mine = await runCase({ backend: sandbox, contractCase, variables });
          const theirs = await runCase({ backend: server, contractCase, variables });
          assertSameRuns(mine, theirs);
        });
      }
    });
  }
});

async function createNamespace(backend: Backend, name: string): Promise<void> {
  await post(backend, '/api/v1/namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name },
  });
}

async function post(backend: Backend, path: string, body: unknown): Promise<void> {
  const answer = await backend.request({
    method: 'POST',
    path,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  assert.equal(answer.status, 201, `${backend.name}: ${answer.text}`);
}

/** Nothing announces that a new kind is served: it is asked for until it is there. */
async function installCrds(backend: Backend): Promise<void> {
  for (const crd of suiteCrds)
    await post(backend, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd);
  for (const { spec } of suiteCrds) {
    for (const { name } of spec.versions) {
      const path = `/apis/${spec.group}/${name}/${spec.names.plural}`;
      for (;;) {
        const { status } = await backend.request({ method: 'GET', path });
        if (status === 200) break;
        await delay(20);
      }
    }
  }
}
