import type { Cluster, EventsRefused, KindSchema, ServerSilence } from '../kube/roles.ts';
import type { Gvk } from '../util/gvk.ts';

/** What the runtime needs of a cluster besides what a pass needs. */
export interface RuntimeCluster extends Cluster {
  /** The kind's schema from the server's OpenAPI documents; undefined when it documents none (yet). @throws KubeError */
  fetchKindSchema(gvk: Gvk, signal: AbortSignal): Promise<KindSchema | undefined>;
  /** Calls back whenever a server that had not accepted our credentials does again. Returns the unsubscribe function. */
  onAdmitted(listener: () => void): () => void;
  /** Undefined while the server answers and lets us in. */
  readonly silence: ServerSilence | undefined;
  /** Undefined while Events are taken, or nobody has tried to write any. */
  readonly eventsRefused: EventsRefused | undefined;
  /** Brings gauges up to date, for a scrape. */
  observe(): void;
  /** The CRD of a kind was installed or changed. */
  kindChanged(gvk: Gvk): void;
}
