import { definesCrd } from '../../definition/index.ts';
import type { Logger } from '../../telemetry/roles.ts';
import type { Clock } from '../../util/clock.ts';
import { type Gvk, gvkKey } from '../../util/gvk.ts';
import { pause } from '../../util/pause.ts';
import type { Random } from '../../util/random.ts';
import { whenAborted } from '../../util/when-aborted.ts';
import { whenCrdLost } from '../crd/wait-for-crd.ts';
import type { Hub, RuntimeCluster } from '../runner-options.ts';
import { whenKindLost } from './foreign-kind.ts';
import type { PreparedDefinition } from './prepare-definition.ts';

/** Why a definition must restart. */
interface RestartReason {
  /** `lost`: its kind is deleted or has another owner; `kind-served`: a missing kind is served now. */
  readonly kind: 'lost' | 'kind-served';
  readonly reason: string;
}

interface WatchContext {
  readonly cluster: RuntimeCluster;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly runtime?: string | undefined;
  readonly hub?: Hub | undefined;
}

/** Interval of checks whether a kind is served, from the cache. */
const newKindPollMs = 5_000;
/** Maximum number of schema requests for a served kind. */
const schemaTries = 12;

/** Resolves when a definition must restart; with undefined when the signal aborts. */
export async function whenRestartNeeded(
  prepared: PreparedDefinition,
  context: WatchContext,
  signal: AbortSignal,
): Promise<RestartReason | undefined> {
  const first = new AbortController();
  const either = AbortSignal.any([signal, first.signal]);
  try {
    return await Promise.race([
      whenLost(prepared, context, either),
      whenNewKind(prepared.unknownKinds, context, either),
    ]);
  } finally {
    first.abort(new Error('Another restart condition was met'));
  }
}

async function whenLost(
  { plan }: PreparedDefinition,
  { cluster, clock, runtime, hub }: WatchContext,
  signal: AbortSignal,
): Promise<RestartReason | undefined> {
  const { definition } = plan;
  const lost = definesCrd(definition)
    ? whenCrdLost({ definition, cluster, clock, runtime, hub }, signal)
    : whenKindLost(plan, cluster, signal);
  const reason = await lost.catch(() => undefined);
  return reason === undefined ? undefined : { kind: 'lost', reason };
}

/**
 * Resolves when a missing kind is served: its schema is needed to convert and compare values. Sends no discovery requests: an informer
 * waits for the kind.
 */
async function whenNewKind(
  unknown: readonly Gvk[],
  { cluster, clock, logger }: WatchContext,
  signal: AbortSignal,
): Promise<RestartReason | undefined> {
  const sinceMs = clock.monotonicMs();
  let tries = 0;
  while (unknown.length > 0 && tries < schemaTries && !signal.aborted) {
    await pause(clock, newKindPollMs, signal);
    const served = unknown.find((gvk) => cluster.resourceFor(gvk) !== undefined);
    if (served === undefined || signal.aborted) continue;
    // API servers publish the schema after they serve the kind, and for some kinds never.
    tries++;
    const schema = await cluster.fetchKindSchema(served, signal).catch(() => undefined);
    if (schema === undefined || signal.aborted) continue;
    const missingForMs = Math.round(clock.monotonicMs() - sinceMs);
    logger.info(
      { kind: gvkKey(served), missingForMs },
      'Kind is served now, restarting the definition',
    );
    return { kind: 'kind-served', reason: 'A kind is served now' };
  }
  return whenAborted(signal).then(() => undefined);
}

interface ResyncOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** In ms; 0: never. */
  readonly everyMs: number;
  /** Enqueues every resource. */
  readonly runAll: () => void;
}

/** Enqueues every resource periodically, in case a watch missed a change. Until the signal aborts. Never rejects. */
export async function resync(
  { clock, random, everyMs, runAll }: ResyncOptions,
  signal: AbortSignal,
): Promise<void> {
  while (everyMs > 0 && !signal.aborted) {
    await pause(clock, everyMs * (0.9 + 0.2 * random.fraction()), signal);
    if (!signal.aborted) runAll();
  }
}
