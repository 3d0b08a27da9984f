import type { JsonObject } from '../json.ts';
import type { KubeObject } from '../kube-object.ts';
import {
  conditionOf,
  failed,
  numberAt,
  objectAt,
  objectsAt,
  progressing,
  type Readiness,
  ready,
  specOf,
  statusOf,
  textAt,
} from './status-reader.ts';

export function podReadiness(object: KubeObject): Readiness {
  const status = statusOf(object);
  switch (status.phase) {
    case 'Succeeded':
      return ready('Completed');
    case 'Failed':
      return failed(withReason('The Pod failed', textAt(status, 'reason')));
    case 'Running':
      return runningReadiness(object, status);
    default:
      return pendingReadiness(object, status);
  }
}

function runningReadiness(object: KubeObject, status: JsonObject): Readiness {
  if (conditionOf(object, 'Ready')?.status === 'True') return ready('Running and ready');
  const failure = containerFailure(status);
  if (failure !== undefined) return failure;
  const containers = objectsAt(status, 'containerStatuses');
  const isReady = containers.filter((container) => container.ready === true).length;
  return progressing(`${isReady} of ${containers.length} containers are ready`);
}

function pendingReadiness(object: KubeObject, status: JsonObject): Readiness {
  const scheduled = conditionOf(object, 'PodScheduled');
  if (scheduled?.status === 'False')
    return progressing(withReason('The Pod is not scheduled', scheduled.reason));
  return containerFailure(status) ?? progressing('The Pod is pending');
}

/** Failure of a container. Reasons that alternate during the kubelet's retries map to one message. */
function containerFailure(status: JsonObject): Readiness | undefined {
  const all = ['initContainerStatuses', 'containerStatuses'].flatMap((field) =>
    objectsAt(status, field),
  );
  for (const container of all) {
    const reason = textAt(objectAt(objectAt(container, 'state'), 'waiting'), 'reason');
    const name = `Container "${textAt(container, 'name') ?? ''}"`;
    if (reason === 'CrashLoopBackOff') return failed(`${name} crashes repeatedly`);
    if (reason === 'ImagePullBackOff' || reason === 'ErrImagePull')
      return progressing(`${name} cannot pull its image`);
    if (reason === 'CreateContainerConfigError')
      return progressing(`${name} has no valid configuration`);
  }
  return undefined;
}

export function jobReadiness(object: KubeObject): Readiness {
  const failure = conditionOf(object, 'Failed');
  if (failure?.status === 'True') return failed(withReason('The Job failed', failure.reason));
  if (conditionOf(object, 'Complete')?.status === 'True') return ready('Completed');
  const [spec, status] = [specOf(object), statusOf(object)];
  if (spec.suspend === true) return progressing('The Job is suspended');
  if (status.startTime === undefined) return progressing('The Job has not started');
  const desired = numberAt(spec, 'completions', 1);
  return progressing(`${numberAt(status, 'succeeded')} of ${desired} Pods have completed`);
}

function withReason(text: string, reason: string | undefined): string {
  return reason === undefined || reason === '' ? text : `${text} (${reason})`;
}
