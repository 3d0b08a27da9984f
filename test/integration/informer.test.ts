import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { loadKubeConfig } from '#kube';
import { createRightsWatcher } from '#kube/access/rights-watcher.ts';
import { createDiscovery } from '#kube/api/discovery.ts';
import { createWriter } from '#kube/api/writer.ts';
import { createInformerSet, type InformerSet } from '#kube/cache/informer-set.ts';
import { createApiClient } from '#kube/client/create-api-client.ts';
import type { CacheEvent, Informer, PassToken, Reader, Writer } from '#kube/roles.ts';
import { gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { createSystemRandom } from '#util/random.ts';
import { clockOf, useControlPlane } from '../support/control-plane/index.ts';
import { customKind } from '../support/definitions.ts';
import { kubeconfigYaml } from '../support/kubeconfig-yaml.ts';
import { patienceMs } from '../support/patience.ts';
import { freshMetrics, silentLogger } from '../support/silent-telemetry.ts';
import { whenSynced } from '../support/when-synced.ts';

const shared = useControlPlane();
const signal = new AbortController().signal;
const gvk = gvkOf('v1', 'ConfigMap');
const flow = { name: 'test', priority: 'object' } as const;
const pass: PassToken = { key: 'test/a', definition: 'test' };
const applyOptions = { flow, pass, fieldManager: 'homeostat/test', force: true } as const;

shared.describe('integration/informer', () => {
  let informers: InformerSet;
  let writer: Reader & Writer;
  let close: () => Promise<void>;

  before(async () => {
    const config = await loadKubeConfig({
      ...kubeconfigYaml,
      kubeconfig: shared.plane.kubeconfigPath(),
    });
    const clock = clockOf(shared.plane);
    const logger = silentLogger();
    const metrics = freshMetrics();
    const api = createApiClient({ config, clock, logger, metrics });
    const discovery = createDiscovery({ api, clock });
    const random = createSystemRandom();
    // On a loaded machine an answer may take longer than events wait for it, and these would have no pass.
    const settings = { freeze: true, holdEventsMs: patienceMs };
    const rights = createRightsWatcher({ api, clock, logger });
    informers = createInformerSet({
      api,
      discovery,
      rights,
      clock,
      random,
      logger,
      metrics,
      settings,
    });
    writer = createWriter({ api, discovery, cache: informers });
    close = async () => {
      rights.close();
      await informers.close();
      await api.close();
    };
  });

  after(() => close?.());

  async function synced(query: Parameters<InformerSet['acquire']>[0]): Promise<Informer> {
    const informer = informers.acquire(query);
    await whenSynced(informer, signal);
    return informer;
  }

  test('lists 1,200 objects over pages and follows what comes after', async () => {
    const namespace = await shared.namespace();
    const names = Array.from({ length: 1_200 }, (_, at) => `many-${at}`);
    await inParallel(names, (name) => create(namespace, name));
    const informer = informers.acquire({ gvk, namespace, labelSelector: 'test' });
    const heard: CacheEvent[] = [];
    informer.subscribe((event) => heard.push(event));
    await whenSynced(informer, signal);
    assert.equal(heard.length, 1_200);
    assert.ok(heard.every(({ initial }) => initial));
    await create(namespace, 'one-more');
    await untilHeld(informer, 'one-more', (held) => held !== undefined);
    assert.deepEqual(versionsIn(informer), await versionsOn(namespace));
    assert.equal(informer.get(namespace, 'many-7')?.object.kind, 'ConfigMap');
    informer.release();
  });

  test('sees what happened while the API server was away', async () => {
    const namespace = await shared.namespace();
    await inParallel(['kept', 'changed', 'removed'], (name) => create(namespace, name));
    const informer = await synced({ gvk, namespace, labelSelector: 'test' });
    await shared.plane.restartApiServer(0);
    const client = shared.client();
    await client.delete(pathIn(namespace, 'removed'));
    await client.patch(pathIn(namespace, 'changed'), { data: { value: 'new' } });
    await create(namespace, 'added');
    await untilHeld(informer, 'added', (held) => held !== undefined);
    // Where all is listed again, what is deleted is reported last.
    await untilHeld(informer, 'removed', (held) => held === undefined);
    assert.deepEqual(versionsIn(informer), await versionsOn(namespace));
    assert.deepEqual(informer.get(namespace, 'changed')?.object.data, { value: 'new' });
    assert.equal(informer.state.kind, 'synced');
    informer.release();
  });

  test('an object that loses its label leaves, and comes back with it', async () => {
    const namespace = await shared.namespace();
    await create(namespace, 'a');
    const informer = await synced({ gvk, namespace, labelSelector: 'test' });
    const path = pathIn(namespace, 'a');
    await shared.client().patch(path, { metadata: { labels: { test: null } } });
    await untilHeld(informer, 'a', (held) => held === undefined);
    await shared.client().patch(path, { metadata: { labels: { test: 'yes' } } });
    await untilHeld(informer, 'a', (held) => held !== undefined);
    informer.release();
  });

  test('an object that loses its label by our own write leaves with the answer', async () => {
    const namespace = await shared.namespace();
    const informer = await synced({ gvk, namespace, labelSelector: 'test' });
    await writer.apply(manifest(namespace, 'a', { labels: { test: 'yes' } }), applyOptions, signal);
    assert.ok(informer.get(namespace, 'a'));
    await writer.apply(manifest(namespace, 'a'), applyOptions, signal);
    assert.equal(informer.get(namespace, 'a'), undefined);
    // The watch reports both writes later; when it reports another object, it has reported them.
    await create(namespace, 'b');
    const heard: string[] = [];
    informer.subscribe(({ name }) => heard.push(name));
    await untilHeld(informer, 'b', (held) => held !== undefined);
    assert.ok(!heard.includes('a'));
    informer.release();
  });

  test('an object that is deleted and recreated is another one', async () => {
    const namespace = await shared.namespace();
    const first = await create(namespace, 'a');
    const informer = await synced({ gvk, namespace });
    await shared.client().delete(pathIn(namespace, 'a'));
    const second = await create(namespace, 'a');
    assert.notEqual(first.metadata.uid, second.metadata.uid);
    await untilHeld(informer, 'a', (held) => held?.metadata.uid === second.metadata.uid);
    informer.release();
  });

  test('an answer is seen at once and reported once, with its pass', async () => {
    const namespace = await shared.namespace();
    const informer = await synced({ gvk, namespace });
    const heard: CacheEvent[] = [];
    informer.subscribe((event) => heard.push(event));
    // Who applies nothing leaves no entry in the managedFields.
    const labelled = manifest(namespace, 'a', { labels: { test: 'yes' } });
    const { stored, created } = await writer.apply(labelled, applyOptions, signal);
    assert.equal(created, true);
    assert.deepEqual(stored.appliedBy, ['homeostat/test']);
    // The same version, and the very object unless the watch was faster than the answer.
    assert.deepEqual(informer.get(namespace, 'a'), stored);
    await create(namespace, 'z');
    await untilHeld(informer, 'z', (held) => held !== undefined);
    const aboutA = heard.filter(({ name }) => name === 'a');
    assert.deepEqual(
      aboutA.map((event) => event.pass),
      [pass],
    );
    informer.release();
  });

  test('every write is reported with its pass, whether the answer or the watch is faster', async () => {
    const namespace = await shared.namespace();
    const informer = await synced({ gvk, namespace, labelSelector: 'test' });
    const heard: CacheEvent[] = [];
    informer.subscribe((event) => heard.push(event));
    const names = Array.from({ length: 200 }, (_, at) => `ours-${at}`);
    await inParallel(names, (name) => {
      const labelled = manifest(namespace, name, { labels: { test: 'yes' } });
      return writer.apply(labelled, applyOptions, signal);
    });
    assert.equal(heard.length, 200);
    assert.ok(heard.every((event) => event.pass === pass));
    informer.release();
  });

  test('an object whose DELETE was answered is marked until it is gone', async () => {
    const namespace = await shared.namespace();
    const informer = await synced({ gvk, namespace });
    const held = manifest(namespace, 'a', { finalizers: ['example.com/hold'] });
    const { stored } = await writer.apply(held, applyOptions, signal);
    const ref = { gvk, namespace, name: 'a' };
    const uid = stored.object.metadata.uid ?? '';
    assert.equal(await writer.delete(ref, { flow, pass, uid }, signal), 'deleting');
    assert.ok(informer.get(namespace, 'a')?.object.metadata.deletionTimestamp);
    await shared.client().patch(pathIn(namespace, 'a'), { metadata: { finalizers: null } });
    await untilHeld(informer, 'a', (object) => object === undefined);
    assert.equal(await writer.get(ref, { flow }, signal), undefined);
    informer.release();
  });

  test('reads all objects again when asked because the schema of their kind changed', async () => {
    const client = shared.client();
    const namespace = await shared.namespace();
    await client.installCrd(gadgetCrd({ size: { type: 'integer' }, colour: { type: 'string' } }));
    const collection = `/apis/informer.example.com/v1/namespaces/${namespace}/gadgets`;
    const kind = { apiVersion: 'informer.example.com/v1', kind: 'Gadget' };
    const spec = { size: 1, colour: 'red' };
    await client.create(collection, { ...kind, metadata: { name: 'a', namespace }, spec });
    const gadget = gvkOf(kind.apiVersion, kind.kind);
    const informer = await synced({ gvk: gadget, namespace });
    const before = informer.get(namespace, 'a')?.object;
    assert.deepEqual(before?.spec, spec);
    await client.apply(gadgetCrd({ size: { type: 'integer' } }));
    // Nothing tells when the new schema is served, but an object read.
    for (;;) {
      const served = await client.get(`${collection}/a`);
      if (!JSON.stringify(served?.spec).includes('red')) break;
      await client.sleep(50);
    }
    informers.relist(gadget);
    await untilHeld(informer, 'a', (held) => !JSON.stringify(held?.spec).includes('red'));
    const now = informer.get(namespace, 'a')?.object;
    assert.deepEqual(now?.spec, { size: 1 });
    assert.equal(now?.metadata.resourceVersion, before?.metadata.resourceVersion);
    informer.release();
  });

  test('reads all objects again when others changed the schema of their kind', async () => {
    const client = shared.client();
    const namespace = await shared.namespace();
    const crd = (properties: object) =>
      customKind({
        group: 'others.example.com',
        kind: 'Gadget',
        properties: { spec: { type: 'object', properties } },
      });
    await client.installCrd(crd({ changes: { type: 'integer' } }));
    const collection = `/apis/others.example.com/v1/namespaces/${namespace}/gadgets`;
    const kind = { apiVersion: 'others.example.com/v1', kind: 'Gadget' };
    // More than one page.
    await inParallel(
      Array.from({ length: 501 }, (_, at) => `g-${at}`),
      (name) => client.create(collection, { ...kind, metadata: { name }, spec: {} }),
    );
    const informer = await synced({ gvk: gvkOf(kind.apiVersion, kind.kind), namespace });
    // The watch is open.
    await client.patch(`${collection}/g-0`, { spec: { changes: 0 } });
    await untilHeld(informer, 'g-0', (held) => (held?.spec as { changes?: number })?.changes === 0);
    await client.apply(
      crd({ changes: { type: 'integer' }, size: { type: 'integer', default: 3 } }),
    );
    // The server keeps the old watch for a second, and what happens then would allow to resume it.
    let isNew = false;
    const changing = (async () => {
      for (let changes = 1; !isNew; changes++) {
        await client.patch(`${collection}/g-0`, { spec: { changes } });
        await client.sleep(20);
      }
    })();
    await untilHeld(informer, 'g-500', (held) => (held?.spec as { size?: number })?.size === 3);
    isNew = true;
    await changing;
    informer.release();
  });

  test('says that a kind is missing, and is synced once it is served', async () => {
    const kind = gvkOf('late.example.com/v1', 'Latecomer');
    const informer = informers.acquire({ gvk: kind });
    await new Promise<void>((resolve) => {
      informer.onState((state) => {
        if (state.kind === 'failing' && state.error.code === 'kind-missing') resolve();
      });
    });
    await shared.client().apply(customKind({ group: 'late.example.com', kind: 'Latecomer' }));
    await whenSynced(informer, signal);
    informer.release();
  });
});

function create(namespace: string, name: string): Promise<KubeObject> {
  const metadata = { name, labels: { test: 'yes' } };
  return shared.client().create(`/api/v1/namespaces/${namespace}/configmaps`, { metadata });
}

function manifest(namespace: string, name: string, metadata: object = {}): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...metadata, name, namespace } };
}

