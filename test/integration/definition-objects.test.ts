import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { parseYaml } from '#definition';
import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { isEstablished, useControlPlane } from '../support/control-plane/index.ts';
import { copierDefinition as copier, copyPath, untilCopied } from '../support/copier.ts';
import {
  conditionOf,
  statusOf,
  textMap,
  thing,
  thingDefinition,
  thingPath,
} from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';

const shared = useControlPlane();
const launch = useRuntimes(shared);
const collection = '/apis/homeostat.dev/v1alpha1/operatordefinitions';
const definitionsCrd =
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/operatordefinitions.homeostat.dev';
const runtimeLabel = 'homeostat.dev/runtime';
const ourFinalizer = 'homeostat.dev/definition';

const isReady = (object: KubeObject | undefined) => conditionOf(object)?.status === 'True';

shared.describe('integration/definition-objects', () => {
  let operators = '';
  let homeostat: HomeostatRuntime;

  before(async () => {
    operators = await shared.namespace();
    homeostat = start('main', operators);
    await shared.client().untilObject(definitionsCrd, isEstablished);
    await shared.client().untilList(collection, () => true);
  });

  function start(runtime: string, namespace: string, ...flags: readonly string[]) {
    return launch({
      flags: [
        ...['--sources', 'configmaps,objects', '--namespace', namespace],
        ...['--runtime', runtime, ...flags],
      ],
    });
  }

  const save = (name: string, text: string | undefined, namespace = operators) =>
    shared.client().apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace, labels: { 'homeostat.dev/definitions': 'true' } },
      data: text === undefined ? {} : { 'd.yaml': text },
    });
  const apply = (text: string) => shared.client().apply(parseYaml(text) as unknown as KubeObject);
  const pathOf = (name: string) => `${collection}/${name}`;
  const untilReady = (name: string) => shared.client().untilObject(pathOf(name), isReady);
  const applyThing = (name: string, namespace: string, text = 'one') =>
    shared.client().apply(thing(name, namespace, { text }));
  const untilCopy = (name: string, namespace: string, version: number, text = 'one') =>
    untilCopied(shared.client(), copyPath(name, namespace), { version, text });

  function untilEvent(kind: string, name: string, reason: string): Promise<unknown> {
    const namespace = kind === 'ConfigMap' ? operators : 'default';
    return shared
      .client()
      .untilList(`/apis/events.k8s.io/v1/namespaces/${namespace}/events`, (events) =>
        events.some(
          ({ reason: its, regarding }) =>
            its === reason &&
            isJsonObject(regarding) &&
            regarding.kind === kind &&
            regarding.name === name,
        ),
      );
  }

  test('an edit of a published object is reverted and never runs, additions too; what may be marked stays', async () => {
    const client = shared.client();
    const namespace = await shared.namespace();
    await save('edited', copier('edited', 1));
    const published = await untilReady('edited');
    await applyThing('edited', namespace);
    await untilCopy('edited', namespace, 1);
    const path = pathOf('edited');
    await client.patch(path, {
      metadata: { annotations: { 'example.com/mine': 'true' } },
      spec: (parseYaml(copier('edited', 2)) as unknown as KubeObject).spec,
    });
    const object = await client.untilObject(path, (now) =>
      isDeepStrictEqual(now?.spec, published?.spec),
    );
    assert.equal(object?.metadata.annotations?.['example.com/mine'], 'true');
    await untilEvent('OperatorDefinition', 'edited', 'Reverted');
    await untilEvent('ConfigMap', 'edited', 'Reverted');
    await applyThing('edited', namespace, 'two');
    await untilCopy('edited', namespace, 1, 'two');
    assert.equal(statusOf(await untilReady('edited')).revision, statusOf(published).revision);
  });

  test('a published object that loses its labels gets them back while its text is there', async () => {
    const client = shared.client();
    await save('bared', copier('bared', 1));
    await untilReady('bared');
    const labels = { 'homeostat.dev/source': null };
    await client.patch(pathOf('bared'), { metadata: { labels } });
    await client.untilObject(
      pathOf('bared'),
      (object) => object?.metadata.labels?.['homeostat.dev/source'] === 'configmap',
    );
    await untilReady('bared');
  });

  test('a published object that is deleted by hand comes back, and its definition does not stop', async () => {
    const client = shared.client();
    await save('deleted', copier('deleted', 1));
    const published = await untilReady('deleted');
    assert.deepEqual(published?.metadata.finalizers, [ourFinalizer]);
    await client.delete(pathOf('deleted'));
    const object = await client.untilObject(
      pathOf('deleted'),
      (now) => isReady(now) && now?.metadata.uid !== published?.metadata.uid,
    );
    assert.equal(object?.metadata.ownerReferences, undefined);
    const stops = homeostat.entries.filter(
      ({ msg, definition }) => /^Definition stopped/.test(msg) && definition === 'deleted',
    );
    assert.deepEqual(stops, []);
  });

  test('a forged object never runs, whatever it says of itself', async () => {
    const client = shared.client();
    const place = await shared.namespace();
    const strict = launch({
      flags: ['--sources', 'configmaps', '--namespace', place, '--runtime', 'strict'],
    });
    await strict.whenLogged('Starting');
    const { spec } = parseYaml(copier('forged', 1)) as unknown as KubeObject;
    const labels = { 'homeostat.dev/source': 'configmap', [runtimeLabel]: 'strict' };
    const annotations = { 'homeostat.dev/source-ref': `${place}/forged/d.yaml` };
    const revisions = [{ revision: 'x', spec }];
    await client.create(collection, {
      apiVersion: 'homeostat.dev/v1alpha1',
      kind: 'OperatorDefinition',
      metadata: { name: 'forged', labels, annotations },
      spec,
      status: { revisions },
    });
    await client.untilObject(
      pathOf('forged'),
      (object) => conditionOf(object)?.reason === 'NotRead',
    );
    const crd = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.forged.example.com';
    assert.equal(await client.get(crd), undefined);
    await strict.stop();
  });

  test('a definition stops and is deleted with its manifest, and what it has created stays', async () => {
    const client = shared.client();
    const namespace = await shared.namespace();
    await save('going', copier('going', 1));
    await untilReady('going');
    await applyThing('going', namespace);
    await untilCopy('going', namespace, 1);
    await save('going', undefined);
    await untilEvent('ConfigMap', 'going', 'Withdrawn');
    await client.untilGone(pathOf('going'));
    assert.ok(await client.get(copyPath('going', namespace)));
    assert.ok(await client.get(thingPath('going', namespace)));
  });

  test('a broken apply while no process runs: the accepted revision runs after the start', async () => {
    const namespace = await shared.namespace();
    const client = shared.client();
    const first = start('offline', await shared.namespace());
    await apply(
      copier('offline', 1).replace(
        'metadata: {',
        `metadata: { labels: { ${runtimeLabel}: offline },`,
      ),
    );
    await untilReady('offline');
    await first.stop();
    const broken = copier('offline', 2).replace('spec.text', 'spec.text +');
    await client.patch(pathOf('offline'), {
      spec: (parseYaml(broken) as unknown as KubeObject).spec,
    });
    const next = start('offline', await shared.namespace());
    const object = await client.untilObject(
      pathOf('offline'),
      (now) =>
        conditionOf(now)?.reason === 'Rejected' && conditionOf(now, 'Running')?.status === 'True',
    );
    assert.match(conditionOf(object, 'Accepted')?.message ?? '', /spec\.children\.0\.template/);
    await applyThing('offline', namespace);
    await untilCopy('offline', namespace, 1);
    await next.stop();
  });

  test('two runtimes with different names leave each other alone, and a name that both have is reported', async () => {
    const client = shared.client();
    const place = await shared.namespace();
    const other = start('other', place);
    await save('both', copier('both', 1));
    await untilReady('both');
    await save('both', copier('both', 2), place);
    const lost = await other.whenLogged('Manifest is not published');
    assert.match(String(lost.reason), /belongs to the runtime "main"/);
    const namespace = await shared.namespace();
    await applyThing('both', namespace);
    await untilCopy('both', namespace, 1);
    assert.equal((await client.get(pathOf('both')))?.metadata.labels?.[runtimeLabel], 'main');
    await other.stop();
  });

  test('a deleted definition waits while a resource has its finalizer, and releases what is abandoned', async () => {
    const client = shared.client();
    const namespace = await shared.namespace();
    const children = `${textMap('lost')}\n      crossNamespace: true`;
    await apply(thingDefinition('waits', `  children:${children}\n`));
    await untilReady('waits');
    await applyThing('waits', namespace);
    const path = thingPath('waits', namespace);
    await client.untilObject(path, (object) => conditionOf(object)?.status === 'True');
    await client.delete(pathOf('waits'));
    const waiting = await client.untilObject(pathOf('waits'), (object) =>
      /One resource has its finalizer/.test(conditionOf(object)?.message ?? ''),
    );
    assert.equal(conditionOf(waiting)?.reason, 'Terminating');
    await client.patch(pathOf('waits'), {
      metadata: { annotations: { 'homeostat.dev/abandon': 'true' } },
    });
    await client.untilGone(pathOf('waits'));
    const resource = await client.get(path);
    assert.deepEqual(resource?.metadata.finalizers ?? [], []);
    const maps = `/api/v1/namespaces/${namespace}/configmaps?labelSelector=homeostat.dev/child=lost`;
    assert.equal((await client.list(maps)).length, 1);
  });

  test('a CRD of definitions that is deleted is installed again, and texts are published again', async () => {
    const client = shared.client();
    const namespace = await shared.namespace();
    await save('again', copier('again', 1));
    const published = await untilReady('again');
    // Those of runtimes that are gone would keep the kind for ever.
    for (const { metadata } of await client.list(collection))
      if (metadata.labels?.[runtimeLabel] !== 'main')
        await client.patch(pathOf(metadata.name), { metadata: { finalizers: null } });
    await client.delete(definitionsCrd);
    await client.untilObject(
      pathOf('again'),
      (object) => isReady(object) && object?.metadata.uid !== published?.metadata.uid,
    );
    await applyThing('again', namespace);
    await untilCopy('again', namespace, 1);
  });
});
