import type { Informer } from '#kube/roles.ts';
import { settled, untilInformer } from '#reconcile';
import { conditionsOf, type KubeObject } from '#util/kube-object.ts';
import {
  acquireCrd,
  type CrdContext,
  type CrdListener,
  ownCrd,
  ownershipConflict,
} from './crd-definition.ts';

/** Interval of discovery requests until every API server serves the kind. */
const servedPollMs = 100;

/**
 * Calls `use` when the informer is synced, and releases it.
 * @throws KubeError when it cannot sync, for example without the right to list CRDs.
 */
export async function withSynced<Result>(
  informer: Informer,
  signal: AbortSignal,
  use: (informer: Informer) => Promise<Result>,
): Promise<Result> {
  try {
    await settled(informer, signal);
    if (informer.state.kind === 'failing') throw informer.state.error;
    return await use(informer);
  } finally {
    informer.release();
  }
}

/**
 * Resolves with the reason when the installed CRD is deleted or has another owner: then the controller must stop. A CRD that is being
 * deleted does not count, because its resources may need finalizing. Rejects when the signal aborts.
 */
export async function whenCrdLost(
  { definition, cluster, hub, onCrd }: CrdContext & CrdListener,
  signal: AbortSignal,
): Promise<string> {
  const { name } = definition.kind.crd.metadata;
  const crds = acquireCrd(cluster, name);
  try {
    return await untilInformer(crds, signal, () => {
      if (crds.state.kind !== 'synced') return undefined;
      const live = crds.get(undefined, name)?.object;
      onCrd?.(ownCrd(live, { definition, hub }));
      if (live === undefined) return `The CustomResourceDefinition "${name}" was deleted`;
      return ownershipConflict(live, definition, hub);
    });
  } finally {
    crds.release();
  }
}

/** Resolves when the CRD is established; with the reason if its names conflict. */
export async function whenEstablished(
  crds: Informer,
  name: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { conflict } = await untilInformer(crds, signal, () => {
    const live = crds.get(undefined, name)?.object;
    if (live === undefined) return undefined;
    const accepted = conditionsOf(live).find(({ type }) => type === 'NamesAccepted');
    if (accepted?.status === 'False')
      return {
        conflict: `The names of CustomResourceDefinition "${name}" conflict: ${accepted.message}`,
      };
    return isEstablished(live) ? { conflict: undefined } : undefined;
  });
  return conflict;
}

function isEstablished(crd: KubeObject): boolean {
  return conditionsOf(crd).some(({ type, status }) => type === 'Established' && status === 'True');
}

/** Resolves when the kind is served: discovery and other API servers follow `Established` with a delay. */
export async function whenServed(
  { definition, cluster, clock }: CrdContext,
  signal: AbortSignal,
): Promise<void> {
  const { gvk } = definition.kind;
  while ((await cluster.lookUp(gvk, signal)) === undefined) await clock.sleep(servedPollMs, signal);
}
