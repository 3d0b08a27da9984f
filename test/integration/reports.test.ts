import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { InstantKubelet, InstantVolumes, useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, statusOf } from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';

const shared = useControlPlane({ audit: true });
const startHomeostat = useHomeostat(shared);

const files = [
  ...['secret-keys', 'volume-templates', 'volume-claims', 'no-spec'],
  ...['immutable-config', 'keep-until-rolled-out', 'nullable', 'once-by-status'],
].map((name) => `${name}.yaml`);

const plurals: Readonly<Record<string, string>> = {
  Token: 'tokens',
  Store: 'stores',
  Base: 'bases',
  Access: 'accesses',
  Frozen: 'frozens',
  Keeper: 'keepers',
  Nullable: 'nullables',
  Migration: 'migrations',
};

/** A namespace, with its objects and resources of the definitions. */
async function place() {
  const namespace = await shared.namespace();
  const client = shared.client();
  const core = `/api/v1/namespaces/${namespace}`;
  const pathOf = (kind: string, name = 'one') =>
    `/apis/${plurals[kind]}.example.com/v1/namespaces/${namespace}/${plurals[kind]}/${name}`;
  const apply = (kind: string, spec?: unknown, name = 'one') =>
    client.apply({
      apiVersion: `${plurals[kind]}.example.com/v1`,
      kind,
      metadata: { name, namespace },
      ...(spec !== undefined && { spec }),
    } as KubeObject);
  const until = (kind: string, reason: string, message = /^/, name = 'one') =>
    client.untilObject(pathOf(kind, name), (object) => {
      const ready = conditionOf(object);
      return (
        ready?.reason === reason &&
        message.test(ready.message ?? '') &&
        ready.observedGeneration === object?.metadata.generation
      );
    });
  const secret = (name: string, texts: Readonly<Record<string, string>>) =>
    client.apply({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace },
      data: Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, btoa(text)])),
    } as KubeObject);
  return { namespace, client, core, pathOf, apply, until, secret };
}

function childMessage(object: KubeObject | undefined, id: string): string {
  return statusOf(object).children?.find((child) => child.id === id)?.message ?? '';
}

