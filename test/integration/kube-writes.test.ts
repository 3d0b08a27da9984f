import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDiscovery } from '#kube/api/discovery.ts';
import { createWriter } from '#kube/api/writer.ts';
import type { WriteThrough } from '#kube/cache/response-delivery.ts';
import type { ApiClient } from '#kube/client/api-client.ts';
import { KubeError } from '#kube/roles.ts';
import { gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { clockOf, useControlPlane } from '../support/control-plane/index.ts';
import { aConfigMap, aDeployment, testFlow, useKubeCluster } from '../support/kube-cluster.ts';
import { whenSynced } from '../support/when-synced.ts';

const shared = useControlPlane({ controllerManager: false });
const configMap = gvkOf('v1', 'ConfigMap');
const signal = new AbortController().signal;

shared.describe('integration/kube-writes', () => {
  const own = useKubeCluster(shared);

  test('an apply creates, a second one changes, a third writes nothing', async () => {
    const namespace = await shared.namespace();
    const first = await own.apply(aConfigMap(namespace));
    assert.equal(first.created, true);
    const second = await own.apply(aConfigMap(namespace, { data: { a: '2' } }));
    assert.equal(second.created, false);
    assert.deepEqual(second.stored.object.data, { a: '2' });
    const third = await own.apply(aConfigMap(namespace, { data: { a: '2' } }));
    const version = (stored: KubeObject) => stored.metadata.resourceVersion;
    assert.equal(version(third.stored.object), version(second.stored.object));
    assert.deepEqual(third.stored.appliedBy, ['homeostat/test']);
  });

  test('an applied text keeps characters that YAML would change or reject', async () => {
    const namespace = await shared.namespace();
    const data = {
      a: 'x\u0085y',
      b: '\u0085',
      c: 'x\u007fy\u0080',
      d: '\ufeff\uffff',
      e: '\u2028\u2029',
    };
    const { stored } = await own.apply(aConfigMap(namespace, { data }));
    assert.deepEqual(stored.object.data, data);
  });

  test('a status apply touches the status only', async () => {
    const namespace = await shared.namespace();
    await own.apply(aDeployment(namespace));
    const { stored } = await own.apply(
      { ...aDeployment(namespace, { replicas: 7 }), status: { observedGeneration: 9 } },
      { status: true, manager: 'homeostat/test.status' },
    );
    const { spec, status } = stored.object as unknown as Record<string, Record<string, unknown>>;
    assert.equal(spec?.replicas, 0);
    assert.equal(status?.observedGeneration, 9);
  });

  test('a get reads, and undefined says that there is none', async () => {
    const namespace = await shared.namespace();
    await own.apply(aConfigMap(namespace));
    const ref = { gvk: configMap, namespace, name: 'a' };
    const found = await own.cluster.get(ref, { flow: testFlow }, signal);
    assert.deepEqual(found?.object.data, { a: '1' });
    assert.equal(found?.object.metadata.uid?.length, 36);
    assert.equal(
      await own.cluster.get({ ...ref, name: 'b' }, { flow: testFlow }, signal),
      undefined,
    );
  });

  test('a delete of a plain object, of one with a finalizer, of one that is gone', async () => {
    const namespace = await shared.namespace();
    const ref = { gvk: configMap, namespace, name: 'a' };
    const remove = (uid: string | undefined) =>
      own.cluster.delete(ref, { flow: testFlow, uid: uid ?? '' }, signal);
    const plain = await own.apply(aConfigMap(namespace));
    const uid = plain.stored.object.metadata.uid;
    assert.equal(await remove(uid), 'deleted');
    assert.equal(await remove(uid), 'gone');
    const held = await own.apply(
      aConfigMap(namespace, { metadata: { finalizers: ['a.example/b'] } }),
    );
    assert.equal(await remove(held.stored.object.metadata.uid), 'deleting');
    await own.apply(aConfigMap(namespace, { metadata: { finalizers: [] } }));
  });

  test('an answer is in the informers before the caller has it', async () => {
    const namespace = await shared.namespace();
    const informer = own.cluster.acquire({ gvk: configMap, namespace });
    await whenSynced(informer, signal);
    await own.apply(aConfigMap(namespace));
    assert.deepEqual(informer.get(namespace, 'a')?.object.data, { a: '1' });
    informer.release();
  });

  test('where no apply can only create, a POST does, and leaves its manager with an apply alone', async () => {
    const namespace = await shared.namespace();
    const writer = createWriter({
      api: withoutCreateOnly(own.cluster.api),
      discovery: createDiscovery({ api: own.cluster.api, clock: clockOf(shared.plane) }),
      cache: noCache,
    });
    const options = { flow: testFlow, fieldManager: 'homeostat/test', force: true };
    const guarded = aConfigMap(namespace, {
      metadata: { resourceVersion: '1' },
      data: { a: '1', b: '2' },
    });
    const { created } = await writer.apply(guarded, options, signal);
    assert.equal(created, true);
    const owners = await own.cluster.managedFields(
      { gvk: configMap, namespace, name: 'a' },
      { flow: testFlow },
      signal,
    );
    assert.deepEqual(
      owners.map(({ manager, operation }) => [manager, operation]),
      [['homeostat/test', 'Apply']],
    );
    const { stored } = await own.apply(aConfigMap(namespace));
    assert.deepEqual(stored.object.data, { a: '1' }, 'what is left out is removed');
    await assert.rejects(writer.apply(guarded, options, signal), { code: 'already-exists' });
  });

  test('an aborted watch ends at once and leaves the signal clean', async () => {
    const stop = new AbortController();
    const stream = await own.cluster.api.stream(
      { path: '/api/v1/configmaps', query: { watch: '1' }, flow: testFlow },
      stop.signal,
    );
    const read = (async () => {
      for await (const _ of stream.chunks) stop.abort(new Error('enough'));
    })();
    await assert.rejects(read, { code: 'aborted' });
  });
});

/** A server that rejects an apply with the version that no object has. */
function withoutCreateOnly(api: ApiClient): ApiClient {
  return {
    request: (request, abort) => {
      const { metadata } = (request.body ?? {}) as Partial<KubeObject>;
      if (request.method !== 'PATCH' || metadata?.resourceVersion !== '1')
        return api.request(request, abort);
      const message = 'resourceVersion must not be set on objects to be created';
      return Promise.reject(new KubeError('rejected', message, { status: 400 }));
    },
    stream: (request, abort) => api.stream(request, abort),
  };
}

const noCache: WriteThrough = {
  begin: () => ({
    sending: () => {},
    store: (object) => ({ object, cluster: undefined, appliedBy: [] }),
    deleting: () => {},
    gone: () => {},
    end: () => {},
  }),
};

shared.describe('integration/kube-events', () => {
  const own = useKubeCluster(shared);

  test('an Event is reported on its object, and a second one makes a series', async () => {
    const namespace = await shared.namespace();
    const teller = await own.connect(shared.plane.kubeconfigPath());
    const { stored } = await own.apply(aConfigMap(namespace));
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
    // Not `close` and a look: what is queued then has two seconds.
    const events = await shared
      .client()
      .untilList(`/apis/events.k8s.io/v1/namespaces/${namespace}/events`, ([first]) => {
        return (first?.series as { count?: number } | undefined)?.count === 2;
      });
    assert.equal(events.length, 1);
    const [reported] = events;
    assert.equal(reported?.note, 'Cannot apply "web"');
    assert.equal(reported?.reportingController, 'homeostat.dev/podset');
  });

  test('an Event on an object without a namespace is in "default"', async () => {
    const teller = await own.connect(shared.plane.kubeconfigPath());
    const regarding = await shared.client().get('/api/v1/namespaces/kube-system');
    assert.ok(regarding !== undefined);
    const words = { type: 'Normal', reason: 'Tested', action: 'Test', definition: 'x' } as const;
    teller.events.record({ ...words, regarding, note: 'é'.repeat(600) });
    const isTestEvent = ({ reason }: KubeObject) => reason === 'Tested';
    const events = await shared
      .client()
      .untilList('/apis/events.k8s.io/v1/namespaces/default/events', (items) =>
        items.some(isTestEvent),
      );
    assert.equal(events.find(isTestEvent)?.note, 'é'.repeat(512));
  });
});
