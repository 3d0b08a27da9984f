import assert from 'node:assert/strict';
import type { SharedControlPlane } from '../support/control-plane/index.ts';
import { type StateView, untilEqual, untilState } from '../support/fault-proxy/cluster-state.ts';
import type { CaseRun, ExpectedStates, FaultCase } from './fault-case.ts';
import type { Lane } from './lane.ts';
import {
  assertAtRest,
  assertNoMoreHeld,
  deletionsOf,
  holdingsOf,
  replacedBetween,
  untilQuiet,
} from './oracle.ts';
import {
  createAll,
  deletedByEdits,
  editAll,
  isSettled,
  names,
  replacedByEdits,
  stateOptions,
} from './subject.ts';

const scripts = [createAll, editAll];

/** The states of a run without faults. */
export async function faultFreeRun(
  shared: SharedControlPlane,
  lane: Lane,
): Promise<ExpectedStates> {
  const place = lane.place(await shared.namespace());
  const states: ExpectedStates[number][] = [];
  for (const script of scripts) {
    await script(place);
    await untilQuiet(shared.audit, lane);
    const { state } = await untilState(
      stateOptions(place),
      (view) => isSettled(view, names.length),
      (last) => assert.fail(JSON.stringify(last?.state, null, 1)),
    );
    states.push(state);
  }
  return states;
}

export interface CaseOptions {
  readonly shared: SharedControlPlane;
  readonly lane: Lane;
  readonly expected: ExpectedStates;
}

/** Runs a case on a fresh process and applies the oracle. Returns what happened how often, for the report of the test. */
export async function runCase(faultCase: FaultCase, options: CaseOptions): Promise<string> {
  const { shared, lane } = options;
  // A list or watch that failed waits longer each time: no case is to pay for those before it.
  await lane.restart();
  const before = await holdingsOf(lane);
  const { pid } = lane.homeostat;
  const since = shared.audit.mark();
  const namespace = await shared.namespace();
  const { views, counts } = await runPhases(faultCase, { ...options, namespace });
  await untilQuiet(shared.audit, lane);
  const last = await untilEqual(stateOptions(lane.place(namespace)), options.expected[1] ?? {});
  const { mayReplace = isNever, mayDelete = isNever, restarts = false } = faultCase;
  const replaced = views.flatMap((view) => replacedBetween(view, last));
  const lost = replaced.filter((key) => !replacedByEdits.has(key) && !mayReplace(key));
  assert.deepEqual(lost, [], 'nothing that should live was replaced');
  const deleted = deletionsOf(shared.audit, lane, { since, namespace });
  assert.deepEqual(
    deleted.filter((key) => !mayDelete(key)),
    deletedByEdits,
    'nothing that should live was deleted',
  );
  await assertAtRest(lane);
  if (!restarts) assert.equal(lane.homeostat.pid, pid, 'the process lives');
  const after = await assertNoMoreHeld(lane, before);
  const grownKib = Math.round((after.heapBytes - before.heapBytes) / 1024);
  return `created: ${counts[0]}; edited: ${counts[1]}; heap ${grownKib} KiB more`;
}

function isNever(): boolean {
  return false;
}

interface PhaseOptions extends CaseOptions {
  readonly namespace: string;
}

/** Creations, then edits, each under the faults and each until the cluster is that of the run without. */
async function runPhases(faultCase: FaultCase, options: PhaseOptions) {
  const { proxy } = options.lane;
  const views: StateView[] = [];
  const counts: string[] = [];
  const { faults = [], endsWithScript = false, during = ({ act }) => act() } = faultCase;
  try {
    for (const phase of scripts.keys()) {
      // What is injected is to meet what it is meant for.
      await options.lane.untilWatching();
      const injected = faults.map((fault) => proxy.inject(fault));
      const run = caseRun(faultCase, phase, options);
      await during(run);
      if (endsWithScript) {
        await Promise.all(injected.map((fault) => fault.untilCount(1)));
        proxy.clear();
      }
      views.push(await run.untilEqual());
      await Promise.all(injected.map((fault) => fault.untilCount(1)));
      proxy.clear();
      counts.push(injected.map(({ fault, count }) => `${fault.name}: ${count}`).join(', '));
    }
  } finally {
    proxy.clear();
  }
  return { views, counts };
}

function caseRun({ limitMs }: FaultCase, phase: number, options: PhaseOptions): CaseRun {
  const { shared, lane, expected, namespace } = options;
  const place = lane.place(namespace);
  const limit = limitMs === undefined ? {} : { limitMs };
  return {
    ...place,
    lane,
    phase,
    audit: shared.audit,
    act: async () => scripts[phase]?.(place),
    untilEqual: (other = phase) =>
      untilEqual({ ...stateOptions(place), ...limit }, expected[other] ?? {}),
    untilQuiet: () => untilQuiet(shared.audit, lane),
    otherNamespace: () => shared.namespace(),
  };
}
