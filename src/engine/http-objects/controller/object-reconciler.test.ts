import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { HttpTransportError, KubeError, type TransportRequest } from '#kube/roles.ts';
import { decodeBase64, encodeBase64 } from '#util/base64.ts';
import type { JsonObject } from '#util/json.ts';
import { conditionsOf, type KubeObject, parseKey } from '#util/kube-object.ts';
import { MemoryCluster } from '../../../../test/support/http-objects/memory-cluster.ts';
import {
  jsonAnswer,
  RecordingTransport,
} from '../../../../test/support/http-objects/recording-transport.ts';
import {
  endpointObject,
  httpObject,
  queueSpec,
  recordSpec,
} from '../../../../test/support/http-objects/test-objects.ts';
import { testPorts } from '../../../../test/support/http-objects/test-ports.ts';
import { Endpoints } from './endpoints.ts';
import { FarIndex } from './far-index.ts';
import { TokenRefusedError } from './login-tokens.ts';
import { ObjectReconciler } from './object-reconciler.ts';
import type { ServiceAccountTokens } from './ports.ts';

const { signal } = new AbortController();
const key = 'shop/www';
type Answers = (request: TransportRequest) => object | Error;

function setUp(
  spec: JsonObject,
  answers: Answers,
  endpoint: JsonObject = {},
  more: { readonly isTerminating?: boolean; readonly tokens?: ServiceAccountTokens } = {},
) {
  const { tokens } = more;
  const cluster = new MemoryCluster();
  const transport = new RecordingTransport(answers);
  const { values } = testPorts(transport, cluster);
  const ports = testPorts(transport, cluster, {
    values: { ...values, isNamespaceTerminating: async () => more.isTerminating === true },
    ...(tokens && { tokens }),
  });
  cluster.put(endpointObject(endpoint));
  cluster.put(httpObject(spec));
  const get = (kind: string) => (of: string) => {
    const { namespace, name } = parseKey(of);
    return cluster.get(kind, namespace, name);
  };
  const start = () =>
    new ObjectReconciler({
      ports,
      endpoints: new Endpoints({ ports, objectOf: get('HttpEndpoint') }),
      index: new FarIndex(),
      objectOf: get('HttpObject'),
    });
  let reconciler = start();
  return {
    ...{ cluster, transport, ports },
    reconcile: async () => (await reconciler.reconcile(key, signal)).result,
    reach: async () => (await reconciler.reconcile(key, signal)).reach,
    restart: () => {
      reconciler = start();
    },
    object: () => {
      const object = cluster.get('HttpObject', 'shop', 'www');
      assert.ok(object);
      return object;
    },
    sent: () =>
      transport.requests.map(
        ({ method, url }) => `${method} ${url.slice('http://api.shop.svc/v1'.length)}`,
      ),
  };
}

function synced(object: KubeObject) {
  const { status, reason, message } =
    conditionsOf(object).find(({ type }) => type === 'Synced') ?? {};
  return [status, reason, message];
}

function ready(object: KubeObject) {
  return conditionsOf(object).find(({ type }) => type === 'Ready')?.status;
}

/** A queue that exists after its PUT. */
function queueApi(): Answers {
  let queue: unknown;
  return ({ method, body }) => {
    if (method === 'PUT') queue = JSON.parse(body ?? '');
    if (method === 'DELETE') queue = undefined;
    return queue === undefined ? jsonAnswer({}, 404) : jsonAnswer(queue);
  };
}

