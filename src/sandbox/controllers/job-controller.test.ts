import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#util/json.ts';
import { createTestSandbox } from '../../../test/support/backends/index.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import type { Sandbox } from '../index.ts';
import { indexesText, parseIndexes } from './job-pods.ts';

const jobs = '/apis/batch/v1/namespaces/default/jobs';
const pods = '/api/v1/namespaces/default/pods';

function call(sandbox: Sandbox, method: string, path: string, body?: unknown): JsonObject {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const text = body === undefined ? '' : JSON.stringify(body);
  const answer = sandbox.handle({ method, path, headers: { 'content-type': type }, body: text });
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.body}`);
  return JSON.parse(String(answer.body));
}

function job(spec: JsonObject, annotations: JsonObject = {}): JsonObject {
  const containers = [{ name: 'c', image: 'a' }];
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'work' },
    spec: {
      template: { metadata: { annotations }, spec: { restartPolicy: 'Never', containers } },
      ...spec,
    },
  };
}

function metadataOf(object: JsonObject): JsonObject {
  return object.metadata as JsonObject;
}

function podsOf(sandbox: Sandbox): readonly JsonObject[] {
  return call(sandbox, 'GET', pods).items as readonly JsonObject[];
}

function statusOf(sandbox: Sandbox): JsonObject {
  return call(sandbox, 'GET', `${jobs}/work`).status as JsonObject;
}

function eventsOf(sandbox: Sandbox): readonly string[] {
  const { items } = call(sandbox, 'GET', '/api/v1/namespaces/default/events');
  return (items as readonly JsonObject[])
    .filter(({ involvedObject }) => (involvedObject as JsonObject).kind === 'Job')
    .map(({ type, reason }) => `${type} ${reason}`)
    .sort();
}

describe('sandbox/controllers/job-controller', () => {
  test('a Job beyond its backoff limit fails, with an Event', async () => {
    const sandbox = createTestSandbox();
    const fails = { 'sandbox.homeostat.dev/outcome': 'fail' };
    call(sandbox, 'POST', jobs, job({ backoffLimit: 1 }, fails));
    await sandbox.settle();
    assert.equal(statusOf(sandbox).failed, 2);
    assert.deepEqual(eventsOf(sandbox), [
      'Normal SuccessfulCreate',
      'Normal SuccessfulCreate',
      'Warning BackoffLimitExceeded',
    ]);
    sandbox.stop();
  });

  test('an Indexed Job has a pod for each index; counted pods have no finalizer', async () => {
    const sandbox = createTestSandbox();
    call(sandbox, 'POST', jobs, job({ completionMode: 'Indexed', completions: 3, parallelism: 2 }));
    await sandbox.settle();
    assert.deepEqual([statusOf(sandbox).succeeded, statusOf(sandbox).completedIndexes], [3, '0-2']);
    const spec = podsOf(sandbox).map((pod) => (pod.spec as JsonObject).hostname);
    assert.deepEqual(spec.sort(), ['work-0', 'work-1', 'work-2']);
    for (const pod of podsOf(sandbox)) assert.equal(metadataOf(pod).finalizers, undefined);
    sandbox.stop();
  });

  test('without completions, one success stops the creation of pods', async () => {
    const sandbox = createTestSandbox({ runsPods: false });
    call(sandbox, 'POST', jobs, job({ parallelism: 2 }));
    await sandbox.settle();
    const [first, second] = podsOf(sandbox).map((pod) => String(metadataOf(pod).name));
    for (const [name, ended] of [
      [first, 0],
      [second, 1],
    ] as const) {
      assert.equal(Boolean(statusOf(sandbox).completionTime), false);
      call(sandbox, 'PATCH', `${pods}/${name}/status`, { status: { phase: 'Succeeded' } });
      await sandbox.settle();
      assert.equal(podsOf(sandbox).length, 2, `after ${ended}`);
    }
    assert.equal(Boolean(statusOf(sandbox).completionTime), true);
    sandbox.stop();
  });

  test('suspending a Job deletes its pods, resuming recreates them', async () => {
    const sandbox = createTestSandbox({ runsPods: false });
    call(sandbox, 'POST', jobs, job({}));
    await sandbox.settle();
    call(sandbox, 'PATCH', `${jobs}/work`, { spec: { suspend: true } });
    await sandbox.settle();
    assert.deepEqual(podsOf(sandbox), []);
    assert.deepEqual(
      [statusOf(sandbox).startTime, statusOf(sandbox).failed],
      [undefined, undefined],
    );
    call(sandbox, 'PATCH', `${jobs}/work`, { spec: { suspend: false } });
    await sandbox.settle();
    assert.equal(statusOf(sandbox).active, 1);
    sandbox.stop();
  });

  test('a Job beyond its deadline fails, and its pods are deleted', async () => {
    const clock = new FakeClock();
    const sandbox = createTestSandbox({ clock, runsPods: false });
    call(sandbox, 'POST', jobs, job({ activeDeadlineSeconds: 30 }));
    await clock.advance(29_000);
    assert.equal(statusOf(sandbox).active, 1);
    await clock.advance(2_000);
    assert.deepEqual([statusOf(sandbox).active, statusOf(sandbox).failed], [undefined, 1]);
    assert.deepEqual(podsOf(sandbox), []);
    sandbox.stop();
  });

  test('a finished Job is deleted after its time to live', async () => {
    const clock = new FakeClock();
    const sandbox = createTestSandbox({ clock });
    call(sandbox, 'POST', jobs, job({ ttlSecondsAfterFinished: 60 }));
    await clock.advance(1_000);
    assert.equal(statusOf(sandbox).succeeded, 1);
    await clock.advance(58_000);
    assert.equal(statusOf(sandbox).succeeded, 1);
    await clock.advance(3_000);
    assert.deepEqual(call(sandbox, 'GET', jobs).items, []);
    assert.deepEqual(podsOf(sandbox), []);
    sandbox.stop();
  });

  test('uncounted pods are deleted with their Job', async () => {
    const sandbox = createTestSandbox({ runsPods: false });
    call(sandbox, 'POST', jobs, job({ completions: 2, parallelism: 2 }));
    await sandbox.settle();
    assert.equal(podsOf(sandbox).length, 2);
    call(sandbox, 'DELETE', `${jobs}/work`, { propagationPolicy: 'Background' });
    await sandbox.settle();
    assert.deepEqual(podsOf(sandbox), []);
    sandbox.stop();
  });

  test('a Job without labels gets those of its template and its selector', () => {
    const sandbox = createTestSandbox({ controllers: false });
    const { spec, ...others } = job({});
    const template = (spec as JsonObject).template as JsonObject;
    const labelled = { ...template, metadata: { labels: { app: 'work' } } };
    const made = call(sandbox, 'POST', jobs, { ...others, spec: { template: labelled } });
    assert.deepEqual(Object.keys(metadataOf(made).labels as JsonObject).sort(), [
      'app',
      'batch.kubernetes.io/controller-uid',
      'batch.kubernetes.io/job-name',
      'controller-uid',
      'job-name',
    ]);
    sandbox.stop();
  });

  for (const [indexes, text] of [
    [[], ''],
    [[2, 0], '0,2'],
    [[0, 1], '0,1'],
    [[5, 3, 4, 1], '1,3-5'],
  ] as const)
    test(`formats the indexes ${indexes} as "${text}", and parses them`, () => {
      assert.equal(indexesText(indexes), text);
      assert.deepEqual(
        parseIndexes(text),
        indexes.toSorted((a, b) => a - b),
      );
    });
});
