import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#util/json.ts';
import { createTestSandbox } from '../../test/support/backends/index.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import type { Sandbox } from './index.ts';

const widgetCrd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.demo.io' },
  spec: {
    group: 'demo.io',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
          },
        },
      },
    ],
  },
};
const mapCrd = {
  ...widgetCrd,
  metadata: { name: 'bags.demo.io' },
  spec: {
    ...widgetCrd.spec,
    names: { plural: 'bags', kind: 'Bag' },
    versions: widgetCrd.spec.versions.map((version) => ({
      ...version,
      schema: {
        openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    })),
  },
};
const bag = { apiVersion: 'demo.io/v1', kind: 'Bag', metadata: { name: 'one' } };
const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const widgets = '/apis/demo.io/v1/namespaces/default/widgets';
const configMaps = '/api/v1/namespaces/default/configmaps';

interface Answer {
  readonly status: number;
  readonly body: JsonObject;
}

function call(sandbox: Sandbox, method: string, path: string, body?: unknown): Answer {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const text = body === undefined ? '' : JSON.stringify(body);
  const headers = { 'content-type': type, 'user-agent': 'test' };
  const answer = sandbox.handle({ method, path, headers, body: text });
  assert.ok(typeof answer.body === 'string', `${path} is a stream`);
  // Unknown pages are answered in plain text.
  const isJson = answer.body.startsWith('{');
  return { status: answer.status, body: isJson ? JSON.parse(answer.body) : {} };
}

/** The events of a watch so far; the stream stays open. */
class WatchReader {
  readonly #lines: AsyncIterator<string>;
  constructor(sandbox: Sandbox, path: string) {
    const { body } = sandbox.handle({ method: 'GET', path, headers: {}, body: '' });
    assert.ok(typeof body !== 'string', String(body));
    this.#lines = body[Symbol.asyncIterator]();
  }
  async next(): Promise<readonly { type: string; object: JsonObject }[]> {
    const { done, value } = await this.#lines.next();
    if (done === true) return [];
    return value
      .trim()
      .split('\n')
      .map((line: string) => JSON.parse(line));
  }
  async close(): Promise<void> {
    await this.#lines.return?.();
  }
}

/** Metadata of a client that sets `managedFields`. */
function withOwners(managedFields: readonly object[]): object {
  return { name: 'p', managedFields };
}

/** An answer without what differs from write to write, and what a verdict leaves out. */
function comparable(body: JsonObject): JsonObject {
  const { uid: _, managedFields: __, ...metadata } = body.metadata as JsonObject;
  return { ...body, metadata };
}

describe('sandbox', () => {
  test('has the default namespaces and reports its version', () => {
    const sandbox = createTestSandbox();
    const { body } = call(sandbox, 'GET', '/api/v1/namespaces');
    const names = (body.items as readonly { metadata: { name: string } }[]).map(
      ({ metadata }) => metadata.name,
    );
    assert.deepEqual(names, ['default', 'kube-node-lease', 'kube-public', 'kube-system']);
    assert.match(String(call(sandbox, 'GET', '/version').body.gitVersion), /\+sandbox$/);
  });

  test('a CRD is served at once, in discovery and OpenAPI, and deleted with its objects', () => {
    const sandbox = createTestSandbox();
    assert.equal(call(sandbox, 'GET', widgets).status, 404);
    assert.equal(call(sandbox, 'POST', crds, widgetCrd).status, 201);
    const widget = { apiVersion: 'demo.io/v1', kind: 'Widget', metadata: { name: 'w' } };
    assert.equal(call(sandbox, 'POST', widgets, widget).status, 201);
    const { body: list } = call(sandbox, 'GET', '/apis/demo.io/v1');
    assert.deepEqual(
      (list.resources as readonly JsonObject[]).map(({ name }) => name),
      ['widgets', 'widgets/status'],
    );
    const { body: index } = call(sandbox, 'GET', '/openapi/v3');
    assert.ok(Object.keys(index.paths as JsonObject).includes('apis/demo.io/v1'));
    assert.equal(call(sandbox, 'DELETE', `${crds}/widgets.demo.io`).status, 200);
    assert.equal(call(sandbox, 'GET', widgets).status, 404);
    assert.equal(call(sandbox, 'GET', `${crds}/widgets.demo.io`).status, 404);
  });

  test('a CRD waits for an object that a finalizer holds', () => {
    const sandbox = createTestSandbox();
    call(sandbox, 'POST', crds, widgetCrd);
    const metadata = { name: 'w', finalizers: ['demo.io/hold'] };
    call(sandbox, 'POST', widgets, { apiVersion: 'demo.io/v1', kind: 'Widget', metadata });
    call(sandbox, 'DELETE', `${crds}/widgets.demo.io`);
    const held = call(sandbox, 'GET', `${widgets}/w`).body.metadata as JsonObject;
    assert.ok(held.deletionTimestamp !== undefined);
    const late = { apiVersion: 'demo.io/v1', kind: 'Widget', metadata: { name: 'late' } };
    assert.equal(call(sandbox, 'POST', widgets, late).status, 403);
    const { status } = call(sandbox, 'GET', `${crds}/widgets.demo.io`).body;
    assert.match(JSON.stringify(status), /"InstanceDeletionInProgress"/);
    assert.equal(
      call(sandbox, 'PATCH', `${widgets}/w`, { metadata: { finalizers: null } }).status,
      200,
    );
    assert.equal(call(sandbox, 'GET', `${crds}/widgets.demo.io`).status, 404);
  });

  test('the hash of an OpenAPI document changes with a CRD', () => {
    const sandbox = createTestSandbox();
    call(sandbox, 'POST', crds, widgetCrd);
    const url = () => {
      const paths = call(sandbox, 'GET', '/openapi/v3').body.paths as JsonObject;
      return (paths['apis/demo.io/v1'] as JsonObject).serverRelativeURL;
    };
    const before = url();
    const [version] = widgetCrd.spec.versions;
    const schema = { openAPIV3Schema: { type: 'object' } };
    const spec = { versions: [{ ...version, schema }] };
    assert.equal(call(sandbox, 'PATCH', `${crds}/widgets.demo.io`, { spec }).status, 200);
    assert.notEqual(url(), before);
  });

  test('a watch sends bookmarks after writes elsewhere, none when idle, and ends at its timeout', async () => {
    const clock = new FakeClock();
    const sandbox = createTestSandbox({ clock, controllers: false });
    const watch = new WatchReader(
      sandbox,
      `${configMaps}?watch=1&allowWatchBookmarks=true&timeoutSeconds=90&resourceVersion=0`,
    );
    const elsewhere = (name: string) => {
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } };
      call(sandbox, 'POST', '/api/v1/namespaces/kube-public/configmaps', object);
    };
    assert.equal((await watch.next())[0]?.type, 'BOOKMARK');
    elsewhere('a');
    await clock.advance(60_000);
    assert.equal((await watch.next())[0]?.type, 'BOOKMARK');
    await clock.advance(27_000);
    elsewhere('b');
    await clock.advance(1_000);
    assert.equal((await watch.next())[0]?.type, 'BOOKMARK');
    await clock.advance(2_000);
    assert.deepEqual(await watch.next(), []);
    assert.equal(clock.pending, 0);
  });

  test('a watch gets bookmarks also where nothing is written', async () => {
    const clock = new FakeClock();
    const sandbox = createTestSandbox({ clock, controllers: false });
    const query = 'watch=1&allowWatchBookmarks=true&timeoutSeconds=200';
    const watch = new WatchReader(sandbox, `${configMaps}?${query}`);
    const [first] = await watch.next();
    const annotations = { 'k8s.io/initial-events-end': 'true' };
    const metadata = first?.object.metadata as JsonObject | undefined;
    assert.deepEqual(metadata?.annotations, annotations);
    for (let minute = 1; minute <= 3; minute += 1) {
      await clock.advance(60_000);
      const [{ type, object } = assert.fail(), ...more] = await watch.next();
      assert.equal(type, 'BOOKMARK');
      const { resourceVersion } = object.metadata as JsonObject;
      assert.equal(resourceVersion, metadata?.resourceVersion);
      assert.deepEqual(more, []);
    }
  });

  test('a watch that its reader closes releases its resources', async () => {
    const clock = new FakeClock();
    const watch = new WatchReader(
      createTestSandbox({ clock, controllers: false }),
      `${configMaps}?watch=1`,
    );
    await watch.close();
    assert.equal(clock.pending, 0);
  });

  test('keys of maps and of custom resources are stored in order', () => {
    const sandbox = createTestSandbox({ clock: new FakeClock() });
    call(sandbox, 'POST', crds, mapCrd);
    const env = { z: '1', a: '2' };
    const bags = '/apis/demo.io/v1/namespaces/default/bags';
    call(sandbox, 'POST', bags, { ...bag, spec: { env, b: 1 } });
    call(sandbox, 'PATCH', `${bags}/one`, { spec: { a: [{ d: 1, c: 2 }] } });
    const { spec } = call(sandbox, 'GET', `${bags}/one`).body;
    assert.equal(JSON.stringify(spec), '{"a":[{"c":2,"d":1}],"b":1,"env":{"a":"2","z":"1"}}');
    const metadata = { name: 'one' };
    call(sandbox, 'POST', configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: env });
    const { data } = call(sandbox, 'GET', `${configMaps}/one`).body;
    assert.equal(JSON.stringify(data), '{"a":"2","z":"1"}');
  });

  test('a write creates one event, a write without changes none', async () => {
    const sandbox = createTestSandbox({ controllers: false });
    const watch = new WatchReader(sandbox, `${configMaps}?watch=1`);
    const manifest = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a' },
      data: { k: '1' },
    };
    call(sandbox, 'POST', configMaps, manifest);
    call(sandbox, 'PATCH', `${configMaps}/a`, { data: { k: '1' } });
    call(sandbox, 'DELETE', `${configMaps}/a`);
    assert.deepEqual(
      (await watch.next()).map(({ type }) => type),
      ['ADDED', 'DELETED'],
    );
    await watch.close();
  });

  test('rules that cannot be evaluated cause a warning', () => {
    const schema = { type: 'object', 'x-kubernetes-validations': [{ rule: 'isURL(self.x)' }] };
    const [version] = widgetCrd.spec.versions;
    const versions = [{ ...version, schema: { openAPIV3Schema: schema } }];
    const crd = { ...widgetCrd, spec: { ...widgetCrd.spec, versions } };
    const { status, headers } = createTestSandbox().handle({
      method: 'POST',
      path: crds,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(crd),
    });
    assert.equal(status, 201);
    assert.match(headers.warning ?? '', /cannot evaluate this CEL rule/);
  });

  test('the log of a bound pod says that no containers run', async () => {
    const sandbox = createTestSandbox();
    const log = (name: string) =>
      sandbox.handle({
        method: 'GET',
        path: `/api/v1/namespaces/default/pods/${name}/log`,
        headers: {},
        body: '',
      });
    call(sandbox, 'POST', '/api/v1/namespaces/default/pods', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'c', image: 'a' }] },
    });
    assert.equal(log('p').body, '');
    await sandbox.settle();
    assert.match(String(log('p').body), /runs no containers/);
    assert.equal(log('none').status, 404);
  });

  test('features that are not modelled get a Status that names them', () => {
    const sandbox = createTestSandbox();
    assert.equal(call(sandbox, 'GET', '/apis/storage.k8s.io/v1/csinodes').status, 404);
    assert.equal(call(sandbox, 'PUT', '/api/v1/namespaces/default/finalize', {}).status, 501);
  });

  for (const [name, path, body] of [
    ['broken JSON', configMaps, '{"a":'],
    ['a list', configMaps, '[]'],
    ['a text', configMaps, '"x"'],
    ['nothing', configMaps, ''],
    ['deep nesting', configMaps, `${'['.repeat(20_000)}${']'.repeat(20_000)}`],
    [
      'deep nesting in an object',
      configMaps,
      `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}}`,
    ],
    ['a path that climbs', '/api/v1/namespaces/..%2f..%2fx/configmaps', '{}'],
  ] as const) {
    test(`${name} is rejected with a Status`, () => {
      const sandbox = createTestSandbox();
      const headers = { 'content-type': 'application/json' };
      const answer = sandbox.handle({ method: 'POST', path, headers, body });
      assert.ok(answer.status >= 400 && answer.status < 500, `${answer.status} ${answer.body}`);
      assert.equal(JSON.parse(String(answer.body)).kind, 'Status');
    });
  }

  test('a generated name avoids existing names', () => {
    const suffixes = ['first', 'first', 'first', 'other'];
    const text = (length: number, alphabet: string) =>
      length === 5 ? (suffixes.shift() ?? 'other') : alphabet.charAt(0).repeat(length);
    const sandbox = createTestSandbox({ random: { fraction: () => 0, text } });
    const make = () => call(sandbox, 'POST', configMaps, { metadata: { generateName: 'a-' } });
    const names = [make(), make()].map(({ body }) => (body.metadata as JsonObject).name);
    assert.deepEqual(names, ['a-first', 'a-other']);
    assert.equal(make().status, 409);
    sandbox.stop();
  });

  describe('judges creates like a strict dry run of them', () => {
    // Both have the same time.
    const sandbox = createTestSandbox({ clock: new FakeClock() });
    call(sandbox, 'POST', crds, widgetCrd);
    const pod = (spec: object, metadata: object = { name: 'p' }) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata,
      spec,
    });
    const widget = (spec: unknown, metadata: object = { name: 'w' }) => ({
      apiVersion: 'demo.io/v1',
      kind: 'Widget',
      metadata,
      spec,
    });
    const otherCrd = (schema: object) => ({
      ...widgetCrd,
      metadata: { name: 'gadgets.demo.io' },
      spec: {
        ...widgetCrd.spec,
        names: { plural: 'gadgets', kind: 'Gadget' },
        versions: [{ ...widgetCrd.spec.versions[0], schema: { openAPIV3Schema: schema } }],
      },
    });
    const pods = '/api/v1/namespaces/default/pods';
    const containers = [{ name: 'a', image: 'a' }];
    const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview' };
    const rule = { rule: 'self.spec.size > 1' };
    const size = { type: 'object', properties: { size: { type: 'integer' } } };
    for (const [what, path, object] of [
      ['a pod', pods, pod({ containers })],
      ['a pod with a generated name', pods, pod({ containers }, { name: 'p', generateName: 'q-' })],
      ['a pod with owners of its fields', pods, pod({ containers }, withOwners([]))],
      ['a pod with wrong owners of its fields', pods, pod({ containers }, withOwners([{ a: 1 }]))],
      ['a pod in another namespace', pods, pod({ containers }, { name: 'p', namespace: 'other' })],
      ['a pod with a version', pods, pod({ containers }, { name: 'p', resourceVersion: '3' })],
      ['an invalid pod', pods, pod({ containers: [{ name: 'A' }] }, { name: 'P_' })],
      ['unknown fields', pods, pod({ contaners: [], containers: [{ name: 'a', imag: 'a' }] })],
      ['a value of a wrong type', pods, pod({ containers: 'none' })],
      ['duplicate items', pods, pod({ containers: [...containers, ...containers] })],
      ['an object of another kind', pods, widget({})],
      ['an object without a kind', widgets, { apiVersion: 'demo.io/v1', metadata: { name: 'w' } }],
      ['an object in a missing namespace', '/api/v1/namespaces/x/pods', pod({ containers })],
      ['a widget', widgets, widget({ size: 3 })],
      ['an invalid widget', widgets, widget({ size: '3', more: true }, { name: 'W' })],
      ['a widget without a name', widgets, widget({ size: 3 }, {})],
      ['a CRD', crds, otherCrd({ type: 'object', properties: { spec: size } })],
      [
        'a CRD with rules and defaults',
        crds,
        otherCrd({
          'x-kubernetes-validations': [rule],
          type: 'object',
          properties: { spec: { ...size, default: { size: 1 } } },
        }),
      ],
      ['an invalid CRD', crds, otherCrd({ type: 'objct', properties: { spec: { default: 1 } } })],
      ['a CRD that exists', crds, widgetCrd],
      [
        'a review',
        '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
        { ...review, spec: { resourceAttributes: { verb: 'get' } } },
      ],
    ] as const)
      test(what, () => {
        const strict = `${path}?dryRun=All&fieldValidation=Strict`;
        const { status, body } = call(sandbox, 'POST', strict, object);
        const verdict = sandbox.judgeCreate(path, object as unknown as JsonObject);
        assert.equal(verdict.isAccepted, status < 300);
        assert.deepEqual(comparable(JSON.parse(JSON.stringify(verdict.body))), comparable(body));
      });

    test('a kind that is not served', () => {
      const { isAccepted } = sandbox.judgeCreate('/apis/demo.io/v1/gadgets', widget({}) as never);
      assert.equal(isAccepted, false);
    });
  });
});
