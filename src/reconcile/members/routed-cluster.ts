import { type Cluster, KubeError, type ObjectRef, type StoredObject } from '../../kube/roles.ts';
import { gvkIn } from '../../util/gvk.ts';
import { inMember, memberOf, onHub } from '../../util/member-cluster.ts';
import { MemberInformer, memberUnreachable } from './member-informer.ts';
import type { Members } from './members.ts';

/**
 * One cluster over the hub and its members. Kinds and manifests that name a member (`gvk.cluster`, `inMember`) reach it, all others reach the
 * hub as before. A member that cannot be used answers every request with KubeError `member-unreachable`.
 */
export function createRoutedCluster(hub: Cluster, members: Members): Cluster {
  /** Runs a request on the cluster of a kind: on a member if it is usable at this moment. Errors of a member name it. */
  async function request<T>(
    name: string | undefined,
    send: (cluster: Cluster) => Promise<T>,
  ): Promise<T> {
    if (name === undefined) return send(hub);
    const member = members.usable(name);
    if (member === undefined) throw memberUnreachable(name);
    try {
      return await send(member);
    } catch (error) {
      throw error instanceof KubeError ? errorOf(error, name) : error;
    }
  }

  return {
    name: hub.name,
    events: hub.events,
    acquire: (query) => {
      const { cluster } = query.gvk;
      return cluster === undefined
        ? hub.acquire(query)
        : new MemberInformer(query, cluster, members);
    },
    resourceFor: (gvk) =>
      gvk.cluster === undefined
        ? hub.resourceFor(gvk)
        : members.connectionOf(gvk.cluster)?.resourceFor(gvkIn(gvk, undefined)),
    lookUp: (gvk, signal) => hub.lookUp(gvk, signal),
    findKind: ({ cluster, ...kind }, signal) =>
      request(cluster, (each) => each.findKind(kind, signal)),
    onGranted({ cluster, ...right }, listener) {
      const watcher = cluster === undefined ? hub : members.connectionOf(cluster);
      return watcher?.onGranted(right, listener) ?? (() => undefined);
    },
    get: (ref, options, signal) =>
      request(ref.gvk.cluster, async (each) =>
        inClusterOf(ref, await each.get(inside(ref), options, signal)),
      ),
    managedFields: (ref, options, signal) =>
      request(ref.gvk.cluster, (each) => each.managedFields(inside(ref), options, signal)),
    apply(manifest, options, signal) {
      const cluster = memberOf(manifest);
      if (cluster === undefined) return hub.apply(manifest, options, signal);
      return request(cluster, async (member) => {
        const { stored, created } = await member.apply(onHub(manifest), options, signal);
        return { stored: { ...stored, object: inMember(stored.object, cluster) }, created };
      });
    },
    // Only patches replace objects, and they reach the hub only.
    replace: (manifest, options, signal) => hub.replace(manifest, options, signal),
    editMetadata: (ref, options, signal) =>
      request(ref.gvk.cluster, async (each) =>
        inClusterOf(ref, await each.editMetadata(inside(ref), options, signal)),
      ),
    delete: (ref, options, signal) =>
      request(ref.gvk.cluster, (each) => each.delete(inside(ref), options, signal)),
  };
}

/** The reference as its cluster itself knows it. */
function inside(ref: ObjectRef): ObjectRef {
  return ref.gvk.cluster === undefined ? ref : { ...ref, gvk: gvkIn(ref.gvk, undefined) };
}

/** The object as others know it: one of a member names it. */
function inClusterOf(
  { gvk: { cluster } }: ObjectRef,
  stored: StoredObject | undefined,
): StoredObject | undefined {
  if (cluster === undefined || stored === undefined) return stored;
  return { ...stored, object: inMember(stored.object, cluster) };
}

/** An outage of a member is not one of the hub; a missing right or object names the member. */
function errorOf(error: KubeError, cluster: string): KubeError {
  if (error.isUnreachable) return memberUnreachable(cluster, error);
  const { right, missing } = error;
  if (right === undefined && missing?.gvk === undefined) return error;
  return error.with({
    ...(right && { right: { ...right, cluster } }),
    ...(missing?.gvk && { missing: { ...missing, gvk: gvkIn(missing.gvk, cluster) } }),
  });
}