shared.describe('integration/reports', () => {
  const helpers: { stop(): Promise<void> }[] = [];
  after(() => Promise.all(helpers.map((each) => each.stop())));

  before(async () => {
    const definitions = files.map((file) => {
      const path = new URL(`../fixtures/reports/${file}`, import.meta.url);
      return [file, readFileSync(path, 'utf8')] as const;
    });
    await startHomeostat(Object.fromEntries(definitions));
    // The garbage collector, which ends the deletion of a finished Job, looks for new kinds every 30 s only.
    await shared.plane.restartControllerManager();
  });

  test('a Secret made of two others waits for each of them and for its key, and stays when a key disappears', async () => {
    const { client, core, pathOf, apply, until, secret } = await place();
    await secret('a', { key: 'one' });
    await apply('Token', { first: 'a', second: 'b' });
    const untilMessage = (message: RegExp) =>
      client.untilObject(pathOf('Token'), (object) => message.test(childMessage(object, 'joined')));
    await untilMessage(/Secret "b" does not exist/);
    await secret('b', { other: 'x' });
    const waiting = await untilMessage(
      /Waiting for reads\.second\.data\.key \(Secret "b" does not have it\)/,
    );
    assert.notEqual(conditionOf(waiting)?.status, 'True');
    assert.notEqual(conditionOf(waiting, 'Stalled')?.status, 'True');
    assert.equal(conditionOf(waiting, 'KeysPresent')?.status, 'False');
    assert.equal(await client.get(`${core}/secrets/one-joined`), undefined);

    await secret('b', { key: 'two' });
    await until('Token', 'AllReady');
    const token = btoa('one.two');
    const joined = await client.get(`${core}/secrets/one-joined`);
    assert.deepEqual(joined?.data, { token });

    await secret('a', { other: 'x' });
    await untilMessage(/Secret "a" does not have it/);
    await shared.audit.quiet(1_000);
    const kept = await client.get(`${core}/secrets/one-joined`);
    assert.deepEqual([kept?.metadata.uid, kept?.data], [joined?.metadata.uid, { token }]);
  });

  test('a larger claim in a template of a StatefulSet is rejected in the words of the server, and heals', async () => {
    const { namespace, client, apply, until } = await place();
    await apply('Store', { size: '5Gi' });
    const path = `/apis/apps/v1/namespaces/${namespace}/statefulsets/one`;
    const before = await client.untilObject(path, (object) => object !== undefined);
    await apply('Store', { size: '6Gi' });
    const rejected = await until('Store', 'ApplyFailed');
    const message = conditionOf(rejected)?.message ?? '';
    assert.match(
      message,
      /updates to statefulset spec for fields other than .*'updateStrategy'.* are forbidden/,
    );
    assert.doesNotMatch(message, /delete the object/);
    await apply('Store', { size: '5Gi' });
    await client.untilObject(
      `/apis/stores.example.com/v1/namespaces/${namespace}/stores/one`,
      (object) =>
        conditionOf(object)?.observedGeneration === 3 &&
        conditionOf(object)?.reason !== 'ApplyFailed',
    );
    assert.equal((await client.get(path))?.metadata.uid, before?.metadata.uid);
  });

  test('claims that are children beside their StatefulSet grow, and one that it adds is taken over', async () => {
    const { namespace, client, core, apply, until } = await place();
    await client.apply({
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: namespace },
      provisioner: 'example.com/none',
      allowVolumeExpansion: true,
    } as KubeObject);
    const [volumes, kubelet] = [new InstantVolumes(client), new InstantKubelet(client)];
    helpers.push(volumes, kubelet);
    volumes.start(namespace);
    kubelet.start({ namespace });
    await apply('Base', { size: '5Gi', replicas: 1 });
    await until('Base', 'AllReady');
    await apply('Base', { size: '6Gi', replicas: 2 });
    const untilSizes = (...sizes: readonly string[]) =>
      client.untilList<Claim>(
        `${core}/persistentvolumeclaims`,
        (claims) =>
          JSON.stringify(claims.map(({ spec }) => spec.resources.requests.storage)) ===
          JSON.stringify(sizes),
      );
    await untilSizes('6Gi', '6Gi');
    const set = await client.get(`/apis/apps/v1/namespaces/${namespace}/statefulsets/one`);
    assert.match(JSON.stringify(set?.spec), /"storage":"5Gi"/);
  });

  test('a default below an optional parent that is missing creates nothing, and the status says why', async () => {
    const { namespace, client, core, apply, until } = await place();
    await apply('Access');
    const bare = await until('Access', 'RenderFailed');
    const because = (field: string, parent: string) =>
      new RegExp(`because the default of "${field}" applies only where "${parent}" exists`);
    assert.match(childMessage(bare, 'config'), because('spec\\.level', 'spec'));
    assert.match(childMessage(bare, 'web'), because('spec\\.replicas', 'spec'));
    await shared.audit.quiet(1_000);
    const web = `/apis/apps/v1/namespaces/${namespace}/deployments/one`;
    assert.equal(await client.get(web), undefined);
    assert.equal(await client.get(`${core}/configmaps/one`), undefined);

    await apply('Access', {}, 'empty');
    const empty = await until('Access', 'RenderFailed', /^/, 'empty');
    assert.match(childMessage(empty, 'rate'), because('spec\\.limits\\.rate', 'spec\\.limits'));
    assert.deepEqual((await client.get(`${core}/configmaps/empty`))?.data, {
      level: 'read',
      text: 'level read',
    });
    const made = await client.get(web.replace(/one$/, 'empty'));
    assert.equal((made?.spec as { replicas?: number } | undefined)?.replicas, 2);

    await apply('Access', { limits: {} }, 'part');
    const rate = await client.untilObject(
      `${core}/configmaps/part-rate`,
      (object) => object !== undefined,
    );
    assert.deepEqual(rate?.data, { rate: '10' });
  });

  test('an immutable ConfigMap is reported, replaced with Recreate, and another one with a hash in its name', async () => {
    const { client, core, apply, until } = await place();
    await apply('Frozen', { text: 'one' });
    await until('Frozen', 'AllReady');
    const uidOf = async (name: string) =>
      (await client.get(`${core}/configmaps/one-${name}`))?.metadata.uid;
    const [fixed, replaced] = [await uidOf('fixed'), await uidOf('replaced')];
    await apply('Frozen', { text: 'two' });
    const failed = await until(
      'Frozen',
      'ApplyFailed',
      /fixed "one-fixed": .*field is immutable when `immutable` is set/,
    );
    assert.match(conditionOf(failed)?.message ?? '', /"updateStrategy: \{ type: Recreate \}"/);
    assert.equal(await uidOf('fixed'), fixed);
    await client.untilObject(
      `${core}/configmaps/one-replaced`,
      (object) => (object?.data as { text?: string } | undefined)?.text === 'two',
    );
    assert.notEqual(await uidOf('replaced'), replaced);
    const texts = (await client.list(`${core}/configmaps?labelSelector=homeostat.dev/child=hashed`))
      .map(({ data }) => (data as { text: string }).text)
      .sort();
    assert.ok(texts.includes('two'), texts.join());
  });

  test('a "deleteWhen" that reads the Deployment keeps an earlier ConfigMap until the roll-out is complete, and lets a deletion end', async () => {
    const { namespace, client, core, pathOf, apply } = await place();
    // Pods with another pace never become ready.
    const kubelet = new InstantKubelet(client);
    helpers.push(kubelet);
    kubelet.start({ namespace, selector: 'pace=quick' });
    const untilTexts = (...texts: readonly string[]) =>
      client.untilList(
        `${core}/configmaps?labelSelector=homeostat.dev/child=hashed`,
        (items) =>
          JSON.stringify(items.map(({ data }) => (data as { text: string }).text).sort()) ===
          JSON.stringify(texts),
      );
    const untilUsed = (text: string) =>
      client.untilObject(pathOf('Keeper'), (object) => {
        const { children = [] } = statusOf(object);
        const isSeen = (object?.spec as { text?: string } | undefined)?.text === text;
        return isSeen && children.length > 2 && children.every(({ state }) => state === 'Ready');
      });
    await apply('Keeper', { text: 'one' });
    await untilUsed('one');
    const [first] = await untilTexts('one');
    await apply('Keeper', { text: 'two', pace: 'stuck' });
    await untilTexts('one', 'two');
    await client.untilObject(
      `${core}/configmaps/one-replaced`,
      (object) => (object?.data as { text?: string } | undefined)?.text === 'two',
    );
    await shared.audit.quiet(2_000);
    const kept = await untilTexts('one', 'two');
    assert.ok(kept.some(({ metadata }) => metadata.uid === first?.metadata.uid));
    await apply('Keeper', { text: 'three' });
    await untilUsed('three');
    await untilTexts('three');
    await client.delete(pathOf('Keeper'));
    await client.untilGone(pathOf('Keeper'));
    await untilTexts();
  });

  test('null of a field, a list or a map is a missing value', async () => {
    const { client, core, apply, until } = await place();
    const free = { a: null, b: [null, 1], c: {} };
    const list = ['a', null, 'b'];
    await apply('Nullable', { limit: null, name: null, list, map: { x: null, y: 'z' }, free });
    await apply('Nullable', { limit: 0, list: null, map: null, free: { a: null } }, 'none');
    const [one, none] = [
      await until('Nullable', 'AllReady'),
      await until('Nullable', 'AllReady', /^/, 'none'),
    ];
    const dataOf = async (name: string) => (await client.get(`${core}/configmaps/${name}`))?.data;
    const own = { limit: 'none', name: 'missing', count: '3', joined: 'a,b', keys: 'y' };
    const { json, ...data } = (await dataOf('one')) as Record<string, string>;
    assert.deepEqual(data, own);
    assert.deepEqual(JSON.parse(json ?? ''), free);
    assert.equal(await client.get(`${core}/configmaps/one-limited`), undefined);
    assert.deepEqual(await dataOf('none-limited'), { limit: '0' });
    assert.deepEqual(await dataOf('none'), {
      limit: '0',
      name: 'fallback',
      count: '0',
      joined: '',
      keys: '',
      json: '{"a":null}',
    });
    const seen = (object: KubeObject | undefined) =>
      (statusOf(object) as { readonly seen?: string }).seen;
    assert.deepEqual([seen(one), seen(none)], ['not there', 'there']);
  });

  test('a Job that is desired until the status has its image runs once for each image', async () => {
    const { namespace, client, pathOf, apply } = await place();
    const jobs = `/apis/batch/v1/namespaces/${namespace}/jobs`;
    const images: string[] = [];
    for (const image of ['registry.example.com/one', 'registry.example.com/two']) {
      await apply('Migration', { image });
      const [job] = await client.untilList(jobs, (all) =>
        all.some((each) => JSON.stringify(each.spec).includes(image)),
      );
      images.push(job?.metadata.name ?? '');
      await new InstantKubelet(client).completeJob(namespace, job?.metadata.name ?? '');
      await client.untilObject(
        pathOf('Migration'),
        (object) => (statusOf(object) as { readonly done?: string }).done === image,
      );
      await client.untilList(jobs, (all) => all.length === 0);
    }
    await shared.audit.quiet(2_000);
    assert.deepEqual(await client.list(jobs), []);
    const created = shared.audit
      .entries()
      .filter(
        (entry) =>
          entry.resource === 'jobs' && entry.namespace === namespace && entry.verb === 'patch',
      );
    assert.deepEqual([new Set(images).size, created.length], [2, 2]);
  });
});

interface Claim extends KubeObject {
  readonly spec: { readonly resources: { readonly requests: { readonly storage: string } } };
}
