import assert from 'node:assert/strict';
import type { AuditLog } from '../../support/control-plane/index.ts';
import {
  type ClusterState,
  type StateView,
  untilEqual,
  untilState,
} from '../../support/fault-proxy/cluster-state.ts';
import type { Lane } from '../lane.ts';
import { assertAtRest, assertHeap, deletionsOf, replacedBetween, untilQuiet } from '../oracle.ts';
import { isSettled, type Place, stateOptions } from '../subject.ts';
import type { SoakScript } from './soak-script.ts';
import { fulfil, type Wishes } from './wishes.ts';

/** How often a user has changed a resource is not for two runs to have in common. */
function optionsOf(place: Place) {
  return { ...stateOptions(place), countsGenerations: false, limitMs: 180_000 };
}

/** The state that a runtime makes of wishes without any fault: a fresh process, in a namespace of its own. */
export async function faultFreeState(
  lane: Lane,
  { wishes, audit }: { readonly wishes: Wishes; readonly audit: AuditLog },
): Promise<ClusterState> {
  await lane.restart();
  const client = lane.plane.client();
  const place = lane.place(await client.createNamespace());
  await fulfil(place, wishes);
  const count = Object.values(wishes.resources).filter((wish) => wish !== undefined).length;
  const isWell = (view: StateView) => isSettled(view, count);
  await untilState(optionsOf(place), isWell, (last) => assert.fail(JSON.stringify(last?.state)));
  await untilQuiet(audit, lane);
  const { state } = await untilState(optionsOf(place), isWell, () => assert.fail('Not at rest'));
  await client.delete(`/api/v1/namespaces/${place.namespace}`);
  return state;
}

/** What a check point leaves for the next one. */
export interface CheckedState {
  readonly view: StateView;
  readonly pid: number;
  readonly heapBytes: number;
}

export interface CheckPoint {
  readonly script: SoakScript;
  readonly audit: AuditLog;
  readonly expected: ClusterState;
  /** Where the log of requests was when the script began. */
  readonly since: number;
  readonly before: CheckedState | undefined;
}

/** The oracle of the fault cases, after a piece of a soak. */
export async function checkPoint(point: CheckPoint): Promise<CheckedState> {
  const { script, audit, expected, since, before } = point;
  const { lane, place } = script;
  await lane.whenReady();
  await untilEqual(optionsOf(place), expected);
  await untilQuiet(audit, lane);
  const view = await untilEqual(optionsOf(place), expected);
  await assertAtRest(lane);
  if (!script.hasGoneBack) {
    const deleted = deletionsOf(audit, lane, { since, namespace: place.namespace });
    const wrong = deleted.filter((key) => script.alwaysWanted.has(key));
    assert.deepEqual(wrong, [], 'nothing that should live was deleted');
    const replaced = before === undefined ? [] : replacedBetween(before.view, view);
    const lost = replaced.filter((key) => script.untouched.has(key));
    assert.deepEqual(lost, [], 'nothing that should live was replaced');
  }
  const { pid } = lane.homeostat;
  const heapBytes = await (await lane.probe()).heapBytes();
  // Memory is compared with what the same process held at its first check point.
  if (before?.pid !== pid) return { view, pid, heapBytes };
  assertHeap(before.heapBytes, heapBytes);
  return { view, pid, heapBytes: before.heapBytes };
}
