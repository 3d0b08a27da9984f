import type { Cluster, KindSchema } from '../kube/roles.ts';
import type { Gvk } from '../util/gvk.ts';

/** What the runtime needs of a cluster besides what a pass needs. */
export interface RuntimeCluster extends Cluster {
  /** The kind's schema from the server's OpenAPI documents; undefined when it documents none (yet). @throws KubeError */
  fetchKindSchema(gvk: Gvk, signal: AbortSignal): Promise<KindSchema | undefined>;
  /** Calls back whenever a server that had not answered answers again. Returns the unsubscribe function. */
  onReachable(listener: () => void): () => void;
  /** Does the server answer? */
  readonly isReachable: boolean;
  /** The CRD of a kind was installed or changed. */
  kindChanged(gvk: Gvk): void;
}
