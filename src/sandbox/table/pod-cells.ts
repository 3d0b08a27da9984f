import type { JsonObject } from '#util/json.ts';
import {
  ageOf,
  conditionOf,
  countIn,
  isTrue,
  nameOf,
  none,
  objectIn,
  objectsIn,
  type PrintedRow,
  stringIn,
  timeSince,
} from './cell-values.ts';

const endings: Readonly<Record<string, readonly JsonObject[]>> = {
  Succeeded: [
    {
      type: 'Completed',
      status: 'True',
      reason: 'Succeeded',
      message: 'The pod has completed successfully.',
    },
  ],
  Failed: [{ type: 'Completed', status: 'True', reason: 'Failed', message: 'The pod failed.' }],
};

/** A pod as a row. */
export function podRow(pod: JsonObject, nowMs: number): PrintedRow {
  const [spec, status] = [objectIn(pod, 'spec'), objectIn(pod, 'status')];
  const summary = summarise(pod);
  const restarted =
    summary.lastRestart === '' ? '' : ` (${timeSince(summary.lastRestart, nowMs)} ago)`;
  const [firstIp] = objectsIn(status, 'podIPs');
  const gates = objectsIn(spec, 'readinessGates').map((gate) => stringIn(gate, 'conditionType'));
  const open = gates.filter((gate) => isTrue(pod, gate)).length;
  const conditions = endings[stringIn(status, 'phase')];
  return {
    cells: [
      nameOf(pod),
      `${summary.ready}/${summary.total}`,
      summary.reason,
      summary.restarts === 0 ? '0' : `${summary.restarts}${restarted}`,
      ageOf(pod, nowMs),
      stringIn(firstIp ?? {}, 'ip') || none,
      stringIn(spec, 'nodeName') || none,
      stringIn(status, 'nominatedNodeName') || none,
      gates.length === 0 ? none : `${open}/${gates.length}`,
    ],
    ...(conditions === undefined ? {} : { conditions }),
  };
}

interface PodSummary {
  readonly ready: number;
  readonly total: number;
  readonly reason: string;
  readonly restarts: number;
  /** Empty = none. */
  readonly lastRestart: string;
}

function summarise(pod: JsonObject): PodSummary {
  const [spec, status] = [objectIn(pod, 'spec'), objectIn(pod, 'status')];
  const sidecars = objectsIn(spec, 'initContainers').filter(
    (container) => container.restartPolicy === 'Always',
  );
  const total = objectsIn(spec, 'containers').length + sidecars.length;
  const isGated = conditionOf(pod, 'PodScheduled')?.reason === 'SchedulingGated';
  const base = isGated
    ? 'SchedulingGated'
    : stringIn(status, 'reason') || stringIn(status, 'phase');
  const init = readInit(pod, new Set(sidecars.map((container) => stringIn(container, 'name'))));
  const isInitialising = init.reason !== undefined && !isTrue(pod, 'Initialized');
  const main = isInitialising
    ? { ...init, ready: init.ready, reason: init.reason ?? base }
    : withContainers(pod, { ...init, reason: init.reason ?? base });
  return { ...main, total, reason: deletionReason(pod) ?? main.reason };
}

/** The status shown for a pod that is being deleted. */
function deletionReason(pod: JsonObject): string | undefined {
  const status = objectIn(pod, 'status');
  if (objectIn(pod, 'metadata').deletionTimestamp === undefined) return undefined;
  if (status.reason === 'NodeLost') return 'Unknown';
  return ['Succeeded', 'Failed'].includes(stringIn(status, 'phase')) ? undefined : 'Terminating';
}

interface InitSummary {
  readonly ready: number;
  /** Undefined = all init containers are done. */
  readonly reason: string | undefined;
  readonly restarts: number;
  readonly sidecarRestarts: number;
  readonly lastRestart: string;
}

function readInit(pod: JsonObject, sidecars: ReadonlySet<string>): InitSummary {
  let [ready, restarts, sidecarRestarts, lastRestart] = [0, 0, 0, ''];
  const initCount = objectsIn(objectIn(pod, 'spec'), 'initContainers').length;
  const statuses = objectsIn(objectIn(pod, 'status'), 'initContainerStatuses');
  for (const [index, container] of statuses.entries()) {
    const isSidecar = sidecars.has(stringIn(container, 'name'));
    restarts += countIn(container, 'restartCount');
    if (isSidecar) sidecarRestarts += countIn(container, 'restartCount');
    lastRestart = later(lastRestart, container);
    const { terminated, waiting } = stateOf(container);
    if (terminated !== undefined && countIn(terminated, 'exitCode') === 0) continue;
    if (isSidecar && container.started === true) {
      if (container.ready === true) ready++;
      continue;
    }
    const waitingReason = stringIn(waiting ?? {}, 'reason');
    const reason =
      terminated !== undefined
        ? `Init:${endReason(terminated)}`
        : waitingReason !== '' && waitingReason !== 'PodInitializing'
          ? `Init:${waitingReason}`
          : `Init:${index}/${initCount}`;
    return { ready, reason, restarts, sidecarRestarts, lastRestart };
  }
  return { ready, reason: undefined, restarts, sidecarRestarts, lastRestart };
}

function withContainers(pod: JsonObject, init: InitSummary & { readonly reason: string }) {
  let { ready, reason, sidecarRestarts: restarts, lastRestart } = init;
  if (restarts === 0) lastRestart = '';
  let [hasRunning, failure] = [false, ''];
  for (const container of objectsIn(objectIn(pod, 'status'), 'containerStatuses').toReversed()) {
    restarts += countIn(container, 'restartCount');
    lastRestart = later(lastRestart, container);
    const { terminated, waiting, running } = stateOf(container);
    const waitingReason = stringIn(waiting ?? {}, 'reason');
    if (waitingReason !== '') reason = waitingReason;
    else if (terminated !== undefined) {
      reason = endReason(terminated);
      if (countIn(terminated, 'exitCode') !== 0) failure = reason;
    } else if (container.ready === true && running !== undefined) {
      hasRunning = true;
      ready++;
    }
  }
  if (reason === 'Completed') {
    if (hasRunning && isTrue(pod, 'Ready')) reason = 'Running';
    else if (failure !== '') reason = failure;
    else if (hasRunning) reason = 'NotReady';
  }
  return { ready, reason, restarts, lastRestart };
}

function stateOf(container: JsonObject) {
  const state = objectIn(container, 'state');
  const inState = (name: string) => (state[name] === undefined ? undefined : objectIn(state, name));
  return {
    terminated: inState('terminated'),
    waiting: inState('waiting'),
    running: inState('running'),
  };
}

function endReason(terminated: JsonObject): string {
  const signal = countIn(terminated, 'signal');
  return (
    stringIn(terminated, 'reason') ||
    (signal === 0 ? `ExitCode:${countIn(terminated, 'exitCode')}` : `Signal:${signal}`)
  );
}

function later(time: string, container: JsonObject): string {
  const ended = stringIn(objectIn(container, 'lastState', 'terminated'), 'finishedAt');
  return ended > time ? ended : time;
}
