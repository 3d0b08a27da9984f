import type { CrdDefinition } from '#definition';
import { type Informer, KubeError } from '#kube/roles.ts';
import { untilInformer } from '#reconcile';
import { anySignal } from '#util/any-signal.ts';
import type { KubeObject } from '#util/kube-object.ts';
import {
  acquireCrd,
  crdFlowOf,
  crdGvk,
  isAdopted,
  isTerminating,
  ownershipConflict,
} from '../crd/crd-definition.ts';
import { withSynced } from '../crd/wait-for-crd.ts';
import type { Hub, RuntimeCluster } from '../runner-options.ts';

interface RemoveCrdOptions {
  readonly definition: CrdDefinition;
  readonly cluster: RuntimeCluster;
  /** Set if the cluster is a member. @default undefined: it is the hub */
  readonly hub?: Pick<Hub, 'uid'>;
  /** Finalizes the resources while the CRD is deleted. Called once. Runs until the signal aborts. */
  readonly finalizeResources: (signal: AbortSignal) => Promise<void>;
}

/**
 * Deletes the CRD with its resources; resolves when it is deleted.
 * @returns why it is kept: it has another owner or was adopted; undefined: it is deleted
 * @throws KubeError
 */
export async function removeCrd(
  options: RemoveCrdOptions,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { definition, cluster } = options;
  const { name } = definition.kind.crd.metadata;
  // Read from the API server: a label may have just changed.
  const stored = await cluster.get({ gvk: crdGvk, name }, { flow: crdFlowOf(definition) }, signal);
  if (stored === undefined) return undefined;
  const reason = reasonToKeep(stored.object, options);
  if (reason !== undefined) return reason;
  const ending = new AbortController();
  const both = anySignal([signal, ending.signal]);
  await withSynced(acquireCrd(cluster, name), signal, async (crds) => {
    const working = options.finalizeResources(both);
    const deleted = deleteAndWait(stored.object, { crds, options }, both);
    try {
      await Promise.race([deleted, failureOf(working)]);
    } finally {
      ending.abort(
        new Error('The CustomResourceDefinition was deleted, or its resources cannot be finalized'),
      );
      await Promise.allSettled([working, deleted]);
    }
  });
  return undefined;
}

function reasonToKeep(live: KubeObject, { definition, hub }: RemoveCrdOptions): string | undefined {
  const { name } = live.metadata;
  // `adopt` does not permit deletion.
  const policy = { ...definition.kind.crdPolicy, adopt: false };
  const kind = { ...definition.kind, crdPolicy: policy };
  const notOurs = ownershipConflict(live, { ...definition, kind }, hub);
  if (notOurs !== undefined) return notOurs;
  if (!isAdopted(live)) return undefined;
  return `The CustomResourceDefinition "${name}" was adopted, so it is never deleted`;
}

interface DeletionContext {
  readonly crds: Informer;
  readonly options: RemoveCrdOptions;
}

async function deleteAndWait(
  live: KubeObject,
  { crds, options: { cluster, definition } }: DeletionContext,
  signal: AbortSignal,
): Promise<void> {
  const { name, uid = '' } = live.metadata;
  if (!isTerminating(live)) {
    try {
      const options = { uid, flow: crdFlowOf(definition) };
      await cluster.delete({ gvk: crdGvk, name }, options, signal);
    } catch (error) {
      // Deleted and recreated meanwhile.
      if (!(error instanceof KubeError && error.code === 'uid-mismatch')) throw error;
    }
  }
  await untilInformer(crds, signal, () => {
    const isThere = crds.get(undefined, name)?.object.metadata.uid === uid;
    return isThere ? undefined : true;
  });
}

/** Rejects when `working` rejects; never resolves. */
function failureOf(working: Promise<void>): Promise<never> {
  return new Promise((_, reject) => {
    working.catch(reject);
  });
}
