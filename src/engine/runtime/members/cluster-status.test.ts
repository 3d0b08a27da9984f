import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { clusterStatusOf, connectionEvent, hasClusterStatus } from './cluster-status.ts';
import type { Connected } from './member-connection.ts';

const object: KubeObject = {
  apiVersion: 'homeostat.dev/v1alpha1',
  kind: 'Cluster',
  metadata: { name: 'east', generation: 1 },
};

function statusWith(changes: Partial<Connected>, of = object, minute = 0) {
  const connection = {
    ...({ kind: 'connected', uid: 'aa-1', version: 'v1.36.0' } as const),
    ...{ cluster: {} as Connected['cluster'], isInsecure: false, notes: [], ...changes },
  };
  const facts = { isPaused: false, uid: 'aa-1', version: 'v1.36.0', placed: undefined };
  const now = `2026-01-01T00:0${minute}:00Z`;
  return clusterStatusOf({ ...facts, connection, definitions: [] }, { object: of, now });
}

const conditionOf = (status: ReturnType<typeof statusWith>, type: string) =>
  status.conditions.find((each) => each.type === type);

describe('runtime/members/cluster-status', () => {
  test('a member that is read more slowly than it sends is connected and ready, with the reason', () => {
    const status = statusWith({ isThrottled: true, isInsecure: true });
    const connected = conditionOf(status, 'Connected');
    assert.deepEqual([connected?.status, connected?.reason], ['True', 'Throttled']);
    assert.match(String(connected?.message), /sends more than 4 MiB per second.*; The certificate/);
    assert.equal(conditionOf(status, 'Ready')?.status, 'True');
  });

  test('each change is one status and one Event, and the state writes nothing while it lasts', () => {
    const connected = { ...object, status: statusWith({}) };
    const throttled = { ...object, status: statusWith({ isThrottled: true }, connected, 1) };
    assert.equal(hasClusterStatus(connected, throttled.status), false);
    const event = connectionEvent(connected, throttled.status);
    assert.deepEqual([event?.type, event?.reason], ['Warning', 'Throttled']);

    const later = statusWith({ isThrottled: true }, throttled, 2);
    assert.equal(hasClusterStatus(throttled, later), true);
    assert.equal(connectionEvent(throttled, later), undefined);

    const over = statusWith({ isThrottled: false }, throttled, 3);
    assert.equal(hasClusterStatus(throttled, over), false);
    const end = connectionEvent(throttled, over);
    assert.deepEqual([end?.type, end?.reason], ['Normal', 'Connected']);
  });
});