describe('http-objects/controller reconcile', () => {
  test('creates an object, and reports it', async () => {
    const rig = setUp({ ...queueSpec, values: { limit: '$(result.limit)' } }, queueApi());
    assert.deepEqual(await rig.reconcile(), { kind: 'done', due: { afterMs: 600_000 } });
    assert.deepEqual(rig.sent(), [
      'GET /queues/orders',
      'PUT /queues/orders',
      'GET /queues/orders',
    ]);
    const { status, metadata } = rig.object();
    const { conditions: _, ...others } = status as JsonObject;
    assert.deepEqual(others, {
      observedGeneration: 1,
      values: { limit: 10 },
      code: 200,
      lastChange: '2026-01-01T00:00:00Z',
    });
    assert.deepEqual(
      [synced(rig.object()), ready(rig.object())],
      [['True', 'AsDesired', ''], 'True'],
    );
    assert.deepEqual(metadata.finalizers, ['homeostat.dev/http-object']);
  });

  test('an answer to a create that shows the object as desired is its first observation', async () => {
    const rig = setUp(queueSpec, queueApi());
    assert.deepEqual(await rig.reconcile(), { kind: 'done', due: { afterMs: 600_000 } });
    assert.deepEqual(rig.sent(), ['GET /queues/orders', 'PUT /queues/orders']);
    assert.deepEqual(synced(rig.object()), ['True', 'AsDesired', '']);
    const other = setUp(queueSpec, ({ method }) =>
      method === 'PUT' ? jsonAnswer({ durable: true, limit: 1 }, 201) : jsonAnswer({}, 404),
    );
    await other.reconcile();
    assert.deepEqual(other.sent().at(-1), 'GET /queues/orders');
  });

  test('an edit while it is created is sent, and not reported as observed before', async () => {
    const api = queueApi();
    let edits = 0;
    const { cluster, reconcile, object, transport } = setUp(queueSpec, (request) => {
      // The answer to the write of the record is the first that shows it.
      if (request.method === 'GET' && edits++ === 0)
        cluster.put(
          httpObject({ ...queueSpec, desired: { durable: true, limit: 20 }, every: '0' }),
        );
      return api(request);
    });
    await reconcile();
    const { observedGeneration } = object().status as JsonObject;
    assert.equal(observedGeneration, 1);
    await reconcile();
    assert.deepEqual(
      transport.requests.flatMap(({ method, body }) => (method === 'PUT' ? [body] : [])),
      ['{"durable":true,"limit":10}', '{"durable":true,"limit":20}'],
    );
    assert.deepEqual(synced(object()), ['True', 'AsDesired', '']);
    assert.equal((object().status as JsonObject).observedGeneration, 2);
  });

  test('a look that finds nothing new sends nothing to the API server', async () => {
    const rig = setUp(queueSpec, queueApi());
    await rig.reconcile();
    const { writes } = rig.cluster;
    await rig.ports.clock.advance(600_000);
    await rig.reconcile();
    assert.equal(rig.cluster.writes, writes);
    assert.deepEqual(rig.sent().slice(2), ['GET /queues/orders']);
  });

  test('an event that changes nothing relevant sends no request', async () => {
    const rig = setUp(queueSpec, queueApi());
    await rig.reconcile();
    rig.cluster.annotate('HttpObject', 'shop', 'www', { note: 'x' });
    const result = await rig.reconcile();
    assert.deepEqual([result.kind, rig.sent().length], ['done', 2]);
    rig.cluster.annotate('HttpObject', 'shop', 'www', { 'homeostat.dev/reconcile-at': 'now' });
    await rig.reconcile();
    assert.equal(rig.sent().length, 3);
  });

  test('after a restart, looks are spread over "every"', async () => {
    const rig = setUp(queueSpec, queueApi());
    await rig.reconcile();
    rig.restart();
    assert.deepEqual(await rig.reconcile(), { kind: 'done', due: { afterMs: 300_000 } });
    assert.equal(rig.sent().length, 2);
  });

  test('but an edited object is reconciled at once', async () => {
    const rig = setUp(queueSpec, queueApi());
    await rig.reconcile();
    rig.restart();
    rig.cluster.put(httpObject({ ...queueSpec, desired: { durable: true, limit: 20 } }));
    await rig.reconcile();
    assert.deepEqual(rig.sent().slice(2), [
      'GET /queues/orders',
      'PUT /queues/orders',
      'GET /queues/orders',
    ]);
  });

  test('a failure is retried also without regular looks', async () => {
    let isDown = true;
    const api = queueApi();
    const rig = setUp({ ...queueSpec, every: '0' }, (request) =>
      isDown ? { status: 503 } : api(request),
    );
    assert.equal((await rig.reconcile()).kind, 'retry');
    isDown = false;
    assert.deepEqual(await rig.reconcile(), { kind: 'done' });
    assert.equal(synced(rig.object())[1], 'AsDesired');
  });

  test('a paused object is left alone', async () => {
    const rig = setUp(queueSpec, queueApi());
    rig.cluster.annotate('HttpObject', 'shop', 'www', { 'homeostat.dev/paused': 'true' });
    assert.deepEqual([await rig.reconcile(), rig.sent()], [{ kind: 'done' }, []]);
  });

  test('what changes in the API is reverted, and fields of others are kept', async () => {
    let queue: JsonObject = { durable: true, limit: 10 };
    const rig = setUp({ ...queueSpec, adopt: 'IfFound' }, ({ method, body }) => {
      if (method === 'PUT') queue = JSON.parse(body ?? '') as JsonObject;
      return jsonAnswer(queue);
    });
    await rig.reconcile();
    queue = { durable: true, limit: 3, owner: 'x' };
    await rig.ports.clock.advance(600_000);
    await rig.reconcile();
    assert.deepEqual(queue, { durable: true, limit: 10, owner: 'x' });
  });

  test('an update sends the tag of what was observed', async () => {
    const rig = setUp({ ...queueSpec, adopt: 'IfFound' }, () => ({
      ...jsonAnswer({ limit: 1 }),
      headers: { etag: '"7"' },
    }));
    await rig.reconcile();
    const update = rig.transport.requests.find(({ method }) => method === 'PUT');
    assert.equal(update?.headers['if-match'], '"7"');
  });

  test('a field that the API does not keep is unstable after three updates', async () => {
    const rig = setUp({ ...queueSpec, adopt: 'IfFound' }, () =>
      jsonAnswer({ durable: true, limit: 1 }),
    );
    const reasons = [];
    for (let count = 0; count < 4; count += 1) {
      await rig.reconcile();
      reasons.push(synced(rig.object())[1]);
      await rig.ports.clock.advance(60_000);
    }
    assert.deepEqual(reasons, ['Different', 'Different', 'Unstable', 'Unstable']);
    assert.equal(rig.sent().filter((each) => each.startsWith('PUT')).length, 3);
    await rig.ports.clock.advance(600_000);
    await rig.reconcile();
    assert.equal(rig.sent().filter((each) => each.startsWith('PUT')).length, 4);
  });

  test('a create is named by the UID of the object, and a later one by another text', async () => {
    const records: JsonObject[] = [];
    const rig = setUp({ ...recordSpec, idempotencyKey: true }, ({ method, url }) => {
      if (method === 'POST')
        records.push({ id: `r${records.length}`, name: 'www', content: '192.0.2.1' });
      if (url.endsWith('?name=www')) return jsonAnswer({ result: [] });
      if (
        method === 'GET' &&
        url.endsWith('/r0') &&
        records.length > 0 &&
        rig.ports.clock.nowMs() > lost
      )
        return jsonAnswer({}, 404);
      return jsonAnswer({ result: records.at(-1) ?? {} });
    });
    const lost = rig.ports.clock.nowMs() + 100_000;
    await rig.reconcile();
    await rig.ports.clock.advance(10_000);
    await rig.reconcile();
    await rig.ports.clock.advance(700_000);
    await rig.reconcile();
    const keys = rig.transport.requests
      .filter(({ method }) => method === 'POST')
      .map(({ headers }) => headers['idempotency-key']);
    const { uid } = rig.object().metadata;
    assert.deepEqual(keys, [uid, `${uid}-2`]);
  });

  for (const [title, adopt] of [
    ['without "find"', undefined],
    ['with "find"', 'Never'],
    ['with "find" and "adopt"', 'IfFound'],
  ] as const)
    test(`an object that "observe" never returns is created once, and deleted, ${title}`, async () => {
      const { find, ...others } = recordSpec as JsonObject;
      const records: JsonObject[] = [];
      const spec = {
        ...others,
        ...(adopt && { find, adopt }),
        observe: { path: '/zones/{zone}/record/{id}', result: '$(body.result)' },
      };
      const rig = setUp(spec, ({ method, url, body }) => {
        if (url.includes('/record/')) return jsonAnswer({}, 404);
        if (method === 'POST') {
          records.push({ ...JSON.parse(body ?? ''), id: `r${records.length + 1}` });
          return jsonAnswer({ result: records.at(-1) }, 201);
        }
        if (method === 'DELETE') {
          const index = records.findIndex(({ id }) => url.endsWith(`/${id}`));
          return { status: records.splice(index, 1).length === 1 ? 204 : 404 };
        }
        return jsonAnswer({ result: records });
      });
      for (let round = 0; round < 8; round++) {
        await rig.reconcile();
        await rig.ports.clock.advance(700_000);
        if (round === 4) rig.restart();
      }
      assert.deepEqual(
        records.map(({ id }) => id),
        ['r1'],
      );
      assert.deepEqual(synced(rig.object()).slice(0, 2), ['False', 'NotFound']);
      rig.cluster.remove('HttpObject', 'shop', 'www');
      await rig.reconcile();
      assert.deepEqual(records, []);
      assert.equal(rig.sent().filter((each) => each.startsWith('DELETE')).length, 1);
      assert.equal(rig.cluster.get('HttpObject', 'shop', 'www'), undefined);
    });

  test('an object that was created is observed soon, and then every 10 min', async () => {
    const rig = setUp(recordSpec, ({ method }) =>
      method === 'GET' && rig.sent().length === 1
        ? jsonAnswer({ result: [] })
        : jsonAnswer({ result: { id: 'r1', name: 'www', content: '192.0.2.1' } }),
    );
    assert.deepEqual(await rig.reconcile(), { kind: 'done', due: { afterMs: 10_000 } });
    await rig.ports.clock.advance(10_000);
    assert.deepEqual(await rig.reconcile(), { kind: 'done', due: { afterMs: 600_000 } });
    assert.deepEqual(rig.sent().at(-1), 'GET /zones/z1/records/r1');
  });

  test('a deletion is confirmed before the finalizer is removed', async () => {
    const rig = setUp(queueSpec, queueApi());
    await rig.reconcile();
    // No write of an earlier process can arrive any more.
    await rig.ports.clock.advance(40_000);
    rig.cluster.remove('HttpObject', 'shop', 'www');
    await rig.reconcile();
    assert.deepEqual(rig.sent().slice(2), ['DELETE /queues/orders', 'GET /queues/orders']);
    assert.equal(rig.cluster.get('HttpObject', 'shop', 'www'), undefined);
  });

  test('an invalid spec is reported, and does not hold the deletion', async () => {
    const rig = setUp(queueSpec, queueApi());
    await rig.reconcile();
    rig.cluster.put(httpObject({ ...queueSpec, ready: 'x' }));
    await rig.reconcile();
    assert.deepEqual(synced(rig.object()), [
      'False',
      'Invalid',
      'Expected code "$( … )", found "x" at /spec/ready',
    ]);
    await rig.ports.clock.advance(40_000);
    rig.cluster.remove('HttpObject', 'shop', 'www');
    await rig.reconcile();
    assert.equal(rig.cluster.get('HttpObject', 'shop', 'www'), undefined);
  });

  test('an outage keeps the values and "Ready", and says that they are stale', async () => {
    let isDown = false;
    const rig = setUp({ observe: { path: '/queues/orders' }, values: { a: '$(result.a)' } }, () =>
      isDown ? { status: 503 } : jsonAnswer({ a: 1 }),
    );
    await rig.reconcile();
    isDown = true;
    await rig.ports.clock.advance(600_000);
    assert.equal((await rig.reconcile()).kind, 'retry');
    const object = rig.object();
    assert.deepEqual((object.status as JsonObject).values, { a: 1 });
    assert.deepEqual([synced(object)[1], ready(object)], ['ServerError', 'True']);
    assert.deepEqual(object.metadata.finalizers ?? [], []);
  });

  test('values that are too large are reported, and not stored', async () => {
    const text = 'x'.repeat(40_000);
    const rig = setUp({ observe: { path: '/q' }, values: { a: '$(result.a)' } }, () =>
      jsonAnswer({ a: text }),
    );
    await rig.reconcile();
    assert.equal((rig.object().status as JsonObject).values, undefined);
    assert.equal(conditionsOf(rig.object())[0]?.reason, 'ValuesTooLarge');
  });

  test('"ready" decides', async () => {
    let state = 'pending';
    const rig = setUp(
      { observe: { path: '/q' }, ready: '$(result.state = "active")', every: '10s' },
      () => jsonAnswer({ state }),
    );
    await rig.reconcile();
    assert.equal(ready(rig.object()), 'False');
    state = 'active';
    await rig.ports.clock.advance(11_000);
    await rig.reconcile();
    assert.equal(ready(rig.object()), 'True');
  });

  test('a process that is not the leader any more sends nothing, and decides nothing', async () => {
    const rig = setUp(queueSpec, queueApi());
    const stale = structuredClone(rig.object());
    await rig.reconcile();
    const reconciler = new ObjectReconciler({
      ports: rig.ports,
      endpoints: new Endpoints({
        ports: rig.ports,
        objectOf: () => rig.cluster.list('HttpEndpoint')[0],
      }),
      index: new FarIndex(),
      objectOf: () => stale,
    });
    const { length } = rig.transport.requests;
    await assert.rejects(reconciler.reconcile(key, signal), { code: 'stale' });
    assert.deepEqual(rig.sent().slice(length), []);
  });
});

