import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { InstantKubelet, useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, statusOf } from '../support/definitions.ts';
import { at, isReady, operatorSuite, type Place, type Stage } from '../support/operator-suite.ts';

const shared = useControlPlane({ audit: true });
const secret = at('/api/v1', 'secrets');
const service = at('/api/v1', 'services');
const pod = (ordinal: number) => at('/api/v1', 'pods', `-${ordinal}`);
const claim =
  (ordinal: number) =>
  ({ namespace, name }: Place) =>
    `/api/v1/namespaces/${namespace}/persistentvolumeclaims/data-${name}-${ordinal}`;
const backup = at('/apis/batch/v1', 'jobs', '-backup');
const podsOf = ({ namespace }: Place) => `/api/v1/namespaces/${namespace}/pods`;

interface Pod extends KubeObject {
  readonly spec: { readonly containers: readonly { readonly image: string }[] };
}

interface Service extends KubeObject {
  readonly spec: { readonly selector: Readonly<Record<string, string>> };
}

const imageOf = (object: KubeObject | undefined) =>
  (object as Pod | undefined)?.spec.containers[0]?.image;
const passwordOf = (object: KubeObject | undefined) =>
  (object?.data as Readonly<Record<string, string>> | undefined)?.password;
const selectedBy = (object: KubeObject | undefined) =>
  (object as Service | undefined)?.spec.selector['app.kubernetes.io/instance'];
const storageOf = (object: KubeObject | undefined) => JSON.stringify(object?.spec ?? {});

async function patch({ client, path }: Stage, spec: object): Promise<void> {
  const { metadata } = await client.patch(path, { spec });
  await client.untilObject(
    path,
    (object) => isReady(object) && statusOf(object).observedGeneration === metadata.generation,
  );
}

