import type { Informer } from '../../kube/roles.ts';
import { settled } from '../../reconcile/index.ts';
import { conditionsOf } from '../../util/conditions-of.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import type { CrdContext } from './crd-definition.ts';
import { whyNotOurs } from './crd-owner.ts';
import { crdGvk } from './stored-kind.ts';

/** How often a new kind is asked for until every part of the server serves it. */
const servedPollMs = 100;

/** Resolves when the informer is synced. @throws KubeError when it cannot (no right to list CRDs, say): whoever waits should hear of it. */
export async function whenUsable(informer: Informer, signal: AbortSignal): Promise<void> {
  await settled(informer, signal);
  if (informer.state.kind === 'failing') throw informer.state.error;
}

/**
 * Resolves, with the reason, when the CRD that was installed is gone or no longer the definition's: its controller must stop then, as
 * what it would work on is not what it was written for. While it is being deleted its resources are, and may wait for us. Rejects
 * when the signal aborts.
 */
export async function whenCrdLost(
  { definition, cluster }: CrdContext,
  signal: AbortSignal,
): Promise<string> {
  const { name } = definition.kind.crd.metadata;
  const crds = cluster.acquire({ gvk: crdGvk, fieldSelector: `metadata.name=${name}` });
  try {
    await crds.whenSynced(signal);
    return await firstOf(crds, signal, () => {
      const live = crds.get(undefined, name)?.object;
      if (live === undefined) return `The CustomResourceDefinition "${name}" is gone`;
      return whyNotOurs(live, definition);
    });
  } finally {
    crds.release();
  }
}

/** Resolves when the CRD is established; with the reason when its names are taken. */
export async function whenEstablished(
  crds: Informer,
  name: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { clash } = await firstOf(crds, signal, () => {
    const live = crds.get(undefined, name)?.object;
    if (live === undefined) return undefined;
    const accepted = conditionsOf(live).find(({ type }) => type === 'NamesAccepted');
    if (accepted?.status === 'False')
      return { clash: `Names of "${name}" are taken: ${accepted.message}` };
    return isEstablished(live) ? { clash: undefined } : undefined;
  });
  return clash;
}

export function isEstablished(crd: KubeObject): boolean {
  return conditionsOf(crd).some(({ type, status }) => type === 'Established' && status === 'True');
}

/** Established is not yet served: discovery and the other servers follow a little later. */
export async function whenServed(
  { definition, cluster, clock }: CrdContext,
  signal: AbortSignal,
): Promise<void> {
  const { gvk } = definition.kind;
  while ((await cluster.lookUp(gvk, signal)) === undefined) await clock.sleep(servedPollMs, signal);
}

/** The first answer that `look` gives, now or after a change in the informer. */
export function firstOf<T>(
  informer: Informer,
  signal: AbortSignal,
  look: () => T | undefined,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let unsubscribe = () => {};
    const end = (finish: () => void) => {
      signal.removeEventListener('abort', onAbort);
      unsubscribe();
      finish();
    };
    const onAbort = () => end(() => reject(signal.reason));
    const check = () => {
      const answer = look();
      if (answer !== undefined) end(() => resolve(answer));
    };
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    unsubscribe = informer.subscribe(check);
    // Also once by hand: subscribing to an empty informer delivers nothing, and an answer given while subscribing came before `unsubscribe`.
    check();
  });
}