describe('http-objects/controller rejections of the API server', () => {
  const forbidden = new KubeError('forbidden', 'httpobjects.homeostat.dev is forbidden', {
    status: 403,
  });

  test('a record that cannot be written is in the status, and nothing is sent', async () => {
    const rig = setUp(queueSpec, queueApi());
    rig.cluster.rejectsEdits = () => forbidden;
    const { kind } = await rig.reconcile();
    assert.equal(kind, 'retry');
    assert.deepEqual(synced(rig.object()), [
      ...['False', 'WriteRejected', 'httpobjects.homeostat.dev is forbidden'],
    ]);
    assert.deepEqual(
      rig.sent().filter((text) => !text.startsWith('GET')),
      [],
    );
    rig.cluster.rejectsEdits = () => undefined;
    await rig.ports.clock.advance(600_000);
    await rig.reconcile();
    assert.deepEqual(synced(rig.object()), ['True', 'AsDesired', '']);
  });

  test('a Secret that is rejected is in the status, without the text of the rejection', async () => {
    const secret = { name: 'out', data: { limit: '$(result.limit)' } };
    const rig = setUp({ ...queueSpec, secret }, queueApi());
    rig.cluster.rejects = ({ kind }) =>
      kind === 'Secret'
        ? new KubeError('denied', 'webhook denies MTA=', { status: 403 })
        : undefined;
    await rig.reconcile();
    assert.deepEqual(synced(rig.object()), [
      ...['False', 'SecretNotWritten', 'The API server rejects the Secret: denied'],
    ]);
  });
});