shared.describe('integration/operator-database', () => {
  const { stage, whileDown } = operatorSuite(shared, {
    name: 'database',
    resource: {
      apiVersion: 'data.example.com/v1alpha1',
      kind: 'Database',
      metadata: { name: 'sql' },
      spec: { replicas: 2 },
    },
    children: [secret, service, claim(0), claim(1), pod(0), pod(1)],
    edits: [
      {
        what: 'another image replaces the Pods',
        change: { spec: { image: 'postgres:19' } },
        path: pod(0),
        isDone: (object) => imageOf(object) === 'postgres:19',
      },
      {
        what: 'more replicas',
        change: { spec: { replicas: 3 } },
        path: pod(2),
        isDone: (object) => object !== undefined,
      },
      {
        what: 'more replicas have claims',
        change: { spec: { replicas: 3 } },
        path: claim(2),
        isDone: (object) => object !== undefined,
      },
      {
        what: 'storage is that of new claims',
        change: { spec: { replicas: 3, storage: '1Gi' } },
        path: claim(2),
        isDone: (object) => storageOf(object).includes('"storage":"1Gi"'),
      },
    ],
    drifts: [
      {
        what: 'a label of a Pod',
        path: pod(0),
        change: { metadata: { labels: { 'data.example.com/role': 'follower' } } },
        isBack: (object) => object?.metadata.labels?.['data.example.com/role'] === 'leader',
      },
      {
        what: 'whom the Service selects',
        path: service,
        change: { spec: { selector: { 'app.kubernetes.io/instance': 'other' } } },
        isBack: (object) => selectedBy(object) === 'sql',
      },
    ],
  });

  test('Pods are made one after the other, and removed from the last', async () => {
    const database = await stage({ spec: { replicas: 3 } });
    const { client, path } = database;
    const pods = await client.list(podsOf(database));
    const versions = pods
      .toSorted((a, b) => a.metadata.name.localeCompare(b.metadata.name))
      .map(({ metadata }) => metadata.creationTimestamp ?? '');
    assert.deepEqual(versions, versions.toSorted());
    assert.equal(statusOf(database.resource).leader, 'sql-0');
    const gone: string[] = [];
    const stop = new AbortController();
    const followed = client.follow({
      path: podsOf(database),
      signal: stop.signal,
      onState: async (list) => {
        const names = list.map(({ metadata }) => metadata.name);
        for (const name of ['sql-0', 'sql-1', 'sql-2'])
          if (!names.includes(name) && !gone.includes(name)) gone.push(name);
        return gone.length === 2;
      },
    });
    await patch(database, { replicas: 1 });
    await followed;
    stop.abort();
    assert.deepEqual(gone, ['sql-2', 'sql-1']);
    // The claims outlive it.
    assert.ok(await client.get(claim(2)(database)));
    await client.untilObject(path, (object) => statusOf(object).replicas === 1);
  });

  test('a password is made once, whatever is edited, scaled, relabelled or restarted', async () => {
    const database = await stage();
    const { client } = database;
    const first = passwordOf(await client.get(secret(database)));
    assert.ok(first);
    await patch(database, { replicas: 3 });
    await client.patch(secret(database), {
      metadata: { labels: { 'homeostat.dev/owner-uid': null } },
    });
    await client.untilObject(
      secret(database),
      (object) => object?.metadata.labels?.['homeostat.dev/owner-uid'] !== undefined,
    );
    await whileDown(async () => {});
    await patch(database, { replicas: 1 });
    assert.equal(passwordOf(await client.get(secret(database))), first);
  });

  test('an update stops at a Pod that does not become ready', async () => {
    const database = await stage({ spec: { replicas: 3, image: 'postgres:18' } });
    const { client, path } = database;
    // From here on Pods of the new image stay pending: the kubelet of the test is gone.
    await database.kubelet.stop();
    await client.patch(path, { spec: { image: 'postgres:broken' } });
    await client.untilObject(pod(2)(database), (object) => imageOf(object) === 'postgres:broken');
    await shared.audit.quiet(1_000);
    assert.equal(imageOf(await client.get(pod(1)(database))), 'postgres:18');
    assert.equal(imageOf(await client.get(pod(0)(database))), 'postgres:18');
    await new InstantKubelet(client).runPods({ namespace: database.namespace });
    await client.untilObject(pod(1)(database), (object) => imageOf(object) === 'postgres:broken');
  });

  test('a backup is made before the database is deleted', async () => {
    const database = await stage({ spec: { backup: true, replicas: 1 } });
    const { client, path, namespace } = database;
    await client.delete(path);
    const job = await client.untilObject(backup(database), (object) => object !== undefined);
    assert.ok(await client.get(pod(0)(database)));
    assert.ok(job);
    await new InstantKubelet(client).completeJob(namespace, job.metadata.name);
    await client.untilGone(pod(0)(database));
    await client.untilGone(path);
    await client.untilGone(secret(database));
  });

  test('claims go with the database, or stay on request and have no owner', async () => {
    const [plain, kept] = [await stage(), await stage({ spec: { keepClaims: true } })];
    for (const database of [plain, kept]) {
      await database.client.delete(database.path);
      await database.client.untilGone(database.path);
    }
    const { client } = plain;
    await client.untilGone(claim(0)(plain));
    const left = await client.get(claim(0)(kept));
    assert.ok(left);
    assert.equal(left.metadata.deletionTimestamp, undefined);
    assert.deepEqual(left.metadata.ownerReferences ?? [], []);
    assert.equal(left.metadata.labels?.['homeostat.dev/owner-uid'], undefined);
  });

  test('claims can be kept, and given back, while it runs', async () => {
    const database = await stage();
    const { client } = database;
    const uid = (await client.get(claim(0)(database)))?.metadata.uid;
    await patch(database, { keepClaims: true });
    await patch(database, { keepClaims: false });
    assert.equal((await client.get(claim(0)(database)))?.metadata.uid, uid);
    assert.equal(conditionOf(await client.get(database.path))?.status, 'True');
  });
});
