import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { Backend } from '../../support/backends/index.ts';
import { suiteCrds } from '../cases/suite-crds.ts';

/** Makes the namespace of a case. */
export async function createNamespace(backend: Backend, name: string): Promise<void> {
  await post(backend, '/api/v1/namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name },
  });
}

/** Makes the CRDs of the suite. Nothing announces that a new kind is served: it is asked for until it is there. */
export async function installCrds(backend: Backend): Promise<void> {
  for (const crd of suiteCrds)
    await post(backend, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd);
  for (const { spec } of suiteCrds) {
    for (const { name } of spec.versions) {
      const path = `/apis/${spec.group}/${name}/${spec.names.plural}`;
      while ((await backend.request({ method: 'GET', path })).status !== 200) await delay(20);
    }
  }
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
