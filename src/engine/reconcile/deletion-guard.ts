import type { Feature } from './pass/feature.ts';
import type { PruneCandidate } from './prune-candidate.ts';

/**
 * Decides whether a pass may delete objects that a changed definition no longer desires (`rollout.maxDeletions`). Deletions of a resource
 * itself are not subject to it. Contract between reconcile and runtime.
 */
export interface DeletionGuard {
  /**
   * Called once by every pass that has found such objects, with all of them; before that for each object that holds data and is to be
   * recreated. Synchronous and cheap.
   * @param objects What would be deleted. Objects that would only be released (`deletionPolicy: Orphan`) are not included, and are kept too.
   * @returns why they are kept, for people: stable text that follows "No longer desired; ". Undefined: they may be deleted.
   */
  blockingReason(key: string, objects: readonly PruneCandidate[]): string | undefined;
  /** All objects that the definition desires exist, and all others are deleted or terminating. */
  onConverged(key: string): void;
}

/** The guard as the passes of a definition ask it. A preview asks none: it shows what would be asked. */
export function guardFeature(guard: DeletionGuard): Feature {
  return {
    isUsed: true,
    mayPrune: ({ key }, all) => guard.blockingReason(key, all),
    converged: ({ key }) => guard.onConverged(key),
  };
}
