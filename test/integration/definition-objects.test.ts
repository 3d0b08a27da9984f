import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import {
  createDefinitionObjects,
  type DefinitionObjects,
  type DefinitionView,
  type WantedSet,
} from '../../src/runtime/index.ts';
import { isJsonObject } from '../../src/util/json.ts';
import type { KubeObject } from '../../src/util/kube-object.ts';
import { clockOf, useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf } from '../support/definitions.ts';
import { locatedThing, runningView } from '../support/fakes/definition-world.ts';
import { useKubeCluster } from '../support/kube-cluster.ts';
import { freshMetrics, silentLogger } from '../support/silent-telemetry.ts';

// Sources and manager are played by the tests: here it is only about what the cluster shows.
const shared = useControlPlane({ audit: true, controllerManager: false });
const collection = '/apis/homeostat.dev/v1alpha1/operatordefinitions';
const thing = locatedThing('thing');
const edited = locatedThing('thing', '  status: { size: "${ 1 }" }\n');

interface Table {
  readonly columnDefinitions: readonly { readonly name: string }[];
  readonly rows: readonly { readonly cells: readonly unknown[] }[];
}

shared.describe('integration/definition-objects', () => {
  const kube = useKubeCluster(shared);
  const stop = new AbortController();
  let namespace = '';
  let views: readonly DefinitionView[] = [];
  let objects: DefinitionObjects;
  let ended: Promise<void>;

  before(async () => {
    namespace = await shared.namespace();
    await shared.client().apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'ops', namespace, labels: { 'homeostat.dev/definitions': 'true' } },
    });
    objects = createDefinitionObjects({
      cluster: await kube.connect(shared.plane.kubeconfigPath('operator')),
      clock: clockOf(shared.plane),
      logger: silentLogger(),
      metrics: freshMetrics(),
      views: () => views,
      definitionsNamespace: namespace,
    });
    ended = objects.run(stop.signal);
  });
  after(async () => {
    stop.abort();
    await ended;
  });

  const originOf = (key: string, configMap = 'ops') =>
    ({ source: 'configmap', ref: `${namespace}/${configMap}/${key}` }) as const;

  function show(wanted: WantedSet, now: readonly DefinitionView[]): void {
    views = now;
    objects.show(wanted);
  }

  const shownThing = (configMap?: string): WantedSet => ({
    definitions: [{ located: thing, origin: originOf('thing.yaml', configMap) }],
  });

  const isReady = (object: KubeObject | undefined) =>
    object !== undefined && conditionOf(object, 'Ready')?.status === 'True';

  test('the CRD is installed, and kubectl get shows what matters', async () => {
    show(shownThing(), [runningView(thing, { instances: 3 })]);
    await shared.client().untilObject(`${collection}/thing`, isReady);
    const answer = await tableOf(collection);
    assert.deepEqual(answer.columns, [
      ...['Name', 'Ready', 'Reason', 'Kind', 'Instances', 'Revision', 'Age', 'Source'],
    ]);
    const [name, ready, reason, kind, instances, revision] = answer.rows[0] ?? [];
    assert.deepEqual(
      [name, ready, reason, kind, instances, revision],
      ['thing', 'True', 'Running', 'Thing', 3, thing.definition.revision],
    );
    const object = await shared.client().get(`${collection}/thing`);
    assert.deepEqual(object?.spec, thing.document.spec);
  });

  test('an edit of a mirror is put back, additions too; what may be marked stays', async () => {
    const client = shared.client();
    const path = `${collection}/thing`;
    await client.patch(path, {
      metadata: { annotations: { 'homeostat.dev/paused': 'true' } },
      spec: { vars: { added: 'x' }, controller: { concurrency: 3 } },
    });
    const object = await client.untilObject(path, (now) =>
      isDeepStrictEqual(now?.spec, thing.document.spec),
    );
    assert.equal(object?.metadata.annotations?.['homeostat.dev/paused'], 'true');
    await untilEvent('OperatorDefinition', 'PutBack');
    await client.patch(path, { metadata: { annotations: { 'homeostat.dev/paused': null } } });
  });

  test('a mirror that is deleted by hand comes back, with its status', async () => {
    const client = shared.client();
    const before = await client.get(`${collection}/thing`);
    await client.delete(`${collection}/thing`);
    const object = await client.untilObject(
      `${collection}/thing`,
      (now) => isReady(now) && now?.metadata.uid !== before?.metadata.uid,
    );
    assert.equal(object?.metadata.ownerReferences, undefined);
    assert.equal(object?.metadata.finalizers, undefined);
  });

  test('a renamed ConfigMap moves its definitions, and nothing is deleted', async () => {
    const client = shared.client();
    const before = await client.get(`${collection}/thing`);
    show(shownThing('renamed'), views);
    const ref = originOf('thing.yaml', 'renamed').ref;
    const object = await client.untilObject(
      `${collection}/thing`,
      (now) => now?.metadata.annotations?.['homeostat.dev/source-ref'] === ref,
    );
    assert.equal(object?.metadata.uid, before?.metadata.uid);
    show(shownThing(), views);
    await client.untilObject(
      `${collection}/thing`,
      (now) => now?.metadata.annotations?.['homeostat.dev/source-ref'] !== ref,
    );
  });

  test('a text that the CRD does not take is shown by its conditions; what runs stays', async () => {
    const refusal = { message: 'No', diagnostics: ['thing.yaml:7:3: Unknown field "childern"'] };
    const origin = originOf('thing.yaml');
    const document = { ...edited.document, spec: { crd: 'none', childern: [] } };
    show(
      {
        definitions: [{ located: thing, origin, refusal }],
        refusedTexts: [{ origin, name: 'thing', document, refusal }],
      },
      [runningView(thing, { refusal })],
    );
    const object = await shared.client().untilObject(`${collection}/thing`, (now) => !isReady(now));
    assert.deepEqual(object?.spec, thing.document.spec);
    assert.equal(conditionOf(object, 'Ready')?.reason, 'Refused');
    assert.equal(conditionOf(object, 'Accepted')?.message, refusal.diagnostics[0]);
    assert.equal(conditionOf(object, 'Running')?.status, 'True');
    await untilEvent('ConfigMap', 'Refused');
    await untilEvent('OperatorDefinition', 'Refused');
    show(shownThing(), [runningView(thing)]);
    await shared.client().untilObject(`${collection}/thing`, isReady);
  });

  test('half a character in a text, or where a long message is cut, keeps nothing from being told', async () => {
    for (const pad of ['', 'x']) {
      const text = `${pad}${'\u{1F600}'.repeat(10_000)}`;
      const refusal = { message: 'No', diagnostics: [`Half "\ud83d"`, text] };
      const origin = originOf('thing.yaml');
      const spec = { ...(edited.document.spec as object), vars: { half: '\ud83d' } };
      const annotations = { half: '\ud83d' };
      const document = { ...edited.document, metadata: { name: 'thing', annotations }, spec };
      show(
        {
          definitions: [{ located: thing, origin, refusal }],
          refusedTexts: [{ origin, name: 'thing', document, refusal }],
        },
        [runningView(thing, { refusal })],
      );
      const object = await shared
        .client()
        .untilObject(`${collection}/thing`, (now) => !isReady(now));
      assert.match(String(conditionOf(object, 'Accepted')?.message), /^Half "\ufffd"/);
      show(shownThing(), [runningView(thing)]);
      await shared.client().untilObject(`${collection}/thing`, isReady);
    }
  });

  test('an object of a user is not taken, and gets a status', async () => {
    const client = shared.client();
    const own = locatedThing('own');
    await client.apply(own.document as unknown as KubeObject);
    const origin = { source: 'object', ref: 'own' } as const;
    show({ definitions: [...shownThing().definitions, { located: own, origin }] }, [
      runningView(thing),
      runningView(own),
    ]);
    const object = await client.untilObject(`${collection}/own`, isReady);
    assert.equal(object?.metadata.labels?.['homeostat.dev/source'], undefined);
    assert.deepEqual(object?.status, { ...Object(object?.status), source: 'object' });
    show(shownThing(), [runningView(thing)]);
    await client.delete(`${collection}/own`);
  });

  test('nothing is asked or written while nothing changes', async () => {
    await shared.audit.quiet(1_500, { ofDefinitions: true });
    const since = shared.audit.mark();
    show(shownThing(), [runningView(thing)]);
    objects.viewsChanged();
    await shared.audit.quiet(3_000, { ofDefinitions: true });
    const requests = Object.keys(shared.audit.count({ since, ofDefinitions: true }).by);
    assert.deepEqual(
      requests.filter((request) => !request.startsWith('watch ')),
      [],
    );
  });

  test('a definition goes with its text, and only its mirror does', async () => {
    const client = shared.client();
    await client.untilObject(`${collection}/thing`, (now) => now !== undefined);
    show({ definitions: [] }, []);
    await client.untilList(collection, (items) => items.length === 0);
    await untilEvent('ConfigMap', 'Removed');
    assert.ok(await client.get(`/api/v1/namespaces/${namespace}/configmaps/ops`));
  });

  test('a CRD that somebody deletes is installed again, and its objects come back', async () => {
    const client = shared.client();
    show(shownThing(), [runningView(thing)]);
    await client.untilObject(`${collection}/thing`, isReady);
    await client.delete(
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/operatordefinitions.homeostat.dev',
    );
    await client.untilObject(
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/operatordefinitions.homeostat.dev',
      (now) => now !== undefined && now.metadata.deletionTimestamp === undefined,
    );
    await client.untilObject(`${collection}/thing`, isReady);
  });

  function untilEvent(kind: string, reason: string): Promise<unknown> {
    const namespaceOf = kind === 'ConfigMap' ? namespace : 'default';
    return shared
      .client()
      .untilList(`/apis/events.k8s.io/v1/namespaces/${namespaceOf}/events`, (events) =>
        events.some(
          (event) =>
            event.reason === reason &&
            isJsonObject(event.regarding) &&
            event.regarding.kind === kind,
        ),
      );
  }

  /** A list as kubectl asks for it. */
  async function tableOf(path: string) {
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    const table = await shared.client().must<Table>({ method: 'GET', path, accept });
    return {
      columns: table.columnDefinitions.map(({ name }) => name),
      rows: table.rows.map(({ cells }) => cells),
    };
  }
});
