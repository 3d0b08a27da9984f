import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  type ClusterConfig,
  createKubeCluster,
  type KubeCluster,
  KubeError,
  loadKubeConfig,
} from '../../src/kube/index.ts';
import { createSystemClock } from '../../src/util/clock.ts';
import { type Gvk, gvkOf } from '../../src/util/gvk.ts';
import type { KubeObject } from '../../src/util/kube-object.ts';
import { createSystemRandom } from '../../src/util/random.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { freshMetrics, silentLogger } from '../support/silent-telemetry.ts';

const shared = useControlPlane({ audit: true, users: ['nobody', 'reader'] });
const flow = { name: 'test', priority: 'world' } as const;
const configMap = gvkOf('v1', 'ConfigMap');
const deployment = gvkOf('apps/v1', 'Deployment');
const otherUid = 'b0d0d0d0-0000-0000-0000-000000000000';

describe('integration/kube-client', { skip: shared.skip, timeout: 120_000 }, () => {
  const signal = new AbortController().signal;
  const clusters: KubeCluster[] = [];
  let folder = '';
  let cluster: KubeCluster;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'homeostat-kube-client-'));
    cluster = await connect(shared.plane.kubeconfigPath());
  });

  after(async () => {
    await Promise.all(clusters.map((each) => each.close()));
    if (folder !== '') rmSync(folder, { recursive: true });
  });

  async function connect(kubeconfig: string): Promise<KubeCluster> {
    return connectTo(await loadKubeConfig({ kubeconfig }));
  }

  function connectTo(config: ClusterConfig): KubeCluster {
    const made = createKubeCluster({
      config,
      clock: createSystemClock(),
      random: createSystemRandom(),
      logger: silentLogger(),
      metrics: freshMetrics(),
      connections: 4,
    });
    clusters.push(made);
    return made;
  }

  function write(name: string, text: string): string {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  }

  function apply(
    manifest: KubeObject,
    options: { force?: boolean; manager?: string; status?: true } = {},
  ) {
    const { force = true, manager = 'homeostat/test', status } = options;
    return cluster.apply(
      manifest,
      { flow, fieldManager: manager, force, ...(status ? { subresource: 'status' as const } : {}) },
      signal,
    );
  }

  function aConfigMap(
    namespace: string,
    changes: Partial<Record<string, unknown>> = {},
  ): KubeObject {
    const { metadata, ...rest } = changes as { metadata?: object };
    return {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a', namespace, ...metadata },
      data: { a: '1' },
      ...rest,
    };
  }

  function aDeployment(namespace: string, spec: object = {}): KubeObject {
    const labels = { app: 'a' };
    return {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'a', namespace },
      spec: {
        replicas: 0,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } },
        ...spec,
      },
    };
  }

  describe('writes', () => {
    test('an apply creates, a second one changes, a third writes nothing', async () => {
      const namespace = await shared.namespace();
      const first = await apply(aConfigMap(namespace));
      assert.equal(first.created, true);
      const second = await apply(aConfigMap(namespace, { data: { a: '2' } }));
      assert.equal(second.created, false);
      assert.deepEqual(second.stored.object.data, { a: '2' });
      const third = await apply(aConfigMap(namespace, { data: { a: '2' } }));
      const version = (stored: KubeObject) => stored.metadata.resourceVersion;
      assert.equal(version(third.stored.object), version(second.stored.object));
      assert.deepEqual(third.stored.appliedBy, ['homeostat/test']);
    });

    test('a status apply touches the status only', async () => {
      const namespace = await shared.namespace();
      await apply(aDeployment(namespace));
      const { stored } = await apply(
        { ...aDeployment(namespace, { replicas: 7 }), status: { observedGeneration: 9 } },
        { status: true, manager: 'homeostat/test.status' },
      );
      const { spec, status } = stored.object as unknown as Record<string, Record<string, unknown>>;
      assert.equal(spec?.replicas, 0);
      assert.equal(status?.observedGeneration, 9);
    });

    test('a get reads, and undefined says that there is none', async () => {
      const namespace = await shared.namespace();
      await apply(aConfigMap(namespace));
      const ref = { gvk: configMap, namespace, name: 'a' };
      const found = await cluster.get(ref, { flow }, signal);
      assert.deepEqual(found?.object.data, { a: '1' });
      assert.equal(found?.object.metadata.uid?.length, 36);
      assert.equal(await cluster.get({ ...ref, name: 'b' }, { flow }, signal), undefined);
    });

    test('a delete of a plain object, of one with a finalizer, of one that is gone', async () => {
      const namespace = await shared.namespace();
      const ref = { gvk: configMap, namespace, name: 'a' };
      const remove = (uid: string | undefined) =>
        cluster.delete(ref, { flow, uid: uid ?? '' }, signal);
      const plain = await apply(aConfigMap(namespace));
      const uid = plain.stored.object.metadata.uid;
      assert.equal(await remove(uid), 'deleted');
      assert.equal(await remove(uid), 'gone');
      const held = await apply(
        aConfigMap(namespace, { metadata: { finalizers: ['a.example/b'] } }),
      );
      assert.equal(await remove(held.stored.object.metadata.uid), 'deleting');
      await apply(aConfigMap(namespace, { metadata: { finalizers: [] } }));
    });

    test('an answer is in the informers before the caller has it', async () => {
      const namespace = await shared.namespace();
      const informer = cluster.acquire({ gvk: configMap, namespace });
      await informer.whenSynced(signal);
      await apply(aConfigMap(namespace));
      assert.deepEqual(informer.get(namespace, 'a')?.object.data, { a: '1' });
      informer.release();
    });
  });

  describe('errors', () => {
    async function failure(work: Promise<unknown>): Promise<KubeError> {
      const error = await work.then(
        () => undefined,
        (found: unknown) => found,
      );
      assert.ok(error instanceof KubeError, `Expected a KubeError, found ${String(error)}`);
      return error;
    }

    test('already-exists: a create-only apply of an object that is there', async () => {
      const namespace = await shared.namespace();
      await apply(aConfigMap(namespace));
      const again = aConfigMap(namespace, { metadata: { resourceVersion: '1' } });
      assert.equal((await failure(apply(again))).code, 'already-exists');
      assert.equal(
        (await failure(apply(again, { force: false, manager: 'other' }))).code,
        'already-exists',
      );
    });

    test('conflict: another version than the expected', async () => {
      const namespace = await shared.namespace();
      await apply(aConfigMap(namespace));
      const stale = aConfigMap(namespace, { metadata: { resourceVersion: '2' } });
      assert.equal((await failure(apply(stale))).code, 'conflict');
    });

    test('field-conflict: names the manager and the field', async () => {
      const namespace = await shared.namespace();
      await apply(aConfigMap(namespace), { manager: 'kubectl' });
      const error = await failure(
        apply(aConfigMap(namespace, { data: { a: '2' } }), { force: false }),
      );
      assert.equal(error.code, 'field-conflict');
      assert.deepEqual(error.causes, [
        { reason: 'FieldManagerConflict', message: 'conflict with "kubectl"', field: '.data.a' },
      ]);
    });

    test('uid-mismatch: gone, recreated, or the wrong one to delete', async () => {
      const namespace = await shared.namespace();
      const insisting = aConfigMap(namespace, { metadata: { uid: otherUid } });
      assert.equal((await failure(apply(insisting))).code, 'uid-mismatch');
      await apply(aConfigMap(namespace));
      assert.equal((await failure(apply(insisting))).code, 'uid-mismatch');
      const ref = { gvk: configMap, namespace, name: 'a' };
      const remove = cluster.delete(ref, { flow, uid: otherUid }, signal);
      assert.equal((await failure(remove)).code, 'uid-mismatch');
    });

    test('not-found: a status of nothing, a namespace that is not there', async () => {
      const namespace = await shared.namespace();
      const status = { ...aDeployment(namespace), status: {} };
      assert.equal((await failure(apply(status, { status: true }))).code, 'not-found');
      assert.equal((await failure(apply(aConfigMap('nowhere')))).code, 'not-found');
    });

    test('kind-missing: a group, a version, a kind that is not served', async () => {
      for (const apiVersion of ['nowhere.example/v1', 'apps/v9', 'apps/v1', 'v1']) {
        const manifest = {
          apiVersion,
          kind: 'Nothing',
          metadata: { name: 'a', namespace: 'default' },
        };
        assert.equal((await failure(apply(manifest))).code, 'kind-missing');
      }
      const request = { method: 'GET', path: '/apis/apps/v1/nothings', flow } as const;
      assert.equal((await failure(cluster.api.request(request, signal))).code, 'kind-missing');
    });

    test('forbidden: says what is not allowed, and is permanent', async () => {
      const nobody = await connect(shared.plane.kubeconfigPath('nobody'));
      const ref = { gvk: configMap, namespace: 'default', name: 'a' };
      const error = await failure(nobody.get(ref, { flow }, signal));
      assert.equal(error.code, 'forbidden');
      assert.equal(error.isPermanent, true);
      assert.match(error.message, /User "nobody" cannot get resource "configmaps"/);
    });

    test('namespace-terminating and quota-exceeded are told from forbidden', async () => {
      const namespace = await shared.namespace();
      const client = shared.client();
      await client.create(`/api/v1/namespaces/${namespace}/resourcequotas`, {
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: { name: 'none' },
        spec: { hard: { 'count/configmaps': '0' } },
      });
      // Nobody fills in what is used: the quota controller does not run here.
      await client.must({
        method: 'PATCH',
        path: `/api/v1/namespaces/${namespace}/resourcequotas/none/status`,
        contentType: 'application/merge-patch+json',
        body: { status: { hard: { 'count/configmaps': '0' }, used: { 'count/configmaps': '0' } } },
      });
      const deadline = Date.now() + 30_000;
      let code: string | undefined;
      for (let index = 0; code === undefined && Date.now() < deadline; index++) {
        const manifest = aConfigMap(namespace, { metadata: { name: `c-${index}` } });
        code = await apply(manifest).then(
          () => undefined,
          (error: KubeError) => error.code,
        );
      }
      assert.equal(code, 'quota-exceeded');
      await apply({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'held', namespace, finalizers: ['a.example/b'] },
      } as KubeObject);
      await client.must({ method: 'DELETE', path: `/api/v1/namespaces/${namespace}` });
      const error = await failure(
        apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'late', namespace } }),
      );
      assert.equal(error.code, 'namespace-terminating');
      await apply({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'held', namespace, finalizers: [] },
      } as KubeObject);
    });

    for (const [what, spec, field] of [
      ['a value of a wrong type', { replicas: 'three' }, '.spec.replicas'],
      ['an unknown field', { replcas: 3 }, '.spec.replcas'],
      ['an object where text belongs', { template: 'x' }, '.spec.template'],
      ['a value that validation refuses', { replicas: -1 }, 'spec.replicas'],
    ] as const) {
      test(`rejected: ${what}, with its field`, async () => {
        const namespace = await shared.namespace();
        const error = await failure(apply(aDeployment(namespace, spec)));
        assert.equal(error.code, 'rejected');
        assert.deepEqual(
          error.causes.map((cause) => cause.field),
          [field],
        );
      });
    }

    test('rejected: several mistakes are told one by one', async () => {
      const namespace = await shared.namespace();
      const error = await failure(apply(aDeployment(namespace, { replicas: 'x', paused: 'y' })));
      assert.deepEqual(error.causes.map((cause) => cause.field).sort(), [
        '.spec.paused',
        '.spec.replicas',
      ]);
    });

    test('too-large: above the limit of a request', async () => {
      const namespace = await shared.namespace();
      const data = { a: 'x'.repeat(4_000_000) };
      assert.equal((await failure(apply(aConfigMap(namespace, { data })))).code, 'too-large');
    });

    test('unavailable: a version from the future, with its cause', async () => {
      const error = await failure(
        cluster.api.request(
          {
            method: 'GET',
            path: '/api/v1/configmaps',
            query: { resourceVersion: '99999999', resourceVersionMatch: 'NotOlderThan' },
            flow,
          },
          signal,
        ),
      );
      assert.equal(error.code, 'unavailable');
      assert.equal(error.retryAfterSeconds, 1);
      assert.equal(error.causes[0]?.reason, 'ResourceVersionTooLarge');
    });

    test('unauthorized: a token that nobody knows', async () => {
      const path = write('wrong', shared.plane.kubeconfig().replace('admin-token', 'wrong-token'));
      const stranger = await connect(path);
      assert.equal((await failure(stranger.start(signal))).code, 'unauthorized');
    });

    test('timeout: our own deadline', async () => {
      const error = await failure(
        cluster.api.request(
          {
            method: 'GET',
            path: '/api/v1/configmaps',
            query: { watch: '1', timeoutSeconds: '30' },
            timeoutMs: 300,
            flow,
          },
          signal,
        ),
      );
      assert.equal(error.code, 'timeout');
    });
  });

  describe('credentials', () => {
    /** A kubeconfig whose plugin prints the token of a file, runs `then`, and notes what it was told. */
    function withPlugin(
      name: string,
      then = '',
    ): { kubeconfig: string; calls: () => readonly string[] } {
      const calls = write(`${name}.calls`, '');
      const script = [
        '#!/bin/sh',
        `echo "$KUBERNETES_EXEC_INFO" >> ${calls}`,
        `token=$(cat ${join(folder, `${name}.token`)})`,
        `printf '{"kind":"ExecCredential","status":{"token":"%s"}}' "$token"`,
        then,
      ];
      chmodSync(write(`${name}.sh`, script.join('\n')), 0o755);
      const config = JSON.parse(shared.plane.kubeconfig());
      const apiVersion = 'client.authentication.k8s.io/v1';
      // Relative to the kubeconfig, as client-go has it.
      config.users[0].user = { exec: { apiVersion, command: `./${name}.sh` } };
      return {
        kubeconfig: write(name, JSON.stringify(config)),
        calls: () => readFileSync(calls, 'utf8').trim().split('\n'),
      };
    }

    const request = { method: 'GET', path: '/api/v1/namespaces/default', flow } as const;

    test('a plugin is told what it needs, and asked once', async () => {
      write('once.token', 'admin-token');
      const { kubeconfig, calls } = withPlugin('once');
      const { api } = await connect(kubeconfig);
      assert.equal((await api.request(request, signal)).status, 200);
      await api.request(request, signal);
      assert.equal(calls().length, 1);
      assert.equal(JSON.parse(calls()[0] ?? '').kind, 'ExecCredential');
    });

    test('after a 401 a plugin is asked again, and the request sent once more', async () => {
      const tokenFile = write('rotated.token', 'old-token');
      const { kubeconfig, calls } = withPlugin('rotated', `echo admin-token > ${tokenFile}`);
      const { api } = await connect(kubeconfig);
      assert.equal((await api.request(request, signal)).status, 200);
      assert.equal(calls().length, 2);
    });

    test('a service account is a folder with a token that may change', async () => {
      const token = write('token', 'old-token\n');
      write('ca.crt', shared.plane.caCertificate);
      write('namespace', 'kube-system\n');
      const { hostname: host, port } = new URL(shared.plane.server);
      const config = await loadKubeConfig({
        inCluster: { host, port },
        serviceAccountFolder: folder,
      });
      assert.equal(config.namespace, 'kube-system');
      const { api } = connectTo(config);
      await assert.rejects(api.request(request, signal), { code: 'unauthorized' });
      const rotated = connectTo(config);
      writeFileSync(token, 'admin-token\n');
      assert.equal((await rotated.api.request(request, signal)).status, 200);
    });
  });

  describe('discovery and schemas', () => {
    test('knows scope, plural and status of what the server serves', async () => {
      await cluster.start(signal);
      const known = (gvk: Gvk) => {
        const type = cluster.resourceFor(gvk);
        return [type?.plural, type?.namespaced, type?.hasStatus];
      };
      assert.deepEqual(known(deployment), ['deployments', true, true]);
      assert.deepEqual(known(configMap), ['configmaps', true, false]);
      assert.deepEqual(known(gvkOf('v1', 'Namespace')), ['namespaces', false, true]);
      assert.equal(cluster.resourceFor(gvkOf('v1', 'Nothing')), undefined);
    });

    test('finds a kind that is installed later, and then its schema', async () => {
      const gvk = gvkOf('late.example/v1', 'Late');
      assert.equal(await cluster.lookUp(gvk, signal), undefined);
      assert.equal(await cluster.fetchKindSchema(gvk, signal), undefined);
      await shared
        .client()
        .create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', lateCrd);
      let type = await cluster.lookUp(gvk, signal);
      while (type === undefined) type = await cluster.lookUp(gvk, signal);
      assert.equal(type.plural, 'lates');
      assert.equal(type.namespaced, false);
      assert.equal(type.hasStatus, true);
      let schema = await cluster.fetchKindSchema(gvk, signal);
      while (schema === undefined) {
        await createSystemClock().sleep(100, signal);
        schema = await cluster.fetchKindSchema(gvk, signal);
      }
      const root = schema.components[schema.root] as { properties: Record<string, unknown> };
      assert.deepEqual(root.properties.spec, {
        type: 'object',
        properties: { description: { type: 'string' } },
      });
    });

    test('a status that went to the successor of a custom resource is noticed', async () => {
      // A server refuses this for its own kinds; for custom ones it ignores the uid and writes.
      const late = { apiVersion: 'late.example/v1', kind: 'Late', metadata: { name: 'a' } };
      const { stored } = await apply({ ...late, spec: { description: 'x' } });
      const status = { ...late, metadata: { name: 'a', uid: otherUid }, status: {} };
      await assert.rejects(apply(status, { status: true }), { code: 'uid-mismatch' });
      const right = { ...status, metadata: { name: 'a', uid: stored.object.metadata.uid ?? '' } };
      assert.equal((await apply(right, { status: true })).created, false);
    });

    test('the schema of a Deployment is its closure, without descriptions, read once', async () => {
      const schema = await cluster.fetchKindSchema(deployment, signal);
      assert.equal(schema?.root, 'io.k8s.api.apps.v1.Deployment');
      const names = Object.keys(schema?.components ?? {});
      assert.ok(names.includes('io.k8s.api.core.v1.PodSpec'));
      assert.ok(!names.includes('io.k8s.api.apps.v1.StatefulSet'));
      const text = JSON.stringify(schema);
      assert.ok(text.length > 50_000 && text.length < 120_000, `found ${text.length} characters`);
      const again = await cluster.fetchKindSchema(deployment, signal);
      assert.equal(again, schema);
    });
  });

  describe('events', () => {
    test('an Event is told on its object, and a second one makes a series', async () => {
      const namespace = await shared.namespace();
      const teller = await connect(shared.plane.kubeconfigPath());
      const { stored } = await apply(aConfigMap(namespace));
      const event = {
        regarding: stored.object,
        type: 'Warning',
        reason: 'ApplyFailed',
        action: 'Apply',
        note: 'Cannot apply "web"',
        definition: 'podset',
      } as const;
      teller.events.record(event);
      teller.events.record(event);
      await teller.close();
      const events = await shared
        .client()
        .list(`/apis/events.k8s.io/v1/namespaces/${namespace}/events`);
      assert.equal(events.length, 1);
      const [told] = events;
      assert.equal(told?.note, 'Cannot apply "web"');
      assert.equal(told?.reportingController, 'homeostat.dev/podset');
      assert.equal((told?.series as { count?: number } | undefined)?.count, 2);
    });

    test('an Event on an object without a namespace goes to "default"', async () => {
      const teller = await connect(shared.plane.kubeconfigPath());
      const regarding = await shared.client().get('/api/v1/namespaces/kube-system');
      assert.ok(regarding !== undefined);
      const words = { type: 'Normal', reason: 'Tested', action: 'Test', definition: 'x' } as const;
      teller.events.record({ ...words, regarding, note: 'é'.repeat(600) });
      await teller.close();
      const events = await shared.client().list('/apis/events.k8s.io/v1/namespaces/default/events');
      const told = events.find(({ reason }) => reason === 'Tested');
      assert.equal(told?.note, 'é'.repeat(512));
    });
  });

  test('an aborted watch ends at once and leaves the signal clean', async () => {
    const stop = new AbortController();
    const stream = await cluster.api.stream(
      { path: '/api/v1/configmaps', query: { watch: '1' }, flow },
      stop.signal,
    );
    const read = (async () => {
      for await (const _ of stream.chunks) stop.abort(new Error('enough'));
    })();
    await assert.rejects(read, { code: 'aborted' });
  });
});

const lateCrd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'lates.late.example' },
  spec: {
    group: 'late.example',
    scope: 'Cluster',
    names: { plural: 'lates', singular: 'late', kind: 'Late', listKind: 'LateList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                description: 'Goes',
                properties: { description: { type: 'string', description: 'Goes as well' } },
              },
              status: { type: 'object' },
            },
          },
        },
      },
    ],
  },
};
