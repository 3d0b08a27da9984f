import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import {
  conditionOf,
  statusOf,
  thing,
  thingDefinition,
  thingPath,
} from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';
import { ApiServer } from '../support/http-objects/api-server.ts';
import { endpointObject, httpObject } from '../support/http-objects/test-objects.ts';
import { scrape, valueOfSamples } from '../support/scrape.ts';

const shared = useControlPlane({ audit: true });
const launch = useRuntimes(shared);
const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const group = '/apis/homeostat.dev/v1alpha1';
const restMs = 3_000;

/** A resource with an endpoint, an object behind it, and a value of it in the status. */
const definition = thingDefinition(
  'remote',
  `  children:
    - id: api
      template:
        apiVersion: homeostat.dev/v1alpha1
        kind: HttpEndpoint
        metadata: { name: "\${ metadata.name }" }
        spec:
          url: \${ spec.url }
          auth: { bearer: { tokenFrom: { secretKeyRef: { name: api, key: token } } } }
          check: { path: /health }
    - id: record
      template:
        apiVersion: homeostat.dev/v1alpha1
        kind: HttpObject
        metadata: { name: "\${ metadata.name }" }
        spec:
          endpoint: { name: "\${ children.api.metadata.name }" }
          desired: { name: "\${ metadata.namespace }", content: "\${ spec.content }" }
          observe: { path: "/records/{id}", result: $(body.result) }
          find: { path: /records, results: $(body.result), match: [name] }
          create: { path: /records }
          update: { path: "/records/{id}" }
          delete: { path: "/records/{id}" }
          id: $(result.id)
          values: { content: $(result.content), id: $(result.id) }
  status:
    content: \${ children.record.status.values.content }
    id: \${ children.record.status.id }
`,
);

