import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import { createTestSandbox } from '../../../test/support/backends/index.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import type { Sandbox } from '../index.ts';
import { fieldOf, listField, objectField } from '../json-fields.ts';

const core = '/api/v1/namespaces/default';
const apps = '/apis/apps/v1/namespaces/default';
const batch = '/apis/batch/v1/namespaces/default';
const selector = { matchLabels: { app: 'a' } };

function call(sandbox: Sandbox, method: string, path: string, body?: JsonObject): JsonObject {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const text = body === undefined ? '' : JSON.stringify(body);
  const answer = sandbox.handle({ method, path, headers: { 'content-type': type }, body: text });
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.body}`);
  return JSON.parse(String(answer.body));
}

function items(sandbox: Sandbox, path: string): readonly JsonObject[] {
  return listField(call(sandbox, 'GET', path), 'items').filter(isJsonObject);
}

function names(sandbox: Sandbox, path: string): readonly string[] {
  return items(sandbox, path).map((item) => String(objectField(item, 'metadata')?.name));
}

function at(object: JsonObject, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) => (isJsonObject(value) ? fieldOf(value, name) : undefined),
    object,
  );
}

const template = (image: string, more: JsonObject = {}): JsonObject => ({
  metadata: { labels: { app: 'a' } },
  spec: {
    containers: [{ name: 'c', image, ports: [{ name: 'http', containerPort: 8080 }] }],
    ...more,
  },
});

const statefulSet = (spec: JsonObject): JsonObject => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'db' },
  spec: { serviceName: 'db', selector, template: template('db:1'), ...spec },
});

const claim = {
  metadata: { name: 'data' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
};

describe('sandbox/controllers/stateful-set-controller', () => {
  test('one that is deleted without its dependents, and created again, adopts its Pods and revisions', async () => {
    const clock = new FakeClock();
    const sandbox = createTestSandbox({ clock });
    const sets = `${apps}/statefulsets`;
    call(sandbox, 'POST', sets, statefulSet({ replicas: 1 }));
    await clock.advance(60_000);
    const before = items(sandbox, `${core}/pods`).map((pod) => at(pod, 'metadata', 'uid'));
    call(sandbox, 'DELETE', `${sets}/db?propagationPolicy=Orphan`);
    await clock.advance(60_000);
    const { metadata } = call(sandbox, 'POST', sets, statefulSet({ replicas: 1 })) as {
      readonly metadata: JsonObject;
    };
    await clock.advance(60_000);
    const pods = items(sandbox, `${core}/pods`);
    assert.deepEqual(
      pods.map((pod) => at(pod, 'metadata', 'uid')),
      before,
    );
    const owned = [...pods, ...items(sandbox, `${apps}/controllerrevisions`)];
    assert.deepEqual(
      owned.map((object) =>
        JSON.stringify(at(object, 'metadata', 'ownerReferences')).includes(String(metadata.uid)),
      ),
      [true, true],
    );
    const found = call(sandbox, 'GET', `${sets}/db`);
    assert.deepEqual(
      [at(found, 'status', 'readyReplicas'), at(found, 'status', 'observedGeneration')],
      [1, 1],
    );
  });

  test('a rejected pod is an Event of its owner, which has a status, and not an error of the sandbox', async () => {
    const clock = new FakeClock();
    const sandbox = createTestSandbox({ clock });
    const name = 'n'.repeat(54);
    call(sandbox, 'POST', `${apps}/statefulsets`, { ...statefulSet({}), metadata: { name } });
    await clock.advance(100_000);
    const [event, ...others] = items(sandbox, `${core}/events`);
    assert.deepEqual([event?.type, event?.reason, others], ['Warning', 'FailedCreate', []]);
    assert.match(
      String(event?.message),
      /^Create Pod n{54}-0 in StatefulSet n{54} failed error: Pod "n{54}-0" is invalid: metadata\.labels: Invalid value: "n{54}-\w{10}": must be no more than 63 bytes$/,
    );
    const status = at(call(sandbox, 'GET', `${apps}/statefulsets/${name}`), 'status');
    assert.ok(isJsonObject(status));
    assert.deepEqual([status.observedGeneration, status.replicas], [1, 0]);
    assert.deepEqual(names(sandbox, `${core}/pods`), []);
  });

  test('pods have ordinals and their own claims', async () => {
    const sandbox = createTestSandbox();
    call(
      sandbox,
      'POST',
      `${apps}/statefulsets`,
      statefulSet({ replicas: 2, volumeClaimTemplates: [claim] }),
    );
    await sandbox.settle();
    assert.deepEqual(names(sandbox, `${core}/pods`), ['db-0', 'db-1']);
    const bound = items(sandbox, `${core}/persistentvolumeclaims`);
    assert.deepEqual(
      bound.map((one) => [at(one, 'metadata', 'name'), at(one, 'status', 'phase')]),
      [
        ['data-db-0', 'Bound'],
        ['data-db-1', 'Bound'],
      ],
    );
    const { status } = call(sandbox, 'GET', `${apps}/statefulsets/db`) as { status: JsonObject };
    assert.equal(status.readyReplicas, 2);
    assert.equal(status.currentRevision, status.updateRevision);
    sandbox.stop();
  });

  test('scaling down deletes the last pod and keeps its claim', async () => {
    const sandbox = createTestSandbox();
    call(
      sandbox,
      'POST',
      `${apps}/statefulsets`,
      statefulSet({ replicas: 3, volumeClaimTemplates: [claim] }),
    );
    await sandbox.settle();
    call(sandbox, 'PATCH', `${apps}/statefulsets/db`, { spec: { replicas: 1 } });
    await sandbox.settle();
    assert.deepEqual(names(sandbox, `${core}/pods`), ['db-0']);
    assert.equal(names(sandbox, `${core}/persistentvolumeclaims`).length, 3);
    sandbox.stop();
  });

  test('a new template replaces the pods from the partition on', async () => {
    const sandbox = createTestSandbox();
    const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { partition: 1 } };
    call(sandbox, 'POST', `${apps}/statefulsets`, statefulSet({ replicas: 2, updateStrategy }));
    await sandbox.settle();
    const image = { spec: { template: template('db:2') } };
    call(sandbox, 'PATCH', `${apps}/statefulsets/db`, image);
    await sandbox.settle();
    const images = items(sandbox, `${core}/pods`).map((pod) =>
      listField(objectField(pod, 'spec') ?? {}, 'containers').map((one) =>
        at(one as JsonObject, 'image'),
      ),
    );
    assert.deepEqual(images, [['db:1'], ['db:2']]);
    assert.equal(names(sandbox, `${apps}/controllerrevisions`).length, 2);
    sandbox.stop();
  });

  test('the next pod waits for the one before it', async () => {
    const sandbox = createTestSandbox();
    const annotations = { 'sandbox.homeostat.dev/outcome': 'never-ready' };
    const never = template('db:1');
    const metadata = { ...objectField(never, 'metadata'), annotations };
    call(
      sandbox,
      'POST',
      `${apps}/statefulsets`,
      statefulSet({ replicas: 2, template: { ...never, metadata } }),
    );
    await sandbox.settle();
    assert.deepEqual(names(sandbox, `${core}/pods`), ['db-0']);
    sandbox.stop();
  });
});

describe('sandbox/controllers/stateful-set-controller: intermediate states', () => {
  /** Sets the phase and the Ready condition of all pods. */
  async function bringOn(sandbox: Sandbox, phase: 'Running' | 'Failed' = 'Running') {
    for (const name of names(sandbox, `${core}/pods`)) {
      const conditions = [{ type: 'Ready', status: phase === 'Running' ? 'True' : 'False' }];
      call(sandbox, 'PATCH', `${core}/pods/${name}/status`, { status: { phase, conditions } });
    }
    await sandbox.settle();
  }

  test('a failed pod is recreated, with an Event', async () => {
    const sandbox = createTestSandbox({ runsPods: false });
    call(sandbox, 'POST', `${apps}/statefulsets`, statefulSet({ replicas: 1 }));
    await sandbox.settle();
    const [before] = items(sandbox, `${core}/pods`);
    await bringOn(sandbox, 'Failed');
    const [after] = items(sandbox, `${core}/pods`);
    assert.notEqual(at(after ?? {}, 'metadata', 'uid'), at(before ?? {}, 'metadata', 'uid'));
    const reasons = items(sandbox, `${core}/events`).map((event) => at(event, 'reason'));
    assert.deepEqual(reasons.sort(), [
      'RecreatingFailedPod',
      'SuccessfulCreate',
      'SuccessfulCreate',
      'SuccessfulDelete',
    ]);
    sandbox.stop();
  });

  test('a pod that is recreated during an update keeps the template of its ordinal', async () => {
    const sandbox = createTestSandbox({ runsPods: false });
    call(sandbox, 'POST', `${apps}/statefulsets`, statefulSet({ replicas: 2 }));
    await sandbox.settle();
    for (let times = 0; times < 2; times++) await bringOn(sandbox);
    const image = { spec: { template: template('db:2') } };
    call(sandbox, 'PATCH', `${apps}/statefulsets/db`, image);
    await sandbox.settle();
    call(sandbox, 'DELETE', `${core}/pods/db-0`);
    await sandbox.settle();
    const images = items(sandbox, `${core}/pods`).map((pod) =>
      at(listField(objectField(pod, 'spec') ?? {}, 'containers')[0] as JsonObject, 'image'),
    );
    assert.deepEqual(images, ['db:1', 'db:2']);
    sandbox.stop();
  });
});

describe('sandbox/controllers/daemon-set-controller', () => {
  test('a pod is bound by its affinity; a failed pod is recreated', async () => {
    const sandbox = createTestSandbox({ runsPods: false });
    const set = (name: string): JsonObject => ({
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name },
      spec: { selector, template: template('agent:1') },
    });
    call(sandbox, 'POST', `${apps}/daemonsets`, set('all'));
    await sandbox.settle();
    const [pod] = items(sandbox, `${core}/pods`);
    assert.ok(pod !== undefined);
    const spec = objectField(pod, 'spec') ?? {};
    assert.equal(spec.nodeName, undefined);
    assert.match(JSON.stringify(spec.affinity), /"metadata.name".*"sandbox-node"/);
    assert.equal(listField(spec, 'tolerations').length, 6);
    const path = `${core}/pods/${at(pod, 'metadata', 'name')}`;
    call(sandbox, 'PATCH', `${path}/status`, { status: { phase: 'Failed' } });
    await sandbox.settle();
    const [another, ...more] = items(sandbox, `${core}/pods`);
    assert.deepEqual(more, []);
    assert.notEqual(at(another ?? {}, 'metadata', 'uid'), at(pod, 'metadata', 'uid'));
    sandbox.stop();
  });

  test('a pod runs on every selected node', async () => {
    const sandbox = createTestSandbox();
    const node = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'n', labels: { disk: 'ssd' } },
    };
    call(sandbox, 'POST', '/api/v1/nodes', node);
    const make = (name: string, more: JsonObject): JsonObject => ({
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name },
      spec: { selector, template: template('agent:1', more) },
    });
    call(sandbox, 'POST', `${apps}/daemonsets`, make('all', {}));
    call(sandbox, 'POST', `${apps}/daemonsets`, make('some', { nodeSelector: { disk: 'ssd' } }));
    await sandbox.settle();
    const counts = items(sandbox, `${apps}/daemonsets`).map((set) => [
      at(set, 'metadata', 'name'),
      at(set, 'status', 'numberReady'),
      at(set, 'status', 'desiredNumberScheduled'),
    ]);
    assert.deepEqual(counts, [
      ['all', 2, 2],
      ['some', 1, 1],
    ]);
    call(sandbox, 'DELETE', '/api/v1/nodes/n');
    await sandbox.settle();
    assert.equal(names(sandbox, `${core}/pods`).length, 1);
    sandbox.stop();
  });
});

describe('sandbox/controllers/endpoint-slice-controller', () => {
  test('a Service has an address, and its EndpointSlice lists its pods', async () => {
    const sandbox = createTestSandbox();
    call(sandbox, 'POST', `${core}/pods`, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'a', labels: { app: 'a' } },
      spec: objectField(template('web'), 'spec') ?? {},
    });
    const service = call(sandbox, 'POST', `${core}/services`, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web' },
      spec: { selector: { app: 'a' }, ports: [{ port: 80, targetPort: 'http' }] },
    });
    assert.match(String(at(service, 'spec', 'clusterIP')), /^10\.96\./);
    await sandbox.settle();
    const [slice] = items(sandbox, '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices');
    assert.ok(slice !== undefined);
    const [endpoint] = listField(slice, 'endpoints').filter(isJsonObject);
    assert.equal(at(endpoint ?? {}, 'conditions', 'ready'), true);
    assert.equal(at(endpoint ?? {}, 'targetRef', 'name'), 'a');
    assert.deepEqual(listField(slice, 'ports'), [{ name: '', protocol: 'TCP', port: 8080 }]);
    sandbox.stop();
  });
});

describe('sandbox/controllers/volume-controller', () => {
  for (const how of ['PATCH', 'PUT', 'apply'] as const) {
    test(`a claim that has grown has a larger volume, and does not shrink to an earlier size: ${how}`, async () => {
      const sandbox = createTestSandbox();
      const path = `${core}/persistentvolumeclaims/data`;
      const head = { apiVersion: 'v1', kind: 'PersistentVolumeClaim' };
      call(sandbox, 'POST', `${core}/persistentvolumeclaims`, { ...head, ...claim });
      await sandbox.settle();
      const sized = (storage: string) => ({ spec: { resources: { requests: { storage } } } });
      call(sandbox, 'PATCH', path, sized('3Gi'));
      await sandbox.settle();
      const live = call(sandbox, 'GET', path);
      assert.equal(at(live, 'status', 'capacity', 'storage'), '3Gi');
      const [volume] = items(sandbox, '/api/v1/persistentvolumes');
      assert.equal(volume && at(volume, 'spec', 'capacity', 'storage'), '3Gi');
      const whole = { ...live, spec: { ...objectField(live, 'spec'), ...sized('2Gi').spec } };
      const small = { ...head, metadata: { name: 'data' }, ...sized('2Gi') };
      const [method, type, body] = {
        PATCH: ['PATCH', 'application/merge-patch+json', sized('2Gi')],
        PUT: ['PUT', 'application/json', whole],
        apply: ['PATCH', 'application/apply-patch+yaml', small],
      }[how] as [string, string, JsonObject];
      const answer = sandbox.handle({
        method,
        path: how === 'apply' ? `${path}?fieldManager=a&force=true` : path,
        body: JSON.stringify(body),
        headers: { 'content-type': type },
      });
      assert.equal(answer.status, 422);
      assert.match(String(answer.body), /field can not be less than status\.capacity/);
      sandbox.stop();
    });
  }

  test('a claim in use is deleted after its pod, together with its volume', async () => {
    const sandbox = createTestSandbox();
    const head = { apiVersion: 'v1', kind: 'PersistentVolumeClaim' };
    call(sandbox, 'POST', `${core}/persistentvolumeclaims`, { ...head, ...claim });
    const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }];
    call(sandbox, 'POST', `${core}/pods`, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'a' },
      spec: { ...objectField(template('web'), 'spec'), volumes },
    });
    await sandbox.settle();
    assert.equal(names(sandbox, '/api/v1/persistentvolumes').length, 1);
    call(sandbox, 'DELETE', `${core}/persistentvolumeclaims/data`);
    await sandbox.settle();
    assert.deepEqual(names(sandbox, `${core}/persistentvolumeclaims`), ['data']);
    call(sandbox, 'DELETE', `${core}/pods/a`);
    await sandbox.settle();
    assert.deepEqual(names(sandbox, `${core}/persistentvolumeclaims`), []);
    assert.deepEqual(names(sandbox, '/api/v1/persistentvolumes'), []);
    sandbox.stop();
  });
});

describe('sandbox/controllers/cron-job-controller', () => {
  const cronJob = (spec: JsonObject): JsonObject => ({
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: 'c' },
    spec: {
      schedule: '*/2 * * * *',
      jobTemplate: { spec: { template: template('job', { restartPolicy: 'Never' }) } },
      ...spec,
    },
  });

  test('creates Jobs on schedule and keeps the history limit', async () => {
    const clock = new FakeClock();
    const sandbox = createTestSandbox({ clock });
    call(sandbox, 'POST', `${batch}/cronjobs`, cronJob({ successfulJobsHistoryLimit: 2 }));
    await clock.advance(1000);
    assert.deepEqual(names(sandbox, `${batch}/jobs`), []);
    await clock.advance(10 * 60_000);
    assert.equal(names(sandbox, `${batch}/jobs`).length, 2);
    const cron = call(sandbox, 'GET', `${batch}/cronjobs/c`);
    assert.equal(typeof at(cron, 'status', 'lastScheduleTime'), 'string');
    sandbox.stop();
  });

  test('a suspended CronJob creates no Jobs', async () => {
    const clock = new FakeClock();
    const sandbox = createTestSandbox({ clock });
    call(sandbox, 'POST', `${batch}/cronjobs`, cronJob({ suspend: true }));
    await clock.advance(10 * 60_000);
    assert.deepEqual(names(sandbox, `${batch}/jobs`), []);
    sandbox.stop();
  });
});
