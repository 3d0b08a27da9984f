import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import type { JsonObject } from '#util/json.ts';
import { createTestSandbox } from '../../test/support/backends/index.ts';
import type { Sandbox } from './index.ts';

function call(sandbox: Sandbox, method: string, path: string, body?: unknown) {
  const headers = { 'content-type': method === 'PATCH' ? 'application/apply-patch+yaml' : '' };
  const text = body === undefined ? '' : JSON.stringify(body);
  const answer = sandbox.handle({ method, path, headers, body: text });
  assert.equal(typeof answer.body, 'string');
  return { status: answer.status, body: JSON.parse(answer.body as string) as JsonObject };
}

const things = '/apis/example.com/v1/namespaces/default/things';
const pods = '/api/v1/namespaces/default/pods';
const deployments = '/apis/apps/v1/namespaces/default/deployments';
const crd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.example.com' },
  spec: {
    group: 'example.com',
    names: { kind: 'Thing', plural: 'things' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object' } },
      },
    ],
  },
};
const template = {
  metadata: { labels: { app: 'a' } },
  spec: { containers: [{ name: 'main', image: 'busybox' }] },
};
const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: { replicas: 2, selector: { matchLabels: { app: 'a' } }, template },
};

const running = new Set<Sandbox>();
function start(snapshot?: string): Sandbox {
  const sandbox = createTestSandbox(snapshot === undefined ? {} : { snapshot });
  running.add(sandbox);
  return sandbox;
}

async function createCluster() {
  const sandbox = start();
  call(sandbox, 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd);
  const thing = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'one' } };
  call(sandbox, 'POST', things, thing);
  call(sandbox, 'PATCH', `${deployments}/web?fieldManager=me`, deployment);
  await sandbox.settle();
  return sandbox;
}

const listOf = (sandbox: Sandbox, path: string) => {
  const { items, metadata } = call(sandbox, 'GET', path).body;
  return { items: items as readonly JsonObject[], metadata: metadata as JsonObject };
};

describe('sandbox: a restored snapshot', () => {
  // Deployments have deadlines: their timers would keep the test running.
  afterEach(() => {
    for (const sandbox of running) sandbox.stop();
    running.clear();
  });

  test('restores every object, including custom resources, unchanged', async () => {
    const before = await createCluster();
    const after = start(before.snapshotText());
    await after.settle();
    for (const path of [things, pods, deployments, '/api/v1/namespaces'])
      assert.deepEqual(listOf(after, path).items, listOf(before, path).items);
    assert.equal(listOf(after, pods).items.length, 2);
  });

  test('continues: versions increase, controllers run, dependents are garbage-collected', async () => {
    const before = await createCluster();
    const after = start(before.snapshotText());
    const version = Number(listOf(before, pods).metadata.resourceVersion);
    const scaled = { ...deployment, spec: { ...deployment.spec, replicas: 3 } };
    const answer = call(after, 'PATCH', `${deployments}/web?fieldManager=me`, scaled);
    assert.equal(answer.status, 200);
    assert.ok(Number((answer.body.metadata as JsonObject).resourceVersion) > version);
    await after.settle();
    assert.equal(listOf(after, pods).items.length, 3);
    call(after, 'DELETE', `${deployments}/web`);
    await after.settle();
    assert.equal(listOf(after, pods).items.length, 0);
  });

  test('controllers complete work that was pending', async () => {
    const before = start();
    call(before, 'PATCH', `${deployments}/web?fieldManager=me`, deployment);
    // Takes the snapshot before the controllers create the Pods.
    const after = start(before.snapshotText());
    await after.settle();
    assert.equal(listOf(after, pods).items.length, 2);
  });

  test('a watch from an earlier version gets 410', async () => {
    const before = await createCluster();
    const after = start(before.snapshotText());
    const version = Number(listOf(before, pods).metadata.resourceVersion) - 1;
    const answer = after.handle({
      method: 'GET',
      path: `${pods}?watch=1&resourceVersion=${version}`,
      headers: {},
      body: '',
    });
    assert.ok(typeof answer.body !== 'string');
    const { value } = await answer.body[Symbol.asyncIterator]().next();
    assert.match(value ?? '', /"type":"ERROR".*"code":410/);
  });

  for (const [text, problem] of [
    ['', /expected JSON/],
    ['{"format":"homeostat-world/1"', /expected JSON/],
    ['[]', /"format"/],
    ['{"format":"homeostat-world/2"}', /"format"/],
    ['{"format":"homeostat-world/1","version":1}', /"collections"/],
    [
      '{"format":"homeostat-world/1","version":1,"collections":{"/pods":[{"metadata":{"name":"a"}}]}}',
      /resourceVersion in "\/pods"/,
    ],
  ] as const) {
    test(`${JSON.stringify(text)} is not a valid snapshot`, () => {
      assert.throws(() => createTestSandbox({ snapshot: text }), problem);
    });
  }
});
