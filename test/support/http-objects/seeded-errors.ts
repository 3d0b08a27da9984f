import { FarIndex } from '#http-objects/controller/far-index.ts';
import { recordAnnotation } from '#http-objects/core/record.ts';
import { HttpTransportError } from '#kube/roles.ts';
import type { MemoryCluster } from './memory-cluster.ts';
import type { Seeded } from './model-world.ts';

/** Errors that an implementation could have. The model must find each of them. */
export const seededErrors: Readonly<Record<string, Seeded>> = {
  'the record is stored after the status': { cluster: recordAfterStatus },
  'a POST whose answer is lost is sent again': {
    transport: (api) => ({
      async send(request, signal) {
        try {
          return await api.send(request, signal);
        } catch (error) {
          const isLost = error instanceof HttpTransportError && error.mayHaveArrived;
          if (request.method !== 'POST' || !isLost) throw error;
          return api.send(request, signal);
        }
      },
    }),
  },
  'a page of HTML with the status 404 is believed': {
    transport: (api) => ({
      async send(request, signal) {
        const answer = await api.send(request, signal);
        const isPage = answer.status === 404 && answer.body.startsWith('<');
        return isPage ? { ...answer, headers: {}, body: '{}' } : answer;
      },
    }),
  },
  'a lost answer counts as a rejected connection': {
    transport: (api) => ({
      async send(request, signal) {
        try {
          return await api.send(request, signal);
        } catch (error) {
          if (!(error instanceof HttpTransportError)) throw error;
          throw new HttpTransportError(error.code, error.message, { mayHaveArrived: false });
        }
      },
    }),
  },
  'a Secret that was not written counts as written': { cluster: forgivenSecrets },
  'an endpoint that was created again counts as the same': {
    endpoint: (object) => ({ ...object, metadata: { ...object.metadata, uid: 'same' } }),
  },
  'two HttpObjects may have one object': {
    index: () =>
      Object.assign(new FarIndex(), { ownerBefore: () => undefined, ownerOf: () => undefined }),
  },
};

/** Failed writes of Secrets are not noticed, also when they are read. */
function forgivenSecrets(cluster: MemoryCluster): ReturnType<NonNullable<Seeded['cluster']>> {
  return {
    apply: (manifest, options) =>
      cluster.apply(manifest, options).catch((error: unknown) => {
        if (manifest.kind !== 'Secret') throw error;
        cluster.unwritten.set(manifest.metadata.name, manifest);
        return { stored: { object: manifest, cluster: undefined, appliedBy: [] }, created: true };
      }),
    editMetadata: (ref, options) => cluster.editMetadata(ref, options),
    secret: (namespace, name) =>
      cluster.unwritten.get(name) ?? cluster.get('Secret', namespace, name),
  };
}

/** Records are written only with the next status, and lost with the process before it. */
function recordAfterStatus(cluster: MemoryCluster) {
  let delayed: (() => Promise<unknown>) | undefined;
  return {
    async apply(...args: Parameters<MemoryCluster['apply']>) {
      const result = await cluster.apply(...args);
      await delayed?.();
      delayed = undefined;
      return result;
    },
    async editMetadata(...args: Parameters<MemoryCluster['editMetadata']>) {
      const [ref, { cached, change }] = args;
      const live = cached ?? cluster.get(ref.gvk.kind, ref.namespace, ref.name);
      const patch = live && change(live.metadata);
      const isRecord = JSON.stringify(patch?.annotations ?? {}).includes(recordAnnotation);
      if (live === undefined || !isRecord || patch?.finalizers === undefined) {
        delayed = () => cluster.editMetadata(...args).catch(() => undefined);
        const annotations = { ...live?.metadata.annotations, ...(patch?.annotations as object) };
        return (
          live && {
            cluster: undefined,
            appliedBy: [],
            object: { ...live, metadata: { ...live.metadata, annotations } },
          }
        );
      }
      return cluster.editMetadata(...args);
    },
  };
}
