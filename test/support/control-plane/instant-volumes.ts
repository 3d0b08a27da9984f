import type { KubeObject } from '#util/kube-object.ts';
import { type PlaneClient, PlaneRequestError } from './plane-client.ts';

/**
 * Stands in for the storage that a control plane lacks: binds every claim of a namespace as soon as it is there, and lets go of it
 * when it is deleted, as the controller does that protects claims in use.
 */
export class InstantVolumes {
  readonly #client: PlaneClient;
  readonly #stop = new AbortController();
  readonly #loops: Promise<void>[] = [];

  constructor(client: PlaneClient) {
    this.#client = client;
  }

  start(namespace: string): void {
    const loop = this.#client.follow({
      path: `/api/v1/namespaces/${namespace}/persistentvolumeclaims`,
      signal: this.#stop.signal,
      onState: async (claims) => {
        await Promise.all(claims.map((claim) => this.#serve(claim)));
        return false;
      },
    });
    this.#loops.push(
      loop.catch((error) => {
        if (!this.#stop.signal.aborted) throw error;
      }),
    );
  }

  /** Ends what `start` began; rejects with its failure if it had one. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#loops);
  }

  async #serve(claim: KubeObject): Promise<void> {
    const { namespace, name, uid, deletionTimestamp, finalizers = [] } = claim.metadata;
    const path = `/api/v1/namespaces/${namespace}/persistentvolumeclaims/${name}`;
    const { phase } = claim.status as { readonly phase?: string };
    try {
      if (deletionTimestamp !== undefined && finalizers.length > 0)
        await this.#client.patch(path, { metadata: { uid, finalizers: null } });
      else if (deletionTimestamp === undefined && phase !== 'Bound')
        await this.#client.patch(`${path}/status`, {
          metadata: { uid },
          status: { phase: 'Bound' },
        });
    } catch (error) {
      // It went away, or another claim took its name, between our look and our write.
      const isGone = error instanceof PlaneRequestError && [404, 409].includes(error.status);
      if (!isGone) throw error;
    }
  }
}
