import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TransportRequest } from '#kube/roles.ts';
import { conditionsOf } from '#util/kube-object.ts';
import { type TimeSlicer, unlimitedTimeSlicer } from '#util/time-slicer.ts';
import { MemoryCluster } from '../../../../test/support/http-objects/memory-cluster.ts';
import {
  jsonAnswer,
  RecordingTransport,
} from '../../../../test/support/http-objects/recording-transport.ts';
import {
  endpointObject,
  httpObject,
  queueSpec,
} from '../../../../test/support/http-objects/test-objects.ts';
import { testPorts } from '../../../../test/support/http-objects/test-ports.ts';
import { Endpoints } from './endpoints.ts';
import { FarIndex } from './far-index.ts';
import { ObjectReconciler } from './object-reconciler.ts';

/** Just below the limit of one evaluation. */
const heavy = '$($sum([1..9000].($ * 2)))';

describe('http-objects/controller code', () => {
  test('of one object lets others run, and all of it together is limited', async () => {
    const owners: string[] = [];
    const timeSlicer: TimeSlicer = {
      ...unlimitedTimeSlicer,
      acquire(owner) {
        owners.push(owner);
        return undefined;
      },
      isExpired: () => true,
    };
    const cluster = new MemoryCluster();
    const answer = (_: TransportRequest) => jsonAnswer({ durable: true, limit: 10 });
    const ports = testPorts(new RecordingTransport(answer), cluster, { timeSlicer });
    cluster.put(endpointObject());
    const names = Array.from({ length: 32 }, (_, index) => `v${index}`);
    const values = Object.fromEntries(names.map((name) => [name, heavy]));
    cluster.put(httpObject({ ...queueSpec, adopt: 'IfFound', values }));
    const reconciler = new ObjectReconciler({
      ports,
      endpoints: new Endpoints({
        ports,
        objectOf: () => cluster.get('HttpEndpoint', 'shop', 'api'),
      }),
      index: new FarIndex(),
      objectOf: () => cluster.get('HttpObject', 'shop', 'www'),
    });
    await reconciler.reconcile('shop/www', new AbortController().signal);
    const object = cluster.get('HttpObject', 'shop', 'www');
    assert.ok(object);
    const synced = conditionsOf(object).find(({ type }) => type === 'Synced');
    assert.equal(synced?.reason, 'CodeFailed');
    assert.match(String(synced?.message), /steps/);
    assert.deepEqual([...new Set(owners)], ['http-objects shop']);
    // It was interrupted inside of an evaluation, too.
    assert.ok(owners.length > names.length * 2, String(owners.length));
  });
});
