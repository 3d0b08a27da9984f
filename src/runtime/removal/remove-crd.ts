import { type Informer, KubeError } from '../../kube/roles.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import {
  type CrdDefinition,
  crdFlowOf,
  crdGvk,
  firstOf,
  isAdopted,
  isGoing,
  whenUsable,
  whyNotOurs,
} from '../crd/index.ts';
import type { RuntimeCluster } from '../runtime-cluster.ts';

export interface RemoveCrdOptions {
  readonly definition: CrdDefinition;
  readonly cluster: RuntimeCluster;
  /** Works on the resources while they go; called once, when the CRD is to go. Until the signal aborts. */
  readonly work: (signal: AbortSignal) => Promise<void>;
}

/** What became of the CRD. */
export type CrdRemoval =
  | { readonly kind: 'removed' }
  /** It is not for the definition to remove. */
  | { readonly kind: 'kept'; readonly reason: string };

/**
 * Deletes the CRD, and with it all its resources, and resolves when it is gone. One that is not the definition's, or was there before it,
 * stays.
 * @throws KubeError
 */
export async function removeCrd(
  options: RemoveCrdOptions,
  signal: AbortSignal,
): Promise<CrdRemoval> {
  const { definition, cluster } = options;
  const { name } = definition.kind.crd.metadata;
  // As the server has it now: a label may have changed a moment ago.
  const stored = await cluster.get({ gvk: crdGvk, name }, { flow: crdFlowOf(definition) }, signal);
  if (stored === undefined) return { kind: 'removed' };
  const reason = whyKept(stored.object, definition);
  if (reason !== undefined) return { kind: 'kept', reason };
  const crds = cluster.acquire({ gvk: crdGvk, fieldSelector: `metadata.name=${name}` });
  const ending = new AbortController();
  try {
    await whenUsable(crds, signal);
    const working = options.work(AbortSignal.any([signal, ending.signal]));
    const gone = deleteAndWait(stored.object, { crds, options }, signal);
    try {
      await Promise.race([gone, failureOf(working)]);
    } finally {
      ending.abort(new Error('The CustomResourceDefinition is gone'));
      await Promise.allSettled([working, gone]);
    }
    return { kind: 'removed' };
  } finally {
    crds.release();
  }
}

function whyKept(live: KubeObject, definition: CrdDefinition): string | undefined {
  const { name } = live.metadata;
  // `adopt` lets a definition take over, not delete.
  const policy = { ...definition.kind.crdPolicy, adopt: false };
  const notOurs = whyNotOurs(live, {
    ...definition,
    kind: { ...definition.kind, crdPolicy: policy },
  });
  if (notOurs !== undefined) return notOurs;
  if (!isAdopted(live)) return undefined;
  return `The CustomResourceDefinition "${name}" was there before it and was taken over`;
}

interface Going {
  readonly crds: Informer;
  readonly options: RemoveCrdOptions;
}

async function deleteAndWait(
  live: KubeObject,
  { crds, options: { cluster, definition } }: Going,
  signal: AbortSignal,
): Promise<void> {
  const { name, uid = '' } = live.metadata;
  if (!isGoing(live)) {
    try {
      const options = { uid, flow: crdFlowOf(definition) };
      await cluster.delete({ gvk: crdGvk, name }, options, signal);
    } catch (error) {
      // Another one has its name by now.
      if (!(error instanceof KubeError && error.code === 'uid-mismatch')) throw error;
    }
  }
  await firstOf(crds, signal, () => {
    const isThere = crds.get(undefined, name)?.object.metadata.uid === uid;
    return isThere ? undefined : true;
  });
}

/** Rejects as the work does; its end says nothing. */
function failureOf(working: Promise<void>): Promise<never> {
  return new Promise((_, reject) => {
    working.catch(reject);
  });
}
