import type { KubeObject } from '#util/kube-object.ts';
import { type PlaneClient, PlaneRequestError } from './plane-client.ts';
import { endedStatus, runningStatus } from './pod-status.ts';

/** Pods of a namespace, all of them or those of a label selector. */
export interface PodSelection {
  readonly namespace: string;
  /** `app=web,tier=front` */
  readonly selector?: string;
}

/**
 * Stands in for the kubelet that a control plane lacks: writes the status of Pods. `runPods` and
 * `completePods` act once on what is there; `start` continues with every Pod that is created.
 */
export class InstantKubelet {
  readonly #client: PlaneClient;
  readonly #stop = new AbortController();
  readonly #loops: Promise<void>[] = [];

  constructor(client: PlaneClient) {
    this.#client = client;
  }

  /** Marks the selected Pods that are not finished as running and ready; returns their names. */
  async runPods(selection: PodSelection): Promise<readonly string[]> {
    const pods = await this.#client.list(podsPath(selection));
    const waiting = pods.filter(isUnfinished);
    await Promise.all(waiting.map((pod) => this.#write(pod, runningStatus(pod))));
    return waiting.map(({ metadata }) => metadata.name);
  }

  /**
   * Marks the selected Pods as ended with an exit code, by default 0. Those of a Job have the label
   * `batch.kubernetes.io/job-name=<job>`.
   */
  async completePods(selection: PodSelection, exitCode = 0): Promise<readonly string[]> {
    const pods = await this.#client.list(podsPath(selection));
    const open = pods.filter(isUnfinished);
    await Promise.all(open.map((pod) => this.#write(pod, endedStatus(pod, exitCode))));
    return open.map(({ metadata }) => metadata.name);
  }

  /** Waits for the first Pod of a Job and ends the Job's Pods with an exit code. */
  async completeJob(namespace: string, job: string, exitCode = 0): Promise<void> {
    const selection = { namespace, selector: `batch.kubernetes.io/job-name=${job}` };
    await this.#client.untilList(podsPath(selection), (pods) => pods.some(isUnfinished));
    await this.completePods(selection, exitCode);
  }

  /** From now on, marks every selected Pod as running and ready as soon as it is there. */
  start(selection: PodSelection): void {
    const loop = this.#client.follow({
      path: podsPath(selection),
      signal: this.#stop.signal,
      onState: async (pods) => {
        const waiting = pods.filter((pod) => isUnfinished(pod) && phaseOf(pod) !== 'Running');
        await Promise.all(waiting.map((pod) => this.#write(pod, runningStatus(pod))));
        return false;
      },
    });
    this.#loops.push(loop.catch((error) => this.#rethrowUnlessStopped(error)));
  }

  /** Ends what `start` began; rejects with its failure if it had one. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#loops);
  }

  #rethrowUnlessStopped(error: unknown): void {
    if (!this.#stop.signal.aborted) throw error;
  }

  async #write(pod: KubeObject, status: unknown): Promise<void> {
    const { namespace, name, uid } = pod.metadata;
    const path = `/api/v1/namespaces/${namespace}/pods/${name}/status`;
    try {
      await this.#client.patch(path, { metadata: { uid }, status });
    } catch (error) {
      // It went away, or another Pod took its name, between our look and our write.
      const isGone = error instanceof PlaneRequestError && [404, 409].includes(error.status);
      if (!isGone) throw error;
    }
  }
}

function podsPath({ namespace, selector }: PodSelection): string {
  const query = selector === undefined ? '' : `?labelSelector=${encodeURIComponent(selector)}`;
  return `/api/v1/namespaces/${namespace}/pods${query}`;
}

function phaseOf(pod: KubeObject): unknown {
  return (pod.status as PodStatus | undefined)?.phase;
}

function isUnfinished(pod: KubeObject): boolean {
  const phase = phaseOf(pod);
  return (
    pod.metadata.deletionTimestamp === undefined && phase !== 'Succeeded' && phase !== 'Failed'
  );
}

interface PodStatus {
  readonly phase?: string;
}
