import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#util/json.ts';
import { createTestSandbox } from '../../../test/support/backends/index.ts';
import type { Sandbox } from '../index.ts';

function call(sandbox: Sandbox, method: string, path: string, body?: unknown): JsonObject {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const text = body === undefined ? '' : JSON.stringify(body);
  const answer = sandbox.handle({ method, path, headers: { 'content-type': type }, body: text });
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.body}`);
  return JSON.parse(String(answer.body));
}

const pods = '/api/v1/namespaces/default/pods';
const deployments = '/apis/apps/v1/namespaces/default/deployments';
const replicaSets = '/apis/apps/v1/namespaces/default/replicasets';
const jobs = '/apis/batch/v1/namespaces/default/jobs';

function items(sandbox: Sandbox, path: string): readonly JsonObject[] {
  return call(sandbox, 'GET', path).items as readonly JsonObject[];
}

function template(image: string, more = {}) {
  return {
    metadata: { labels: { app: 'web' } },
    spec: { containers: [{ name: 'c', image }], ...more },
  };
}

function deployment(spec: object) {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: { selector: { matchLabels: { app: 'web' } }, template: template('a:1'), ...spec },
  };
}

function conditions(object: JsonObject): Record<string, string> {
  const list = (object.status as JsonObject).conditions as readonly JsonObject[];
  return Object.fromEntries(list.map(({ type, status, reason }) => [type, `${status} ${reason}`]));
}

describe('sandbox/controllers/workload-controllers', () => {
  test('keeps conditions of other managers on a Deployment and its ReplicaSet', async () => {
    const sandbox = createTestSandbox();
    call(sandbox, 'POST', deployments, deployment({ replicas: 1 }));
    await sandbox.settle();
    const [{ metadata } = {}] = items(sandbox, replicaSets);
    const replicaSet = `${replicaSets}/${(metadata as JsonObject).name}`;
    const theirs = { type: 'Theirs', status: 'True', reason: 'Said' };
    for (const path of [`${deployments}/web`, replicaSet]) {
      const before = (call(sandbox, 'GET', path).status as JsonObject).conditions ?? [];
      const said = [...(before as readonly JsonObject[]), theirs];
      call(sandbox, 'PATCH', `${path}/status`, { status: { conditions: said } });
    }
    call(sandbox, 'PATCH', `${deployments}/web`, { spec: { replicas: 2 } });
    await sandbox.settle();
    for (const path of [`${deployments}/web`, replicaSet]) {
      const object = call(sandbox, 'GET', path);
      assert.equal((object.status as JsonObject).readyReplicas, 2);
      assert.equal(conditions(object).Theirs, 'True Said');
    }
    sandbox.stop();
  });

  test('a Deployment creates a ReplicaSet, which creates running pods', async () => {
    const sandbox = createTestSandbox();
    call(sandbox, 'POST', deployments, deployment({ replicas: 3 }));
    await sandbox.settle();
    const web = call(sandbox, 'GET', `${deployments}/web`);
    const { replicas, readyReplicas, updatedReplicas, availableReplicas } =
      web.status as JsonObject;
    assert.deepEqual([replicas, readyReplicas, updatedReplicas, availableReplicas], [3, 3, 3, 3]);
    assert.deepEqual(conditions(web), {
      Available: 'True MinimumReplicasAvailable',
      Progressing: 'True NewReplicaSetAvailable',
    });
    const phases = items(sandbox, pods).map(({ status }) => (status as JsonObject).phase);
    assert.deepEqual(phases, ['Running', 'Running', 'Running']);
    sandbox.stop();
  });

  test('scales up and down', async () => {
    const sandbox = createTestSandbox();
    call(sandbox, 'POST', deployments, deployment({ replicas: 2 }));
    await sandbox.settle();
    for (const replicas of [4, 1, 0]) {
      call(sandbox, 'PATCH', `${deployments}/web/scale`, { spec: { replicas } });
      await sandbox.settle();
      assert.equal(items(sandbox, pods).length, replicas);
    }
    sandbox.stop();
  });

  for (const type of ['RollingUpdate', 'Recreate']) {
    test(`a new template replaces all pods: ${type}`, async () => {
      const sandbox = createTestSandbox();
      call(sandbox, 'POST', deployments, deployment({ replicas: 3, strategy: { type } }));
      await sandbox.settle();
      const before = call(sandbox, 'GET', `${deployments}/web`).metadata as JsonObject;
      call(sandbox, 'PATCH', `${deployments}/web`, { spec: { template: template('a:2') } });
      await sandbox.settle();
      const web = call(sandbox, 'GET', `${deployments}/web`);
      const metadata = web.metadata as JsonObject;
      assert.equal(metadata.generation, Number(before.generation) + 1);
      assert.equal((web.status as JsonObject).observedGeneration, metadata.generation);
      const annotations = metadata.annotations as JsonObject;
      assert.equal(annotations['deployment.kubernetes.io/revision'], '2');
      const images = items(sandbox, pods).map(
        ({ spec }) => ((spec as JsonObject).containers as readonly JsonObject[])[0]?.image,
      );
      assert.deepEqual(images, ['a:2', 'a:2', 'a:2']);
      const sizes = items(sandbox, replicaSets).map(({ spec }) => (spec as JsonObject).replicas);
      assert.deepEqual([...sizes].sort(), [0, 3]);
      sandbox.stop();
    });
  }

  test('a Deployment is unavailable while its pods are not ready', async () => {
    const sandbox = createTestSandbox();
    const never = template('a:1');
    const annotations = { 'sandbox.homeostat.dev/outcome': 'never-ready' };
    const spec = { template: { ...never, metadata: { ...never.metadata, annotations } } };
    call(sandbox, 'POST', deployments, deployment(spec));
    await sandbox.settle();
    const web = call(sandbox, 'GET', `${deployments}/web`);
    assert.equal(conditions(web).Available, 'False MinimumReplicasUnavailable');
    sandbox.stop();
  });

  test('a pod that is deleted is replaced', async () => {
    const sandbox = createTestSandbox();
    call(sandbox, 'POST', deployments, deployment({ replicas: 1 }));
    await sandbox.settle();
    const name = () => items(sandbox, pods).map(({ metadata }) => (metadata as JsonObject).name)[0];
    const first = name();
    call(sandbox, 'DELETE', `${pods}/${first}`);
    await sandbox.settle();
    assert.equal(items(sandbox, pods).length, 1);
    assert.notEqual(name(), first);
    sandbox.stop();
  });

  test('deleting a Deployment deletes its ReplicaSets and pods', async () => {
    const sandbox = createTestSandbox();
    call(sandbox, 'POST', deployments, deployment({ replicas: 2 }));
    await sandbox.settle();
    call(sandbox, 'DELETE', `${deployments}/web`, { propagationPolicy: 'Foreground' });
    await sandbox.settle();
    for (const path of [deployments, replicaSets, pods]) assert.deepEqual(items(sandbox, path), []);
    sandbox.stop();
  });

  test('writes nothing when idle', async () => {
    const sandbox = createTestSandbox();
    call(sandbox, 'POST', deployments, deployment({ replicas: 2 }));
    await sandbox.settle();
    const version = () => (call(sandbox, 'GET', pods).metadata as JsonObject).resourceVersion;
    const before = version();
    call(sandbox, 'PATCH', `${deployments}/web`, {});
    await sandbox.settle();
    assert.equal(version(), before);
    sandbox.stop();
  });

  for (const [outcome, end, counts] of [
    ['', 'Complete', { succeeded: 3 }],
    ['fail', 'Failed', { failed: 2 }],
  ] as const) {
    test(`a Job whose pods ${outcome === '' ? 'succeed' : 'fail'} ends: ${end}`, async () => {
      const sandbox = createTestSandbox();
      const pod = template('a:1', { restartPolicy: 'Never' });
      const annotations = { 'sandbox.homeostat.dev/outcome': outcome };
      const spec = {
        completions: 3,
        parallelism: 1,
        backoffLimit: 1,
        template: { ...pod, metadata: { ...pod.metadata, annotations } },
      };
      const manifest = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'j' }, spec };
      call(sandbox, 'POST', jobs, manifest);
      await sandbox.settle();
      const job = call(sandbox, 'GET', `${jobs}/j`);
      assert.ok(conditions(job)[end]?.startsWith('True'), JSON.stringify(job.status));
      const status = job.status as JsonObject;
      for (const [name, count] of Object.entries(counts)) assert.equal(status[name], count);
      sandbox.stop();
    });
  }
});