describe('http-objects/controller objects that are only observed', () => {
  const spec = {
    desired: { name: 'www' },
    observe: { path: '/records/{id}', result: '$(body.result)' },
    find: { path: '/records', results: '$(body.result)', match: ['name'] },
    id: '$(result.id)',
    values: { content: '$(result.content)' },
  };
  const api =
    (...names: readonly string[]): Answers =>
    ({ url }) =>
      url.endsWith('/records')
        ? jsonAnswer({ result: names.map((name, index) => ({ id: `r${index}`, name })) })
        : jsonAnswer({ result: { id: 'r1', name: 'www', content: '192.0.2.1' } });

  test('one is found and read, and nothing is written in the API', async () => {
    const rig = setUp(spec, api('ftp', 'www'));
    await rig.reconcile();
    assert.deepEqual(rig.sent(), ['GET /records', 'GET /records/r1']);
    assert.deepEqual(synced(rig.object()), ['True', 'AsDesired', '']);
    const { values } = rig.object().status as JsonObject;
    assert.deepEqual(values, { content: '192.0.2.1' });
    assert.equal(rig.object().metadata.finalizers, undefined);
  });

  for (const [names, reason] of [
    [['ftp'], 'NotFound'],
    [['www', 'www'], 'Conflict'],
  ] as const)
    test(`of ${names.join(' and ')}, www is ${reason}`, async () => {
      const rig = setUp(spec, api(...names));
      await rig.reconcile();
      assert.equal(synced(rig.object())[1], reason);
      assert.deepEqual(rig.sent(), ['GET /records']);
    });
});

