import type { Logger } from '#telemetry/roles.ts';
import type { Clock } from '#util/clock.ts';
import { type Gvk, gvkKey } from '#util/gvk.ts';
import { pause } from '#util/pause.ts';
import type { Random } from '#util/random.ts';
import type { RuntimeCluster } from '../runner-options.ts';

interface WatchContext {
  readonly cluster: RuntimeCluster;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Interval of checks whether a kind is served, from the cache. */
const newKindPollMs = 5_000;
/** Maximum number of schema requests for each served kind. */
const maxSchemaTries = 12;

/**
 * Resolves with the reason when a missing kind is served: its schema is needed to convert and compare values. Sends no discovery requests:
 * an informer waits for the kind. Undefined: there is no schema to wait for. Rejects when the signal aborts.
 */
export async function whenNewKind(
  unknown: readonly Gvk[],
  { cluster, clock, logger }: WatchContext,
  signal: AbortSignal,
): Promise<string | undefined> {
  const sinceMs = clock.monotonicMs();
  /** Number of schema requests, by kind. */
  const tries = new Map(unknown.map((gvk) => [gvk, 0]));
  while (tries.size > 0) {
    await clock.sleep(newKindPollMs, signal);
    for (const [gvk, before] of tries) {
      if (cluster.resourceFor(gvk) === undefined) continue;
      const schema = await cluster.fetchKindSchema(gvk, signal).catch(() => undefined);
      signal.throwIfAborted();
      if (schema !== undefined) {
        const missingForMs = Math.round(clock.monotonicMs() - sinceMs);
        logger.info(
          { kind: gvkKey(gvk), missingForMs },
          'Kind is served now, restarting the definition',
        );
        return 'A kind is served now';
      }
      // API servers publish the schema after they serve the kind, and for some kinds never.
      if (before + 1 < maxSchemaTries) tries.set(gvk, before + 1);
      else tries.delete(gvk);
    }
  }
  return undefined;
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
