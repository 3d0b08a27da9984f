import type { Cluster, KindSchema } from '../kube/roles.ts';
import type { Gvk } from '../util/gvk.ts';

/** What the runtime needs of a cluster besides what a pass needs. */
export interface RuntimeCluster extends Cluster {
  /** The kind's schema from the server's OpenAPI documents; undefined when it documents none (yet). @throws KubeError */
  fetchKindSchema(gvk: Gvk, signal: AbortSignal): Promise<KindSchema | undefined>;
  /** Calls back whenever a server that had not answered answers again. Returns the unsubscribe function. */
  onReachable(listener: () => void): () => void;
  /** How long the server has not answered, or not let us in, in ms; 0 while it does. */
  readonly unreachableForMs: number;
  /** The CRD of a kind was installed or changed. */
  kindChanged(gvk: Gvk): void;
}