shared.describe('integration/http-objects-run', () => {
  let server: ApiServer;
  let homeostat: HomeostatRuntime;
  /** Of all runtimes: the source of a definition is a path. */
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-http-'));
  const client = () => shared.client();

  before(async () => {
    server = await ApiServer.start({
      note: () => shared.plane.time?.note(),
      collections: [
        { path: '/records', key: 'id', idBy: 'server', envelope: 'result' },
        { path: '/queues', key: 'name', idBy: 'client' },
      ],
      answers: [{ on: { path: '/health' }, answer: { status: 200, body: {} } }],
    });
  });
  after(async () => {
    await homeostat?.stop();
    await server?.stop();
    rmSync(folder, { recursive: true });
  });

  const flags = () => ['--http-allow', `127.0.0.1:${server.port}`];

  const secret = (namespace: string, token: string): KubeObject => ({
    ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'api', namespace } },
    stringData: { token },
  });

  /** A namespace whose Secrets are read, with a token. */
  async function allowedNamespace(): Promise<string> {
    const namespace = await shared.namespace();
    await client().patch(`/api/v1/namespaces/${namespace}`, {
      metadata: { labels: { 'homeostat.dev/http': 'true' } },
    });
    await client().apply(secret(namespace, 'first'));
    return namespace;
  }

  const path = (namespace: string, plural: string, name: string) =>
    `${group}/namespaces/${namespace}/${plural}/${name}`;

  function untilCondition(at: string, type: string, reason: string) {
    return client().untilObject(at, (object) => conditionOf(object, type)?.reason === reason);
  }

  function untilContent(namespace: string, content: string) {
    return client().untilObject(thingPath('remote', namespace), (object) => {
      const status = statusOf(object);
      return status.content === content && conditionOf(object)?.status === 'True';
    });
  }

  const recordOf = (name: string) =>
    [...server.objects('/records').values()].filter(
      (each) => (each as { readonly name?: string }).name === name,
    ) as readonly JsonObject[];

  test('without a definition that uses them, the kinds are not installed', async () => {
    homeostat = launch({
      ...{ definitions: {}, folder, runtime: 'test' },
      flags: [...flags(), '--sources', 'objects,directories'],
    });
    await client().untilList(`${group}/operatordefinitions`, () => true);
    await shared.audit.quiet(restMs, { ofDefinitions: true });
    assert.equal(await client().get(`${crds}/httpobjects.homeostat.dev`), undefined);
    const metrics = await scrape(homeostat);
    assert.deepEqual(
      metrics.filter(({ name }) => name.startsWith('homeostat_http_')).map(({ name }) => name),
      [],
    );
  });

  test('a definition installs them: endpoint, object and the values of its answer are a resource', async () => {
    homeostat.write('remote.yaml', definition);
    await homeostat.whenLogged('Objects behind HTTP are managed');
    await homeostat.whenReady();
    const namespace = await allowedNamespace();
    server.authorization = 'Bearer first';
    await client().apply(thing('remote', namespace, { url: server.url, content: 'a' }));
    const resource = await untilContent(namespace, 'a');
    const [record] = recordOf(namespace);
    assert.equal(statusOf(resource).id, record?.id);
    const endpoint = await client().get(path(namespace, 'httpendpoints', 'one'));
    assert.deepEqual(endpoint?.metadata.finalizers, ['homeostat.dev/http-endpoint']);
    assert.equal(conditionOf(endpoint, 'Reachable')?.status, 'True');
    // The definition was compiled before the API server published the schemas, and is compiled again with them.
    const mark = shared.audit.mark();
    await shared.audit.quiet(5 * restMs, { ofDefinitions: true });
    const applied = shared.audit.writes({ since: mark }).map(({ verb, uri }) => `${verb} ${uri}`);
    assert.deepEqual(
      applied.filter(
        (each) => each.includes('/one?') && /fieldManager=homeostat%2Fremote/.test(each),
      ),
      [],
    );
    assert.equal(endpoint?.metadata.labels?.['homeostat.dev/runtime'], 'test');

    // An edit, and one at the far end.
    await client().apply(thing('remote', namespace, { url: server.url, content: 'b' }));
    await untilContent(namespace, 'b');
    const key = String(record?.id);
    server.api.collection('/records').objects.set(key, { ...record, content: 'drifted' });
    await client().patch(path(namespace, 'httpobjects', 'one'), {
      metadata: { annotations: { 'homeostat.dev/reconcile-at': '1' } },
    });
    while (recordOf(namespace)[0]?.content !== 'b') await client().sleep(100);

    await client().delete(thingPath('remote', namespace));
    await client().untilGone(path(namespace, 'httpobjects', 'one'));
    await client().untilGone(path(namespace, 'httpendpoints', 'one'));
    assert.deepEqual(recordOf(namespace), []);
  });

  test('the condition of a resource has the message of its object, which names the request and the Secret', async () => {
    const namespace = await allowedNamespace();
    await client().apply(secret(namespace, 'wrong'));
    await client().apply(thing('remote', namespace, { url: server.url, content: 'a' }));
    await client().untilObject(thingPath('remote', namespace), (object) => {
      const { message = '' } = conditionOf(object) ?? {};
      return /GET \S*\/records was answered with 401 \(sent with key "token" of Secret "api"\)/.test(
        String(message),
      );
    });
    await client().delete(thingPath('remote', namespace));
    await client().untilGone(path(namespace, 'httpobjects', 'one'));
  });

  /** A resource that is ready. */
  async function readyResource(): Promise<string> {
    const namespace = await allowedNamespace();
    await client().apply(thing('remote', namespace, { url: server.url, content: 'a' }));
    await untilContent(namespace, 'a');
    return namespace;
  }

  test('at rest, and with a restart, nothing is written', async () => {
    const restarted = () =>
      launch({ ...{ definitions: {}, folder, runtime: 'test' }, flags: flags() });
    // By the process that has installed the kinds.
    const namespace = await readyResource();
    await shared.audit.quiet(restMs, { ofDefinitions: true });
    const mark = shared.audit.mark();
    const sent = server.count('POST', 'PUT', 'PATCH', 'DELETE');
    await homeostat.stop();
    homeostat = restarted();
    await homeostat.whenReady();
    await homeostat.whenLogged('Objects behind HTTP are managed');
    await shared.audit.quiet(restMs, { ofDefinitions: true });
    assert.deepEqual(
      shared.audit.writes({ since: mark }).map(({ verb, uri }) => `${verb} ${uri}`),
      [],
    );
    assert.equal(server.count('POST', 'PUT', 'PATCH', 'DELETE'), sent);
    const resting = shared.audit.mark();
    await shared.audit.quiet(10 * restMs);
    assert.deepEqual(shared.audit.atRest({ since: resting }), []);
    await client().delete(thingPath('remote', namespace));
    await client().untilGone(path(namespace, 'httpobjects', 'one'));
  });

  test('metrics count requests by endpoint, and objects by state', async () => {
    const namespace = await readyResource();
    const families = await scrape(homeostat);
    const value = (name: string, labels: Readonly<Record<string, string>>) =>
      valueOfSamples(families, name, labels);
    assert.ok(
      value('homeostat_http_requests_total', { endpoint: `${namespace}/one`, code: '2xx' }) >= 4,
    );
    assert.equal(value('homeostat_http_objects', { state: 'ready' }), 1);
    await client().delete(thingPath('remote', namespace));
    await client().untilGone(path(namespace, 'httpendpoints', 'one'));
  });

  test('a create sends two requests: it looks, and the answer to the create is an observation', async () => {
    const namespace = await allowedNamespace();
    await client().apply(endpointObject({ url: server.url }, { namespace }));
    const name = `created-in-${namespace}`;
    await client().apply(
      httpObject(
        {
          desired: { limit: 1 },
          params: { name },
          observe: { path: '/queues/{name}' },
          create: { method: 'PUT', path: '/queues/{name}' },
          update: { path: '/queues/{name}' },
          delete: { path: '/queues/{name}' },
        },
        { namespace },
      ),
    );
    server.authorization = undefined;
    await untilCondition(path(namespace, 'httpobjects', 'www'), 'Synced', 'AsDesired');
    await shared.audit.quiet(restMs);
    assert.deepEqual(
      server.requests.filter((each) => each.path.endsWith(name)).map(({ method }) => method),
      ['GET', 'PUT'],
    );
    await client().delete(path(namespace, 'httpobjects', 'www'));
    await client().untilGone(path(namespace, 'httpobjects', 'www'));
  });

  test('rotated credentials are used at once, and rejected ones are reported', async () => {
    server.authorization = 'Bearer first';
    const namespace = await readyResource();
    server.authorization = 'Bearer second';
    const object = path(namespace, 'httpobjects', 'one');
    await client().apply(thing('remote', namespace, { url: server.url, content: 'b' }));
    await untilCondition(object, 'Synced', 'Unauthorized');
    await client().apply(secret(namespace, 'second'));
    await untilContent(namespace, 'b');
    assert.doesNotMatch(JSON.stringify(await client().get(object)), /first|second/);
    await client().delete(thingPath('remote', namespace));
    await client().untilGone(object);
  });

  test('a service that is down makes nothing unready, and what was edited meanwhile is sent when it is back', async () => {
    server.authorization = undefined;
    const namespace = await readyResource();
    await server.stop();
    const object = path(namespace, 'httpobjects', 'one');
    await client().apply(thing('remote', namespace, { url: server.url, content: 'b' }));
    await untilCondition(object, 'Synced', 'Unreachable');
    await server.start();
    await untilContent(namespace, 'b');
    // Deleted while the service is down: the object waits for it.
    await server.stop();
    await client().delete(thingPath('remote', namespace));
    await untilCondition(object, 'Synced', 'DeleteFailed');
    await server.start();
    await client().untilGone(object);
    assert.deepEqual(recordOf(namespace), []);
  });

  test('a lost answer to a create makes one object', async () => {
    const namespace = await allowedNamespace();
    await client().apply(endpointObject({ url: server.url, timeout: '1s' }, { namespace }));
    const spec = {
      desired: { name: namespace, content: 'a' },
      observe: { path: '/records/{id}', result: '$(body.result)' },
      find: { path: '/records', results: '$(body.result)', match: ['name'] },
      create: { path: '/records' },
      delete: { path: '/records/{id}' },
      id: '$(result.id)',
    };
    const before = server.count('POST');
    server.losesAnswersOf = 'POST';
    await client().apply(httpObject(spec, { namespace }));
    await untilCondition(path(namespace, 'httpobjects', 'www'), 'Synced', 'AsDesired');
    assert.equal(recordOf(namespace).length, 1);
    assert.equal(server.count('POST'), before + 1);
    await client().delete(path(namespace, 'httpobjects', 'www'));
    await client().untilGone(path(namespace, 'httpobjects', 'www'));
  });

  test('values that the API does not return any more are removed from the status', async () => {
    const namespace = await allowedNamespace();
    await client().apply(endpointObject({ url: server.url }, { namespace }));
    server.authorization = undefined;
    const name = `values-of-${namespace}`;
    const stored = { name, details: { owner: 'a', team: 'b' } };
    server.api.collection('/queues').objects.set(name, stored);
    const spec = {
      params: { name },
      observe: { path: '/queues/{name}' },
      values: { details: '$(result.details)' },
    };
    await client().apply(httpObject(spec, { namespace }));
    const object = path(namespace, 'httpobjects', 'www');
    await untilCondition(object, 'Synced', 'AsDesired');
    // One at a time: a map without fields left is `null` after a server-side apply that merges it.
    for (const [at, details] of ['{"owner":"a"}', '{}'].entries()) {
      server.api.collection('/queues').objects.set(name, { name, details: JSON.parse(details) });
      await client().patch(object, {
        metadata: { annotations: { 'homeostat.dev/reconcile-at': String(at) } },
      });
      await client().untilObject(object, (each) => {
        return JSON.stringify(statusOf(each).values) === `{"details":${details}}`;
      });
    }
    const { details: _, ...without } = stored;
    server.api.collection('/queues').objects.set(name, without);
    await client().patch(object, {
      metadata: { annotations: { 'homeostat.dev/reconcile-at': 'last' } },
    });
    await client().untilObject(object, (each) => JSON.stringify(statusOf(each).values) === '{}');
    await client().delete(object);
    await client().untilGone(object);
  });

  test('`desired` without fields is applied over one with fields', async () => {
    const namespace = await allowedNamespace();
    await client().apply(endpointObject({ url: server.url }, { namespace }));
    const of = (desired: JsonObject) =>
      httpObject({ desired, observe: { path: '/health' } }, { namespace });
    await client().apply(of({ a: 1 }));
    await client().apply(of({}));
    const object = await client().get(path(namespace, 'httpobjects', 'www'));
    assert.match(JSON.stringify(object?.spec), /"desired":\{\}/);
    await client().delete(path(namespace, 'httpobjects', 'www'));
    await client().untilGone(path(namespace, 'httpobjects', 'www'));
  });

  test('a namespace is deleted with its objects, also if Secrets are deleted first', async () => {
    const namespace = await readyResource();
    await client().delete(`/api/v1/namespaces/${namespace}/secrets/api`);
    await client().delete(`/api/v1/namespaces/${namespace}`);
    await client().untilGone(`/api/v1/namespaces/${namespace}`);
    assert.deepEqual(recordOf(namespace), []);
  });

  test('a runtime of another name leaves its endpoints alone', async () => {
    const namespace = await allowedNamespace();
    await client().apply(
      endpointObject(
        { url: server.url },
        { namespace, labels: { 'homeostat.dev/runtime': 'other' } },
      ),
    );
    const spec = { observe: { path: '/records/1' } };
    await client().apply(httpObject(spec, { namespace }));
    await shared.audit.quiet(restMs);
    const object = await client().get(path(namespace, 'httpobjects', 'www'));
    assert.deepEqual(
      statusOf(object).conditions?.map(({ type, status, reason }) => [type, status, reason]),
      [['Ready', 'Unknown', 'Pending']],
    );
  });
});
