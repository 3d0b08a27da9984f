import type { Logger } from '../../telemetry/roles.ts';
import type { Clock } from '../../util/clock.ts';
import { type Gvk, gvkKey } from '../../util/gvk.ts';
import { whenAborted } from '../../util/when-aborted.ts';
import { bringsCrd, whenCrdLost } from '../crd/index.ts';
import type { RuntimeCluster } from '../runtime-cluster.ts';
import { whenKindLost } from './foreign-kind.ts';
import type { Prepared } from './prepare-definition.ts';

/** Why a definition cannot go on as it was started. */
export interface LifeEnd {
  /** `lost`: what it works on is gone, or somebody else's; `known`: a kind that nobody knew is served. */
  readonly kind: 'lost' | 'known';
  readonly reason: string;
}

interface LifeContext {
  readonly cluster: RuntimeCluster;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How often it is looked (at what is known here, without a request) whether a kind is served by now. */
const newKindPollMs = 5_000;
/** So often the schema of a kind that is served is asked for. */
const schemaTries = 12;

/** Resolves when a definition has to start over; with undefined when the signal aborts. */
export async function whenLifeEnds(
  prepared: Prepared,
  context: LifeContext,
  signal: AbortSignal,
): Promise<LifeEnd | undefined> {
  const first = new AbortController();
  const either = AbortSignal.any([signal, first.signal]);
  try {
    return await Promise.race([
      whenLost(prepared, context, either),
      whenNewKind(prepared.unknownKinds, context, either),
    ]);
  } finally {
    first.abort(new Error('The other came first'));
  }
}

async function whenLost(
  { plan }: Prepared,
  { cluster, clock }: LifeContext,
  signal: AbortSignal,
): Promise<LifeEnd | undefined> {
  const { definition } = plan;
  const lost = bringsCrd(definition)
    ? whenCrdLost({ definition, cluster, clock }, signal)
    : whenKindLost(plan, cluster, signal);
  const reason = await lost.catch(() => undefined);
  return reason === undefined ? undefined : { kind: 'lost', reason };
}

/**
 * A kind that nobody knew is served: only then are its values fitted and compared by its schema. Asks nobody: the informer that waits
 * for the kind does.
 */
async function whenNewKind(
  unknown: readonly Gvk[],
  { cluster, clock, logger }: LifeContext,
  signal: AbortSignal,
): Promise<LifeEnd | undefined> {
  const sinceMs = clock.monotonicMs();
  let tries = 0;
  while (unknown.length > 0 && tries < schemaTries && !signal.aborted) {
    await clock.sleep(newKindPollMs, signal).catch(() => {});
    const served = unknown.find((gvk) => cluster.resourceFor(gvk) !== undefined);
    if (served === undefined || signal.aborted) continue;
    // The server documents a kind a little after it serves it, and some never.
    tries++;
    const schema = await cluster.fetchKindSchema(served, signal).catch(() => undefined);
    if (schema === undefined || signal.aborted) continue;
    const missingForMs = Math.round(clock.monotonicMs() - sinceMs);
    logger.info(
      { kind: gvkKey(served), missingForMs },
      'Kind is served now, definition starts over',
    );
    return { kind: 'known', reason: 'A kind is served now' };
  }
  return whenAborted(signal).then(() => undefined);
}
