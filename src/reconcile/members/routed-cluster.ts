import { type Cluster, KubeError, type ObjectRef, type StoredObject } from '../../kube/roles.ts';
import { inMember, memberOf, onHub } from '../../util/member-cluster.ts';
import { MemberInformer, memberUnreachable } from './member-informer.ts';
import { isUsable, type Members } from './members.ts';

/**
 * One cluster over the hub and its members. References, queries and manifests that name a member (`cluster`, `inMember`) reach it, all
 * others reach the hub as before. A member that cannot be used answers every request with KubeError `member-unreachable`.
 */
export function createRoutedCluster(hub: Cluster, members: Members): Cluster {
  function connectionOf(name: string): Cluster | undefined {
    return members.states.get(name)?.member?.cluster;
  }

  /** Runs a request on a member, if it is usable at this moment. Its errors name the member. */
  async function request<T>(name: string, send: (member: Cluster) => Promise<T>): Promise<T> {
    const state = members.states.get(name);
    const member = state !== undefined && isUsable(state) ? state.member?.cluster : undefined;
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
      const { cluster } = query;
      return cluster === undefined
        ? hub.acquire(query)
        : new MemberInformer({ ...query, cluster }, members);
    },
    resourceFor: (gvk, cluster) =>
      cluster === undefined ? hub.resourceFor(gvk) : connectionOf(cluster)?.resourceFor(gvk),
    lookUp: (gvk, signal) => hub.lookUp(gvk, signal),
    findKind: (kind, signal, cluster) =>
      cluster === undefined
        ? hub.findKind(kind, signal)
        : request(cluster, (member) => member.findKind(kind, signal)),
    onGranted({ cluster, ...right }, listener) {
      const watcher = cluster === undefined ? hub : connectionOf(cluster);
      return watcher?.onGranted(right, listener) ?? (() => undefined);
    },
    get: (ref, options, signal) =>
      ref.cluster === undefined
        ? hub.get(ref, options, signal)
        : request(ref.cluster, async (member) =>
            tagged(await member.get(inside(ref), options, signal), ref),
          ),
    managedFields: (ref, options, signal) =>
      ref.cluster === undefined
        ? hub.managedFields(ref, options, signal)
        : request(ref.cluster, (member) => member.managedFields(inside(ref), options, signal)),
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
      ref.cluster === undefined
        ? hub.editMetadata(ref, options, signal)
        : request(ref.cluster, async (member) =>
            tagged(await member.editMetadata(inside(ref), options, signal), ref),
          ),
    delete: (ref, options, signal) =>
      ref.cluster === undefined
        ? hub.delete(ref, options, signal)
        : request(ref.cluster, (member) => member.delete(inside(ref), options, signal)),
  };
}

/** The reference as the member itself knows it. */
function inside({ cluster: _, ...ref }: ObjectRef): ObjectRef {
  return ref;
}

function tagged(
  stored: StoredObject | undefined,
  { cluster = '' }: ObjectRef,
): StoredObject | undefined {
  return stored && { ...stored, object: inMember(stored.object, cluster) };
}

/** An outage of a member is not one of the hub; a missing right names the member. */
function errorOf(error: KubeError, cluster: string): KubeError {
  if (error.isUnreachable) return memberUnreachable(cluster, error);
  if (error.right === undefined) return error;
  const { code, message, status, causes, retryAfterSeconds, right } = error;
  return new KubeError(code, message, {
    status,
    causes,
    ...(error.reason !== undefined && { reason: error.reason }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    right: { ...right, cluster },
    cause: error,
  });
}
