import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, statusOf } from '../support/definitions.ts';
import { at, operatorSuite, type Stage } from '../support/operator-suite.ts';

const shared = useControlPlane({ audit: true });
const self = at('/apis/home.example.com/v1alpha1', 'airconditioners');
/** Writes a measurement, as a sensor does, and waits until it was looked at. */
async function measure({ client, path }: Stage, measured: number): Promise<KubeObject> {
  const { metadata } = await client.patch(path, { spec: { measured } });
  const seen = await client.untilObject(
    path,
    (object) => statusOf(object).observedGeneration === metadata.generation,
  );
  assert.ok(seen);
  return seen;
}

shared.describe('integration/operator-air-conditioner', () => {
  const { stage } = operatorSuite(shared, {
    name: 'air-conditioner',
    resource: {
      apiVersion: 'home.example.com/v1alpha1',
      kind: 'AirConditioner',
      metadata: { name: 'room' },
      spec: { target: 21, measured: 24.5 },
    },
    children: [],
    edits: [
      {
        what: 'a cold measurement switches it off',
        change: { spec: { measured: 19 } },
        path: self,
        isDone: (object) => statusOf(object).cooling === false,
      },
      {
        what: 'a higher target switches it off',
        change: { spec: { target: 26 } },
        path: self,
        isDone: (object) => statusOf(object).cooling === false,
      },
    ],
    drifts: [],
  });

  test('between the limits it stays as it is: on from above, off from below', async () => {
    const room = await stage({ spec: { measured: 21 } });
    const cooling: unknown[] = [];
    for (const measured of [22, 22.1, 21, 20, 19.9, 21, 22, 22.1])
      cooling.push(statusOf(await measure(room, measured)).cooling);
    assert.deepEqual(cooling, [false, true, true, true, false, false, false, true]);
    assert.equal(statusOf(await room.client.get(room.path)).switches, 3);
  });

  test('each switch has an Event, and only a switch', async () => {
    const room = await stage({ spec: { measured: 21 } });
    for (const measured of [24, 23, 19, 18, 21]) await measure(room, measured);
    const events = `/api/v1/namespaces/${room.namespace}/events`;
    const isSwitch = ({ reason }: KubeObject) => reason === 'CoolingOn' || reason === 'CoolingOff';
    const reported = await room.client.untilList(
      events,
      (list) => list.filter(isSwitch).length >= 2,
    );
    await shared.audit.quiet(1_000);
    const reasons = (await room.client.list(events)).filter(isSwitch).map(({ reason }) => reason);
    assert.ok(reported.length > 0);
    assert.deepEqual(reasons.toSorted(), ['CoolingOff', 'CoolingOn']);
  });

  test('a condition says whether the room is comfortable, and that nothing was measured', async () => {
    const room = await stage();
    assert.equal(conditionOf(room.resource, 'Comfortable')?.status, 'False');
    const fine = await measure(room, 21.5);
    assert.equal(conditionOf(fine, 'Comfortable')?.status, 'True');
    assert.equal(conditionOf(fine, 'Comfortable')?.message, '21.5 measured, 21 wanted');
    const { metadata } = await room.client.patch(room.path, { spec: { measured: null } });
    const blind = await room.client.untilObject(
      room.path,
      (object) => statusOf(object).observedGeneration === metadata.generation,
    );
    assert.equal(conditionOf(blind, 'Comfortable')?.status, 'Unknown');
  });
});