function pathIn(namespace: string, name: string): string {
  return `/api/v1/namespaces/${namespace}/configmaps/${name}`;
}

async function inParallel(
  names: readonly string[],
  work: (name: string) => Promise<unknown>,
): Promise<void> {
  const left = [...names];
  const worker = async () => {
    for (let name = left.pop(); name !== undefined; name = left.pop()) await work(name);
  };
  await Promise.all(Array.from({ length: 16 }, worker));
}

/** Waits for events until the informer holds the object as wished. */
function untilHeld(
  informer: Informer,
  name: string,
  isWished: (object: KubeObject | undefined) => boolean,
): Promise<void> {
  const { namespace } = informer.query;
  return new Promise((resolve) => {
    const look = () => {
      if (isWished(informer.get(namespace, name)?.object)) resolve();
    };
    informer.subscribe(look);
    look();
  });
}

function versionsIn(informer: Informer): ReadonlyMap<string, string | undefined> {
  return versionsOf([...informer.list()].map(({ object }) => object));
}

async function versionsOn(namespace: string): Promise<ReadonlyMap<string, string | undefined>> {
  const path = `/api/v1/namespaces/${namespace}/configmaps?labelSelector=test`;
  return versionsOf(await shared.client().list(path));
}

function versionsOf(objects: readonly KubeObject[]): ReadonlyMap<string, string | undefined> {
  return new Map(objects.map(({ metadata }) => [metadata.name, metadata.resourceVersion]));
}

function gadgetCrd(properties: object): KubeObject {
  const spec = { type: 'object', properties };
  return customKind({ group: 'informer.example.com', kind: 'Gadget', properties: { spec } });
}
