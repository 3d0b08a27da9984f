import { definesCrd, type OperatorDefinition } from '#definition';
import type { Operator } from '#reconcile';
import type { Clock } from '#util/clock.ts';
import type { GroupKind, Gvk } from '#util/gvk.ts';
import { pause } from '#util/pause.ts';
import { type MigrationOptions, migrateStored } from '../crd/migrate-stored.ts';
import type { Hub, RuntimeCluster } from '../runner-options.ts';
import { retryUntilDone } from '../waits.ts';

/** Options of the cleanup after a roll-out. */
export interface CleanupOptions extends MigrationOptions {
  /** No children of these previous kinds are left. */
  readonly onKindsGone: (kinds: { readonly children: readonly GroupKind[] }) => void;
  readonly definition: OperatorDefinition;
  readonly cluster: RuntimeCluster;
  readonly clock: Clock;
  /** Set if the cluster is a member. @default undefined: it is the hub */
  readonly hub?: Hub | undefined;
}

/** Interval of checks in the cache. */
const checkIntervalMs = 5_000;
/** Long delays: a failure only keeps a watch or an old CRD version. */
const retryDelays = { baseDelayMs: checkIntervalMs, maxDelayMs: 600_000 };

/** Removes previous child kinds from the watches and the record when no object of them is left. Never rejects. */
export async function dropPreviousKinds(
  { clock, onKindsGone }: CleanupOptions,
  { operator, formerKinds }: { readonly operator: Operator; readonly formerKinds: readonly Gvk[] },
  signal: AbortSignal,
): Promise<void> {
  let remaining = formerKinds;
  while (remaining.length > 0 && !signal.aborted) {
    const removed = remaining.filter((gvk) => !operator.hasChildren(gvk));
    if (removed.length > 0) {
      remaining = remaining.filter((gvk) => !removed.includes(gvk));
      operator.retainPreviousKinds(remaining);
      onKindsGone({ children: removed });
    }
    await pause(clock, checkIntervalMs, signal);
  }
}

/** Migrates resources to the storage version, so that older versions can be removed from the definition. Never rejects. */
export async function migrateResources(
  options: Omit<CleanupOptions, 'onKindsGone'>,
  signal: AbortSignal,
): Promise<void> {
  const { definition, cluster, clock, logger } = options;
  if (!definesCrd(definition)) return;
  await retryUntilDone(() => migrateStored({ ...options, definition }, signal), {
    clock,
    cluster,
    logger,
    signal,
    delays: retryDelays,
    message: 'Resources cannot be migrated to the new storage version, will retry',
  });
}
