import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#util/json.ts';
import { createTestSandbox } from '../../../test/support/backends/index.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import type { Sandbox } from '../index.ts';

const deployments = '/apis/apps/v1/namespaces/default/deployments';
const replicaSets = '/apis/apps/v1/namespaces/default/replicasets';
const labels = { app: 'web' };

function call(sandbox: Sandbox, method: string, path: string, body?: unknown): JsonObject {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const text = body === undefined ? '' : JSON.stringify(body);
  const answer = sandbox.handle({ method, path, headers: { 'content-type': type }, body: text });
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.body}`);
  return JSON.parse(String(answer.body));
}

function template(image: string, outcome = ''): JsonObject {
  const annotations = outcome === '' ? {} : { 'sandbox.homeostat.dev/outcome': outcome };
  return { metadata: { labels, annotations }, spec: { containers: [{ name: 'c', image }] } };
}

function deployment(spec: JsonObject): JsonObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: { selector: { matchLabels: labels }, template: template('a:1'), ...spec },
  };
}

function progressOf(sandbox: Sandbox): string {
  const { status } = call(sandbox, 'GET', `${deployments}/web`) as { status: JsonObject };
  const conditions = status.conditions as readonly JsonObject[];
  const progress = conditions.find(({ type }) => type === 'Progressing');
  return `${progress?.status} ${progress?.reason}`;
}

function sets(sandbox: Sandbox): readonly JsonObject[] {
  return call(sandbox, 'GET', replicaSets).items as readonly JsonObject[];
}

function annotationsOf({ metadata }: JsonObject): Record<string, string> {
  return (metadata as { annotations: Record<string, string> }).annotations;
}

describe('sandbox/controllers/deployment-controller', () => {
  test('a rollout without progress fails after its deadline', async () => {
    const clock = new FakeClock();
    const sandbox = createTestSandbox({ clock });
    const never = template('a:1', 'never-ready');
    call(sandbox, 'POST', deployments, deployment({ template: never, progressDeadlineSeconds: 5 }));
    await clock.advance(4_000);
    assert.equal(progressOf(sandbox), 'True ReplicaSetUpdated');
    await clock.advance(4_000);
    assert.equal(progressOf(sandbox), 'False ProgressDeadlineExceeded');
    call(sandbox, 'PATCH', `${deployments}/web`, {
      spec: { template: { metadata: { annotations: null } } },
    });
    await clock.advance(100);
    assert.equal(progressOf(sandbox), 'True NewReplicaSetAvailable');
    sandbox.stop();
  });

  test('a paused Deployment is scaled and keeps its template until it is resumed', async () => {
    const sandbox = createTestSandbox();
    call(sandbox, 'POST', deployments, deployment({ replicas: 1 }));
    await sandbox.settle();
    const spec = { paused: true, replicas: 2, template: template('a:2') };
    call(sandbox, 'PATCH', `${deployments}/web`, { spec });
    await sandbox.settle();
    assert.equal(progressOf(sandbox), 'Unknown DeploymentPaused');
    assert.deepEqual(
      sets(sandbox).map((set) => (set.spec as JsonObject).replicas),
      [2],
    );
    call(sandbox, 'PATCH', `${deployments}/web`, { spec: { paused: null } });
    await sandbox.settle();
    assert.equal(progressOf(sandbox), 'True NewReplicaSetAvailable');
    assert.equal(sets(sandbox).length, 2);
    sandbox.stop();
  });

  test('a ReplicaSet that is the newest again lists its earlier revisions', async () => {
    const sandbox = createTestSandbox();
    call(sandbox, 'POST', deployments, deployment({ replicas: 1 }));
    await sandbox.settle();
    for (const image of ['a:2', 'a:1', 'a:2', 'a:1']) {
      const spec = { template: { spec: { containers: [{ name: 'c', image }] } } };
      call(sandbox, 'PATCH', `${deployments}/web`, { spec });
      await sandbox.settle();
    }
    const reported = sets(sandbox).map((set) => {
      const annotations = annotationsOf(set);
      return [
        annotations['deployment.kubernetes.io/revision'],
        annotations['deployment.kubernetes.io/revision-history'],
        annotations['deployment.kubernetes.io/desired-replicas'],
        annotations['deployment.kubernetes.io/max-replicas'],
      ];
    });
    assert.deepEqual(reported.sort(), [
      ['4', '2', '1', '2'],
      ['5', '1,3', '1', '2'],
    ]);
    sandbox.stop();
  });

  test('pods are available only after minReadySeconds', async () => {
    const clock = new FakeClock();
    const sandbox = createTestSandbox({ clock });
    call(sandbox, 'POST', deployments, deployment({ replicas: 1, minReadySeconds: 10 }));
    await clock.advance(8_000);
    const status = () => call(sandbox, 'GET', `${deployments}/web`).status as JsonObject;
    assert.deepEqual([status().readyReplicas, status().availableReplicas], [1, undefined]);
    await clock.advance(4_000);
    assert.deepEqual([status().readyReplicas, status().availableReplicas], [1, 1]);
    sandbox.stop();
  });

  test('an orphaned ReplicaSet is adopted', async () => {
    const sandbox = createTestSandbox();
    call(sandbox, 'POST', deployments, deployment({ replicas: 1 }));
    await sandbox.settle();
    const [before = {}] = sets(sandbox);
    call(sandbox, 'DELETE', `${deployments}/web`, { propagationPolicy: 'Orphan' });
    await sandbox.settle();
    call(sandbox, 'POST', deployments, deployment({ replicas: 1 }));
    await sandbox.settle();
    const [after = {}, ...others] = sets(sandbox);
    assert.deepEqual(others, []);
    assert.equal((after.metadata as JsonObject).uid, (before.metadata as JsonObject).uid);
    const owners = (after.metadata as JsonObject).ownerReferences as readonly JsonObject[];
    assert.deepEqual(
      owners.map(({ kind, name }) => [kind, name]),
      [['Deployment', 'web']],
    );
    sandbox.stop();
  });
});
