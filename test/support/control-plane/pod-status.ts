import type { KubeObject } from '#util/kube-object.ts';

/** The status of a Pod that runs and is ready. */
export function runningStatus(pod: KubeObject): unknown {
  const time = new Date().toISOString().replace(/\.\d+/, '');
  return {
    phase: 'Running',
    startTime: time,
    podIP: '10.1.0.1',
    podIPs: [{ ip: '10.1.0.1' }],
    conditions: conditions('True', time),
    containerStatuses: containersOf(pod).map((container) => ({
      ...containerBase(container),
      ready: true,
      started: true,
      state: { running: { startedAt: time } },
    })),
  };
}

/** The status of a Pod whose containers have ended. */
export function endedStatus(pod: KubeObject, exitCode: number): unknown {
  const time = new Date().toISOString().replace(/\.\d+/, '');
  const reason = exitCode === 0 ? 'Completed' : 'Error';
  return {
    phase: exitCode === 0 ? 'Succeeded' : 'Failed',
    startTime: time,
    conditions: conditions('False', time),
    containerStatuses: containersOf(pod).map((container) => ({
      ...containerBase(container),
      ready: false,
      started: false,
      state: { terminated: { exitCode, reason, startedAt: time, finishedAt: time } },
    })),
  };
}

function conditions(ready: 'True' | 'False', lastTransitionTime: string): readonly unknown[] {
  return [
    { type: 'PodScheduled', status: 'True', lastTransitionTime },
    { type: 'Initialized', status: 'True', lastTransitionTime },
    { type: 'ContainersReady', status: ready, lastTransitionTime },
    { type: 'Ready', status: ready, lastTransitionTime },
  ];
}

function containerBase({ name, image }: Container): Record<string, unknown> {
  return { name, image, imageID: image, containerID: `test://${name}`, restartCount: 0 };
}

function containersOf(pod: KubeObject): readonly Container[] {
  return (pod.spec as PodSpec).containers;
}

interface Container {
  readonly name: string;
  readonly image: string;
}

interface PodSpec {
  readonly containers: readonly Container[];
}
