import { isTooLarge } from '#conversion';
import { type Informer, KubeError } from '#kube/roles.ts';
import { settled } from '#reconcile';
import { type Gvk, gvkOf } from '#util/gvk.ts';
import type { CrdContext } from '../crd-definition.ts';
import { isIncomplete } from './storable.ts';

/** Interval of the attempts. */
const pauseMs = 1_000;
/** Objects with it are cached whole: there are none. */
const finalizer = 'homeostat.dev/conversion-trial';
const fieldManager = 'homeostat.conversion-trial';
const trialName = 'homeostat-conversion-trial';

/**
 * Reads resources in versions that are converted, and writes them in dry runs, until the time is over. Without resources one attempt is enough:
 * nothing is stored that could be lost.
 * @returns why a conversion fails; undefined: none did
 * @throws KubeError while the API server does not answer
 */
export async function tryConversions(
  context: CrdContext & { readonly namespace?: string | undefined },
  { kinds, forMs }: { readonly kinds: readonly Gvk[]; readonly forMs: number },
  signal: AbortSignal,
): Promise<string | undefined> {
  const { cluster, clock } = context;
  const startMs = clock.monotonicMs();
  const informers = kinds.map((gvk) => cluster.acquire({ gvk, fullObjects: { finalizer } }));
  try {
    for (let round = 0; ; round++) {
      let count = 0;
      for (const informer of informers) {
        const problem = await tryOne(context, { informer, round }, signal);
        if (problem !== undefined) return problem;
        count += [...informer.list()].length;
      }
      if (count === 0 || clock.monotonicMs() - startMs >= forMs) return undefined;
      await clock.sleep(pauseMs, signal);
    }
  } finally {
    for (const informer of informers) informer.release();
  }
}

interface Attempt {
  readonly informer: Informer;
  readonly round: number;
}

async function tryOne(
  { definition, cluster, namespace = 'default' }: Parameters<typeof tryConversions>[0],
  { informer, round }: Attempt,
  signal: AbortSignal,
): Promise<string | undefined> {
  const flow = { name: definition.name, priority: 'object' } as const;
  const { gvk } = informer.query;
  await settled(informer, signal);
  if (informer.state.kind === 'failing') return failure(informer.state.error);
  const objects = [...informer.list()];
  const object = objects[round % Math.max(objects.length, 1)]?.object;
  const isNamespaced = definition.kind.scope === 'Namespaced';
  const { name, namespace: within = isNamespaced ? namespace : undefined } = object?.metadata ?? {
    name: trialName,
  };
  const place = { name, ...(within !== undefined && { namespace: within }) };
  const apiVersion = `${gvk.group}/${gvk.version}`;
  try {
    if (object !== undefined)
      await cluster.get({ gvk: gvkOf(apiVersion, gvk.kind), ...place }, { flow }, signal);
    // Writes of such an object are rejected in this version; reads are not.
    if (object !== undefined && isIncomplete(object)) return undefined;
    const manifest = { apiVersion, kind: gvk.kind, metadata: place };
    await cluster.dryRunApply?.(manifest, { fieldManager, force: true, flow }, signal);
    return undefined;
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    return failure(error);
  }
}

/**
 * Other errors are not about conversions: an object may be invalid or just deleted, or an admission webhook does not answer. An object that
 * does not fit into a version shows that the webhook answers.
 */
function failure(error: KubeError): string | undefined {
  if (error.isUnreachable) throw error;
  return error.isConversion && !isTooLarge(error.message) ? error.message : undefined;
}