describe('http-objects/controller reach', () => {
  for (const [title, answer, expected] of [
    ['an answer', jsonAnswer({}, 500), 'answered'],
    [
      'no connection',
      new HttpTransportError('unreachable', 'x', { mayHaveArrived: false }),
      'unreachable',
    ],
    [
      'no answer in time',
      new HttpTransportError('timeout', 'x', { mayHaveArrived: true }),
      'unreachable',
    ],
    [
      'a place that is not allowed',
      new HttpTransportError('address-not-allowed', 'x', { mayHaveArrived: false }),
      'answered',
    ],
  ] as const)
    test(`${title} is ${expected}`, async () => {
      assert.equal(await setUp(queueSpec, () => answer).reach(), expected);
    });

  test('without a request, nothing is known', async () => {
    const rig = setUp({ ...queueSpec, ready: 'x' }, queueApi());
    assert.equal(await rig.reach(), undefined);
  });
});

describe('http-objects/controller secrets', () => {
  const inputs = { password: { secretKeyRef: { name: 'db', key: 'password' } } };
  const spec = { ...queueSpec, inputs, secretFields: { 'auth.password': 'password' } };

  function withSecret(value: string, answers: Answers, more: JsonObject = {}) {
    const rig = setUp({ ...spec, ...more }, answers);
    const put = (text: string) =>
      rig.cluster.put({
        ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'db', namespace: 'shop' } },
        data: { password: encodeBase64(text) },
      });
    put(value);
    return { ...rig, put };
  }

  /** The whole cluster but Secrets, and all Events. */
  function visible({ cluster }: ReturnType<typeof setUp>): string {
    const objects = [...cluster.objects.values()].filter(({ kind }) => kind !== 'Secret');
    return JSON.stringify([objects, cluster.eventsSeen]);
  }

  test('a value is sent, is in nothing that users see, and is sent again when it changes', async () => {
    const api = queueApi();
    const hidden: Answers = (request) => {
      const answer = api(request) as { body: string };
      return { ...answer, body: answer.body.replace(/"password":"[^"]*"/, '"password":null') };
    };
    const rig = withSecret('hunter2', hidden);
    await rig.reconcile();
    const bodies = () =>
      rig.transport.requests
        .filter(({ method }) => method === 'PUT')
        .map(({ body }) => JSON.parse(body ?? '') as JsonObject);
    assert.deepEqual(bodies()[0]?.auth, { password: 'hunter2' });
    await rig.ports.clock.advance(600_000);
    await rig.reconcile();
    assert.equal(bodies().length, 1, 'it is not compared');
    rig.put('hunter3');
    await rig.reconcile();
    assert.deepEqual(bodies()[1]?.auth, { password: 'hunter3' });
    await rig.ports.clock.advance(600_000);
    await rig.reconcile();
    assert.equal(bodies().length, 2);
    assert.doesNotMatch(visible(rig), /hunter/);
  });

  test('a missing value sends nothing', async () => {
    const rig = setUp(spec, queueApi());
    await rig.reconcile();
    assert.deepEqual([synced(rig.object())[1], rig.sent()], ['ValueMissing', []]);
  });

  test('an API that returns the value shows it nowhere', async () => {
    const rig = withSecret('hunter2', queueApi(), {
      values: { all: '$(result)' },
      error: '$(body.message)',
    });
    await rig.reconcile();
    assert.match(visible(rig), /"password":"…"/);
    assert.doesNotMatch(visible(rig), /hunter/);
  });

  test('an error that quotes the value shows it nowhere', async () => {
    const rig = withSecret(
      'hunter2',
      ({ method }) =>
        method === 'GET' ? jsonAnswer({}, 404) : jsonAnswer({ message: 'bad "hunter2"' }, 422),
      { error: '$(body.message)' },
    );
    await rig.reconcile();
    assert.equal(synced(rig.object())[2], 'PUT /v1/queues/orders was answered with 422: bad "…"');
    assert.doesNotMatch(visible(rig), /hunter/);
  });

  const tokenSpec = {
    ...recordSpec,
    secret: { name: 'www-token', data: { token: '$(body.result.token)' } },
  };

  function tokenApi(): Answers {
    let record: JsonObject | undefined;
    return ({ method, url }) => {
      if (method === 'POST') {
        record = { id: 'r1', name: 'www', content: '192.0.2.1' };
        return jsonAnswer({ result: { ...record, token: 's3cr3t' } }, 201);
      }
      if (url.includes('?')) return jsonAnswer({ result: record === undefined ? [] : [record] });
      return record === undefined ? jsonAnswer({}, 404) : jsonAnswer({ result: record });
    };
  }

  test('a value of the answer to a create is in the owned Secret only', async () => {
    const rig = setUp(tokenSpec, tokenApi());
    await rig.reconcile();
    const secret = rig.cluster.get('Secret', 'shop', 'www-token');
    assert.ok(secret);
    const { token = '' } = secret.data as Record<string, string>;
    assert.equal(decodeBase64(token), 's3cr3t');
    assert.equal(secret.metadata.ownerReferences?.[0]?.uid, rig.object().metadata.uid);
    assert.doesNotMatch(visible(rig), /s3cr3t/);
  });

  test('a Secret of another owner is not written, and nothing is created', async () => {
    const rig = setUp(tokenSpec, tokenApi());
    rig.cluster.put({
      ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'www-token', namespace: 'shop' } },
      data: { a: 'YQ==' },
    });
    await rig.reconcile();
    assert.deepEqual(synced(rig.object()), [
      'False',
      'SecretNotWritten',
      'Secret "www-token" exists, and this HttpObject does not own it',
    ]);
    assert.deepEqual(rig.sent(), ['GET /zones/z1/records?name=www']);
  });

  test('a deleted Secret is SecretLost', async () => {
    const rig = setUp(tokenSpec, tokenApi());
    await rig.reconcile();
    rig.cluster.objects.delete('Secret shop/www-token');
    await rig.ports.clock.advance(600_000);
    await rig.reconcile();
    assert.equal(synced(rig.object())[1], 'SecretLost');
  });

  test('a value of each observation is kept up to date', async () => {
    let token = 'first-value';
    const secret = { name: 'www-token', data: { token: '$(result.token)' } };
    const rig = setUp({ observe: { path: '/q' }, secret, every: '10s' }, () =>
      jsonAnswer({ token }),
    );
    await rig.reconcile();
    token = 'second-value';
    await rig.ports.clock.advance(11_000);
    await rig.reconcile();
    const stored = rig.cluster.get('Secret', 'shop', 'www-token')?.data as Record<string, string>;
    assert.equal(decodeBase64(stored.token ?? ''), 'second-value');
    const { writes } = rig.cluster;
    await rig.ports.clock.advance(11_000);
    await rig.reconcile();
    assert.equal(rig.cluster.writes, writes);
    assert.doesNotMatch(visible(rig), /-value/);
  });

  test('a deletion that the answer to the write of the status shows first is not missed', async () => {
    const rig = setUp({ ...queueSpec, every: '0' }, queueApi());
    rig.cluster.rejects = ({ status }) => {
      if (status !== undefined) rig.cluster.remove('HttpObject', 'shop', 'www');
      return undefined;
    };
    await rig.reconcile();
    assert.ok(rig.object().metadata.deletionTimestamp !== undefined);
    await rig.ports.clock.advance(40_000);
    await rig.reconcile();
    assert.equal(rig.cluster.get('HttpObject', 'shop', 'www'), undefined);
  });

  for (const [title, spec, isTerminating, isReleased] of [
    ['waits', {}, false, false],
    ['is released while its namespace is deleted', {}, true, true],
    [
      'waits with "whenGone: Wait" while its namespace is deleted',
      { whenGone: 'Wait' },
      true,
      false,
    ],
    ['is released with "whenGone: Orphan"', { whenGone: 'Orphan' }, false, true],
  ] as const)
    test(`a deleted object whose endpoint is missing ${title}`, async () => {
      const rig = setUp({ ...queueSpec, ...spec }, queueApi(), {}, { isTerminating });
      await rig.reconcile();
      const { length } = rig.sent();
      rig.cluster.objects.delete('HttpEndpoint shop/api');
      rig.cluster.remove('HttpObject', 'shop', 'www');
      await rig.reconcile();
      assert.equal(rig.cluster.get('HttpObject', 'shop', 'www') === undefined, isReleased);
      assert.equal(rig.sent().length, length);
    });

  test('a deleted object that waits is released when its namespace is deleted later', async () => {
    const state = { isTerminating: false };
    const rig = setUp(queueSpec, queueApi(), {}, state);
    await rig.reconcile();
    rig.cluster.objects.delete('HttpEndpoint shop/api');
    rig.cluster.remove('HttpObject', 'shop', 'www');
    await rig.reconcile();
    assert.deepEqual(synced(rig.object()).slice(1), [
      'EndpointMissing',
      'HttpEndpoint "api" does not exist in namespace "shop"',
    ]);
    state.isTerminating = true;
    await rig.reconcile();
    assert.equal(rig.cluster.get('HttpObject', 'shop', 'www'), undefined);
  });

  test('a namespace is deleted with its objects, also if their API is deleted first', async () => {
    let isGone = false;
    const api = queueApi();
    const unreachable = () =>
      new HttpTransportError('unreachable', 'No connection', { mayHaveArrived: false });
    const rig = setUp(
      queueSpec,
      (request) => (isGone ? unreachable() : api(request)),
      {},
      {
        isTerminating: true,
      },
    );
    await rig.reconcile();
    isGone = true;
    rig.cluster.remove('HttpObject', 'shop', 'www');
    await rig.reconcile();
    assert.equal(synced(rig.object())[1], 'DeleteFailed');
    await rig.ports.clock.advance(300_000);
    await rig.reconcile();
    assert.equal(rig.cluster.get('HttpObject', 'shop', 'www'), undefined);
  });

  for (const isTerminating of [false, true])
    test(`a deleted object whose account of the login is missing ${isTerminating ? 'is released while its namespace is deleted' : 'waits'}`, async () => {
      let isMissing = false;
      const tokens: ServiceAccountTokens = {
        async issue() {
          if (isMissing) throw new TokenRefusedError('account-missing', 'It does not exist');
          return 'jwt';
        },
      };
      const login = {
        ...{ path: '/login', jwtField: 'jwt', token: '$(body.token)' },
        lifetimeSeconds: '$(1)',
        serviceAccount: { name: 'robot', audience: 'vault' },
      };
      const api = queueApi();
      const rig = setUp(
        queueSpec,
        (request) => (request.url.endsWith('/login') ? jsonAnswer({ token: 't' }) : api(request)),
        { auth: { login } },
        { isTerminating, tokens },
      );
      await rig.reconcile();
      isMissing = true;
      await rig.ports.clock.advance(60_000);
      rig.cluster.remove('HttpObject', 'shop', 'www');
      await rig.reconcile();
      const object = rig.cluster.get('HttpObject', 'shop', 'www');
      assert.equal(object === undefined, isTerminating);
      if (object !== undefined) assert.deepEqual(synced(object)[1], 'DeleteFailed');
    });
});
