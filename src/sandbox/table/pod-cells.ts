import type { JsonObject } from '../../util/json.ts';
import {
  ageOf,
  conditionOf,
  countIn,
  isTrue,
  nameOf,
  none,
  objectsIn,
  type PrintedRow,
  part,
  since,
  textIn,
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
  const [spec, status] = [part(pod, 'spec'), part(pod, 'status')];
  const summary = summarise(pod);
  const restarted = summary.lastRestart === '' ? '' : ` (${since(summary.lastRestart, nowMs)} ago)`;
  const [firstIp] = objectsIn(status, 'podIPs');
  const gates = objectsIn(spec, 'readinessGates').map((gate) => textIn(gate, 'conditionType'));
  const open = gates.filter((gate) => isTrue(pod, gate)).length;
  const conditions = endings[textIn(status, 'phase')];
  return {
    cells: [
      nameOf(pod),
      `${summary.ready}/${summary.total}`,
      summary.reason,
      summary.restarts === 0 ? '0' : `${summary.restarts}${restarted}`,
      ageOf(pod, nowMs),
      textIn(firstIp ?? {}, 'ip') || none,
      textIn(spec, 'nodeName') || none,
      textIn(status, 'nominatedNodeName') || none,
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
  /** Empty = none is known. */
  readonly lastRestart: string;
}

function summarise(pod: JsonObject): PodSummary {
  const [spec, status] = [part(pod, 'spec'), part(pod, 'status')];
  const sidecars = objectsIn(spec, 'initContainers').filter(
    (container) => container.restartPolicy === 'Always',
  );
  const total = objectsIn(spec, 'containers').length + sidecars.length;
  const isGated = conditionOf(pod, 'PodScheduled')?.reason === 'SchedulingGated';
  const told = isGated ? 'SchedulingGated' : textIn(status, 'reason') || textIn(status, 'phase');
  const init = readInit(pod, new Set(sidecars.map((container) => textIn(container, 'name'))));
  const isInitialising = init.reason !== undefined && !isTrue(pod, 'Initialized');
  const main = isInitialising
    ? { ...init, ready: init.ready, reason: init.reason ?? told }
    : withContainers(pod, { ...init, reason: init.reason ?? told });
  return { ...main, total, reason: deletionReason(pod) ?? main.reason };
}

/** What is told of a pod that is about to go. */
function deletionReason(pod: JsonObject): string | undefined {
  const status = part(pod, 'status');
  if (part(pod, 'metadata').deletionTimestamp === undefined) return undefined;
  if (status.reason === 'NodeLost') return 'Unknown';
  return ['Succeeded', 'Failed'].includes(textIn(status, 'phase')) ? undefined : 'Terminating';
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
  const planned = objectsIn(part(pod, 'spec'), 'initContainers').length;
  const statuses = objectsIn(part(pod, 'status'), 'initContainerStatuses');
  for (const [index, container] of statuses.entries()) {
    const isSidecar = sidecars.has(textIn(container, 'name'));
    restarts += countIn(container, 'restartCount');
    if (isSidecar) sidecarRestarts += countIn(container, 'restartCount');
    lastRestart = later(lastRestart, container);
    const { terminated, waiting } = stateOf(container);
    if (terminated !== undefined && countIn(terminated, 'exitCode') === 0) continue;
    if (isSidecar && container.started === true) {
      if (container.ready === true) ready++;
      continue;
    }
    const waits = textIn(waiting ?? {}, 'reason');
    const reason =
      terminated !== undefined
        ? `Init:${endReason(terminated)}`
        : waits !== '' && waits !== 'PodInitializing'
          ? `Init:${waits}`
          : `Init:${index}/${planned}`;
    return { ready, reason, restarts, sidecarRestarts, lastRestart };
  }
  return { ready, reason: undefined, restarts, sidecarRestarts, lastRestart };
}

function withContainers(pod: JsonObject, init: InitSummary & { readonly reason: string }) {
  let { ready, reason, sidecarRestarts: restarts, lastRestart } = init;
  if (restarts === 0) lastRestart = '';
  let [hasRunning, failure] = [false, ''];
  for (const container of objectsIn(part(pod, 'status'), 'containerStatuses').toReversed()) {
    restarts += countIn(container, 'restartCount');
    lastRestart = later(lastRestart, container);
    const { terminated, waiting, running } = stateOf(container);
    const waits = textIn(waiting ?? {}, 'reason');
    if (waits !== '') reason = waits;
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
  const state = part(container, 'state');
  const inState = (name: string) => (state[name] === undefined ? undefined : part(state, name));
  return {
    terminated: inState('terminated'),
    waiting: inState('waiting'),
    running: inState('running'),
  };
}

function endReason(terminated: JsonObject): string {
  const signal = countIn(terminated, 'signal');
  return (
    textIn(terminated, 'reason') ||
    (signal === 0 ? `ExitCode:${countIn(terminated, 'exitCode')}` : `Signal:${signal}`)
  );
}

function later(time: string, container: JsonObject): string {
  const ended = textIn(part(container, 'lastState', 'terminated'), 'finishedAt');
  return ended > time ? ended : time;
}
