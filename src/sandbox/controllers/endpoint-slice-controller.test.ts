import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#util/json.ts';
import { createTestSandbox } from '../../../test/support/backends/index.ts';
import type { Sandbox } from '../index.ts';

const core = '/api/v1/namespaces/default';
const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';

function call(sandbox: Sandbox, method: string, path: string, body?: unknown): string {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const text = body === undefined ? '' : JSON.stringify(body);
  const answer = sandbox.handle({ method, path, headers: { 'content-type': type }, body: text });
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.body}`);
  return String(answer.body);
}

async function sandboxWithPod(nodeName: string | undefined): Promise<Sandbox> {
  const sandbox = createTestSandbox({ runsPods: false });
  call(sandbox, 'POST', `${core}/services`, {
    metadata: { name: 'web' },
    spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
  });
  call(sandbox, 'POST', `${core}/pods`, {
    metadata: { name: 'web', labels: { app: 'web' } },
    spec: { containers: [{ name: 'c', image: 'a' }], ...(nodeName && { nodeName }) },
  });
  call(sandbox, 'PATCH', `${core}/pods/web/status`, {
    status: {
      phase: 'Running',
      podIP: '10.1.0.1',
      conditions: [{ type: 'Ready', status: 'True' }],
    },
  });
  await sandbox.settle();
  return sandbox;
}

function endpointsOf(sandbox: Sandbox): readonly unknown[] {
  const { items } = JSON.parse(call(sandbox, 'GET', slices)) as { items: readonly JsonObject[] };
  assert.equal(items.length, 1);
  return (items[0]?.endpoints ?? []) as readonly unknown[];
}

describe('sandbox/controllers/endpoint-slice-controller', () => {
  for (const [node, count] of [
    ['sandbox-node', 1],
    ['another', 0],
    [undefined, 0],
  ] as const)
    test(`a pod on the node ${node} results in ${count} endpoint`, async () => {
      const sandbox = await sandboxWithPod(node);
      assert.equal(endpointsOf(sandbox).length, count);
      sandbox.stop();
    });

  test('the log of a pod is empty unless it has a node', async () => {
    for (const [node, text] of [
      ['sandbox-node', /^The sandbox runs no containers/],
      [undefined, /^$/],
    ] as const) {
      const sandbox = await sandboxWithPod(node);
      assert.match(call(sandbox, 'GET', `${core}/pods/web/log`), text);
      sandbox.stop();
    }
  });
});
