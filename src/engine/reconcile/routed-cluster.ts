import {
  type Cluster,
  type Informer,
  type InformerQuery,
  type KindAt,
  KubeError,
  type RoutingCluster,
  type StoredObject,
} from '#kube/roles.ts';

/** The connections to other clusters. */
export interface Connections {
  /** The connection of a cluster, if objects may be read and written there at this moment. */
  usable(cluster: string): Cluster | undefined;
  /** The connection of a cluster, also if it is not usable. */
  connectionOf(cluster: string): Cluster | undefined;
  /** An informer that outlives connections; its objects name the cluster. */
  informer(query: InformerQuery & { readonly gvk: KindAt }, cluster: string): Informer;
  /** Called with every object of another cluster that a request returns. */
  note(stored: StoredObject): void;
  /** The error of a request to a cluster that cannot be used. */
  unreachable(cluster: string, cause?: unknown): KubeError;
}

/** One cluster over that of the resources (`own`) and others. */
export function createRoutedCluster(own: Cluster, others: Connections): RoutingCluster {
  /** Sends a request to the cluster of a kind. Errors of another cluster name it. */
  async function request<T>(
    name: string | undefined,
    send: (cluster: Cluster) => Promise<T>,
  ): Promise<T> {
    if (name === undefined) return send(own);
    const cluster = others.usable(name);
    if (cluster === undefined) throw others.unreachable(name);
    try {
      return await send(cluster);
    } catch (error) {
      throw error instanceof KubeError ? errorOf(error, name) : error;
    }
  }

  /** The object as others know it: it names its cluster. */
  function located(stored: StoredObject, cluster: string | undefined): StoredObject {
    if (cluster === undefined) return stored;
    const found = { ...stored, cluster };
    others.note(found);
    return found;
  }

  /** An outage of another cluster is not one of our own; a missing right names the cluster. */
  function errorOf(error: KubeError, cluster: string): KubeError {
    if (error.isUnreachable) return others.unreachable(cluster, error);
    const { right } = error;
    return right === undefined ? error : error.with({ right: { ...right, cluster } });
  }

  return {
    name: own.name,
    events: own.events,
    acquire(query) {
      const { cluster } = query.gvk;
      return cluster === undefined ? own.acquire(query) : others.informer(query, cluster);
    },
    resourceFor: (kind) =>
      kind.cluster === undefined
        ? own.resourceFor(kind)
        : others.connectionOf(kind.cluster)?.resourceFor(kind),
    lookUp: (gvk, signal) => own.lookUp(gvk, signal),
    findKind: ({ cluster, ...kind }, signal) =>
      request(cluster, (each) => each.findKind(kind, signal)),
    onGranted({ cluster, ...right }, listener) {
      const watcher = cluster === undefined ? own : others.connectionOf(cluster);
      return watcher?.onGranted(right, listener) ?? (() => undefined);
    },
    get: (ref, options, signal) =>
      request(ref.gvk.cluster, async (each) => {
        const stored = await each.get(ref, options, signal);
        return stored && located(stored, ref.gvk.cluster);
      }),
    managedFields: (ref, options, signal) =>
      request(ref.gvk.cluster, (each) => each.managedFields(ref, options, signal)),
    apply: (manifest, { cluster, ...options }, signal) =>
      request(cluster, async (each) => {
        const { stored, created } = await each.apply(manifest, options, signal);
        return { stored: located(stored, cluster), created };
      }),
    // Only patches replace objects, and they are sent to the own cluster only.
    replace: (manifest, options, signal) => own.replace(manifest, options, signal),
    editMetadata: (ref, options, signal) =>
      request(ref.gvk.cluster, async (each) => {
        const stored = await each.editMetadata(ref, options, signal);
        return stored && located(stored, ref.gvk.cluster);
      }),
    delete: (ref, options, signal) =>
      request(ref.gvk.cluster, (each) => each.delete(ref, options, signal)),
  };
}
