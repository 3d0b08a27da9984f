import type { KubeObject } from '#util/kube-object.ts';
import {
  endedStatus,
  type PlaneClient,
  PlaneRequestError,
  runningStatus,
} from '../control-plane/index.ts';

/**
 * Plays the kubelet for the Pods of all namespaces, as `homeostat dev` does: Pods run and are ready at once, those of Jobs succeed. The
 * annotation `sandbox.homeostat.dev/outcome` asks for something else: `fail` or `never-ready`.
 */
export class RecipeKubelet {
  readonly #client: PlaneClient;
  readonly #stop = new AbortController();
  #loop: Promise<void> | undefined;

  constructor(client: PlaneClient) {
    this.#client = client;
  }

  start(): void {
    const { signal } = this.#stop;
    this.#loop = this.#client
      .follow({
        path: '/api/v1/pods',
        signal,
        onState: async (pods) => {
          await Promise.all(pods.map((pod) => this.#advance(pod)));
          return false;
        },
      })
      .catch((error) => {
        if (!signal.aborted) throw error;
      });
  }

  /** Rejects with its failure if it had one. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#loop;
  }

  async #advance(pod: KubeObject): Promise<void> {
    const { phase } = (pod.status ?? {}) as { readonly phase?: string };
    const outcome = pod.metadata.annotations?.['sandbox.homeostat.dev/outcome'];
    const isWaiting = pod.metadata.deletionTimestamp === undefined && phase === 'Pending';
    if (!isWaiting || outcome === 'never-ready') return;
    const { restartPolicy } = pod.spec as { readonly restartPolicy?: string };
    if (restartPolicy === 'Always') await this.#write(pod, runningStatus(pod));
    else await this.#write(pod, endedStatus(pod, outcome === 'fail' ? 1 : 0));
  }

  async #write(pod: KubeObject, status: unknown): Promise<void> {
    const { namespace, name, uid } = pod.metadata;
    const path = `/api/v1/namespaces/${namespace}/pods/${name}/status`;
    try {
      await this.#client.patch(path, { metadata: { uid }, status });
    } catch (error) {
      // It was deleted, or another Pod has its name by now.
      const isGone = error instanceof PlaneRequestError && [404, 409].includes(error.status);
      if (!isGone) throw error;
    }
  }
}
