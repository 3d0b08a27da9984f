import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { get } from 'node:https';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { KubeObject } from '#util/kube-object.ts';
import {
  InstantKubelet,
  isAlive,
  startControlPlane,
  useControlPlane,
} from '../support/control-plane/index.ts';
import { untilDead, untilRemoved } from '../support/control-plane/process-end.ts';
import { customKind } from '../support/definitions.ts';

const shared = useControlPlane({ audit: true, users: ['visitor'] });

shared.describe('integration/control-plane', () => {
  test('gives a Deployment its ReplicaSet and Pods, and its status once they are ready', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    await client.apply(deployment(namespace, 2));
    const pods = `/api/v1/namespaces/${namespace}/pods`;
    await client.untilList(pods, (items) => items.length === 2);
    const sets = await client.list(`/apis/apps/v1/namespaces/${namespace}/replicasets`);
    assert.equal(sets.length, 1);
    assert.equal(sets[0]?.kind, 'ReplicaSet');

    const names = await new InstantKubelet(client).runPods({ namespace, selector: 'app=web' });
    assert.equal(names.length, 2);
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments/web`;
    await client.untilObject<Deployment>(path, (object) => object?.status?.readyReplicas === 2);
  });

  test('keeps Pods running as they come, and completes those of a Job', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const kubelet = new InstantKubelet(client);
    kubelet.start({ namespace, selector: 'app=web' });
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments/web`;
    await client.apply(deployment(namespace, 1));
    await client.untilObject<Deployment>(path, (object) => object?.status?.readyReplicas === 1);
    await client.apply(deployment(namespace, 3));
    await client.untilObject<Deployment>(path, (object) => object?.status?.readyReplicas === 3);
    await kubelet.stop();

    await client.apply(job(namespace));
    await kubelet.completeJob(namespace, 'once');
    const jobPath = `/apis/batch/v1/namespaces/${namespace}/jobs/once`;
    const done = await client.untilObject<Job>(
      jobPath,
      (object) => object?.status?.succeeded === 1,
    );
    assert.ok(done?.status?.conditions?.some(({ type }) => type === 'Complete'));
  });

  test('removes the dependents of a deleted owner', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const owner = await client.apply(configMap(namespace, 'owner'));
    const { name, uid = '' } = owner.metadata;
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name, uid };
    await client.apply(configMap(namespace, 'dependent', [reference]));
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    await client.delete(`${path}/owner`);
    await client.untilGone(`${path}/dependent`);
  });

  test('removes the dependents of an owner whose kind was installed a moment ago', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    await client.installCrd(customKind({ group: 'example.com', kind: 'Widget' }));
    await shared.plane.restartControllerManager();
    const metadata = { name: 'owner', namespace };
    const owner = await client.apply({ apiVersion: 'example.com/v1', kind: 'Widget', metadata });
    const { name, uid = '' } = owner.metadata;
    const reference = { apiVersion: 'example.com/v1', kind: 'Widget', name, uid };
    await client.apply(configMap(namespace, 'dependent', [reference]));
    await client.delete(`/apis/example.com/v1/namespaces/${namespace}/widgets/owner`);
    await client.untilGone(`/api/v1/namespaces/${namespace}/configmaps/dependent`);
  });

  test('keeps its data, address and certificate over a restart, and waits through it', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const { server, caCertificate } = shared.plane;
    const before = await client.apply(configMap(namespace, 'kept'));
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const later = client.untilObject(`${path}/later`, (object) => object !== undefined);
    await shared.plane.restartApiServer();
    const after = await client.get(`${path}/kept`);
    assert.equal(after?.metadata.uid, before.metadata.uid);
    assert.deepEqual([shared.plane.server, shared.plane.caCertificate], [server, caCertificate]);
    await client.apply(configMap(namespace, 'later'));
    await later;
  });

  test('comes back after a crash of the API server', async () => {
    const namespace = await shared.namespace();
    await shared.plane.stopApiServer(0);
    const path = `/api/v1/namespaces/${namespace}`;
    await assert.rejects(shared.client().request({ method: 'GET', path }), {
      code: 'ECONNREFUSED',
    });
    await shared.plane.startApiServer();
    assert.equal((await shared.client().get(path))?.metadata.name, namespace);
  });

  test('has a certificate that verifies', async () => {
    const { server, caCertificate } = shared.plane;
    const [response] = await once(
      get(`${server}/livez`, { ca: caCertificate, agent: false }),
      'response',
    );
    response.resume();
    assert.equal(response.socket.authorized, true);
    const unverified = once(get(`${server}/livez`, { agent: false }), 'response');
    await assert.rejects(unverified, { code: 'SELF_SIGNED_CERT_IN_CHAIN' });
  });

  test('lets users do what RBAC gives them', async () => {
    const request = { method: 'GET', path: '/api/v1/namespaces' };
    assert.equal((await shared.client('visitor').request(request)).status, 403);
    assert.equal((await shared.client('operator').request(request)).status, 200);
    assert.throws(() => shared.client('nobody'), /Expected a user/);
  });

  test('counts the requests of a user, and knows when it is quiet', async () => {
    const namespace = await shared.namespace();
    const client = shared.client('operator');
    await client.pathOf(configMap(namespace, 'counted'));
    const since = shared.audit.mark();
    await client.apply(configMap(namespace, 'counted'));
    await client.get(`/api/v1/namespaces/${namespace}/configmaps/missing`);
    await client.request({ method: 'GET', path: '/apis' });
    await shared.client('admin').list(`/api/v1/namespaces/${namespace}/configmaps`);
    await shared.audit.untilSeen((entries) => entries.length >= 2, { user: 'operator', since });
    await shared.audit.quiet(100);
    assert.deepEqual(shared.audit.count({ since }), {
      total: 2,
      writes: 1,
      events: 0,
      by: { 'patch configmaps': 1, 'get configmaps': 1 },
      errors: { 'get configmaps 404': 1 },
    });
  });

  test('says what it saw when it waited in vain', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    await client.apply(configMap(namespace, 'seen'));
    const limit = new AbortController();
    const waiting = client.untilObject(
      `/api/v1/namespaces/${namespace}/configmaps/seen`,
      (object) => {
        if (object !== undefined) limit.abort();
        return object === undefined;
      },
      { limit: limit.signal },
    );
    await assert.rejects(waiting, /last seen: .*"name": "seen"/s);
  });

  test('leaves nothing behind after stop', async () => {
    const plane = await startControlPlane();
    const pids = Object.values(plane.pids) as number[];
    assert.deepEqual(pids.map(isAlive), [true, true, true]);
    await plane.stop();
    assert.deepEqual(pids.map(isAlive), [false, false, false]);
    assert.equal(existsSync(plane.folder), false);
  });

  test('leaves nothing behind after SIGKILL of the process that started it', async () => {
    const script = fileURLToPath(new URL('../support/control-plane/main.ts', import.meta.url));
    const parent = spawn(process.execPath, [script, '--json'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = await once(createInterface({ input: parent.stdout }), 'line');
    const { pids, folder } = JSON.parse(line) as { pids: Record<string, number>; folder: string };
    const all = Object.values(pids);
    assert.deepEqual(all.map(isAlive), [true, true, true]);
    parent.kill('SIGKILL');
    await untilDead(all);
    await untilRemoved(folder);
  });
});

interface Deployment extends KubeObject {
  readonly status?: { readonly readyReplicas?: number };
}

interface Job extends KubeObject {
  readonly status?: {
    readonly succeeded?: number;
    readonly conditions?: readonly { readonly type: string }[];
  };
}

function configMap(
  namespace: string,
  name: string,
  ownerReferences: KubeObject['metadata']['ownerReferences'] = [],
): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, ownerReferences } };
}

function deployment(namespace: string, replicas: number): KubeObject {
  const labels = { app: 'web' };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web' }] } },
    },
  };
}

function job(namespace: string): KubeObject {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'once', namespace },
    spec: {
      template: {
        spec: { restartPolicy: 'Never', containers: [{ name: 'once', image: 'once' }] },
      },
    },
  };
}
