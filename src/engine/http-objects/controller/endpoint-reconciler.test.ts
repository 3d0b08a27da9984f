import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#util/json.ts';
import { conditionsOf, parseKey } from '#util/kube-object.ts';
import { MemoryCluster } from '../../../../test/support/http-objects/memory-cluster.ts';
import {
  jsonAnswer,
  RecordingTransport,
} from '../../../../test/support/http-objects/recording-transport.ts';
import { endpointObject } from '../../../../test/support/http-objects/test-objects.ts';
import { testPorts } from '../../../../test/support/http-objects/test-ports.ts';
import { freshMetrics, silentLogger } from '../../../../test/support/silent-telemetry.ts';
import { EndpointOwnership, type RuntimeNames } from './endpoint-ownership.ts';
import { EndpointReconciler } from './endpoint-reconciler.ts';
import { Endpoints } from './endpoints.ts';
import { HttpMetrics } from './http-metrics.ts';

const { signal } = new AbortController();
const key = 'shop/api';
const runtimeLabel = 'homeostat.dev/runtime';

function setUp(spec: JsonObject, names: RuntimeNames = {}, labels?: Record<string, string>) {
  const cluster = new MemoryCluster();
  let status = 200;
  const transport = new RecordingTransport(() => jsonAnswer({}, status));
  const registry = freshMetrics();
  const ports = testPorts(transport, cluster, { metrics: new HttpMetrics(registry) });
  cluster.put(endpointObject(spec, labels && { labels }));
  const objectOf = (of: string) => {
    const { namespace, name } = parseKey(of);
    return cluster.get('HttpEndpoint', namespace, name);
  };
  const used = new Set<string>();
  const ownership = new EndpointOwnership({
    ...{ cluster, objectOf, isUsed: (of: string) => used.has(of) },
    ...names,
  });
  const reconciler = new EndpointReconciler({
    ...{ ports, ownership, objectOf, logger: silentLogger() },
    endpoints: new Endpoints({ ports, objectOf }),
  });
  return {
    ...{ cluster, ports, used, ownership, registry, transport },
    answer: (next: number) => {
      status = next;
    },
    reconcile: () => reconciler.reconcile(key, signal),
    object: () => objectOf(key),
    conditions: () => {
      const object = objectOf(key);
      assert.ok(object);
      return conditionsOf(object).map(
        ({ type, status: each, reason }) => `${type}=${each} ${reason}`,
      );
    },
    events: () => cluster.eventsSeen.map(({ type, reason }) => `${type} ${reason}`),
  };
}

describe('http-objects/controller endpoints', () => {
  test('without a check it is ready, and nothing is sent', async () => {
    const rig = setUp({});
    assert.deepEqual(await rig.reconcile(), { kind: 'done' });
    assert.deepEqual(rig.conditions(), ['Ready=True Ready']);
    assert.deepEqual([rig.transport.requests, rig.events()], [[], []]);
    // Without objects it is deleted at once.
    assert.equal(rig.object()?.metadata.finalizers, undefined);
  });

  test('its check is sent once a minute, and reported when its result changes', async () => {
    const rig = setUp({ check: { path: '/health' } });
    assert.deepEqual(await rig.reconcile(), { kind: 'done', due: { afterMs: 60_000 } });
    assert.deepEqual(rig.conditions(), ['Ready=True Ready', 'Reachable=True CheckPassed']);
    const { writes } = rig.cluster;
    assert.deepEqual(await rig.reconcile(), { kind: 'done', due: { afterMs: 60_000 } });
    assert.equal(rig.transport.requests.length, 1);
    await rig.ports.clock.advance(60_000);
    rig.answer(503);
    assert.equal((await rig.reconcile()).kind, 'retry');
    assert.deepEqual(rig.conditions(), ['Ready=True Ready', 'Reachable=False ServerError']);
    rig.answer(200);
    await rig.reconcile();
    assert.deepEqual(rig.events(), ['Warning ServerError', 'Normal Usable']);
    assert.equal(rig.cluster.writes, writes + 2);
    const text = await rig.registry.expose();
    assert.match(text, /homeostat_http_requests_total\{endpoint="shop\/api",code="5xx"\} 1/);
  });

  test('missing credentials are reported, and nothing is sent', async () => {
    const tokenFrom = { secretKeyRef: { name: 'api', key: 'token' } };
    const rig = setUp({ auth: { bearer: { tokenFrom } }, check: { path: '/health' } });
    await rig.reconcile();
    assert.deepEqual(rig.conditions(), [
      'Ready=False ValueMissing',
      'Reachable=Unknown NotChecked',
    ]);
    assert.equal(rig.transport.requests.length, 0);
  });

  for (const [title, names, owner, isOurs, after] of [
    ['without an owner is claimed', { runtime: 'a' }, undefined, true, 'a'],
    ['of this runtime is kept', { runtime: 'a' }, 'a', true, 'a'],
    ['of another runtime is left alone', { runtime: 'a' }, 'b', false, 'b'],
    ['of a removed runtime is taken over', { runtime: 'a', takeOverFrom: 'b' }, 'b', true, 'a'],
    ['of any runtime is that of the only one', {}, 'b', true, 'b'],
  ] as const)
    test(`one ${title}`, async () => {
      const rig = setUp({}, names, owner === undefined ? undefined : { [runtimeLabel]: owner });
      assert.equal(await rig.ownership.claim(key, true, signal), isOurs);
      const { labels, finalizers } = rig.object()?.metadata ?? {};
      assert.equal(labels?.[runtimeLabel], after);
      assert.deepEqual(finalizers, isOurs ? ['homeostat.dev/http-endpoint'] : undefined);
      await rig.reconcile();
      assert.equal(rig.conditions().length, isOurs ? 1 : 0);
    });

  test('its finalizer is removed when no object needs it', async () => {
    const rig = setUp({});
    rig.used.add(key);
    await rig.ownership.claim(key, true, signal);
    rig.cluster.remove('HttpEndpoint', 'shop', 'api');
    await rig.reconcile();
    assert.ok(rig.object());
    rig.used.clear();
    assert.deepEqual(await rig.reconcile(), { kind: 'done' });
    assert.equal(rig.object(), undefined);
  });

  test('endpoints beyond the first hundred share their series, and a deleted one has none', async () => {
    const registry = freshMetrics();
    const metrics = new HttpMetrics(registry);
    const { ports } = setUp({});
    const request = {
      ...{ method: 'GET', url: 'http://a', headers: {}, timeoutMs: 1, maxBytes: 1, tls: {} },
      namespace: 'shop',
    };
    for (let index = 0; index < 102; index += 1) {
      const transport = new RecordingTransport(() => ({ status: 200 }));
      await metrics.measured(transport, `shop/${index}`, ports.clock).send(request, signal);
    }
    assert.match(await registry.expose(), /\{endpoint="others",code="2xx"\} 2/);
    await metrics.forget('shop/7');
    assert.doesNotMatch(await registry.expose(), /endpoint="shop\/7"/);
  });
});
