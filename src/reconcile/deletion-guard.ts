import type { ObjectRef } from '../kube/roles.ts';

/** An object of the resource that is no longer desired. */
export interface PruneCandidate {
  readonly ref: ObjectRef;
  readonly uid: string;
  readonly childId: string;
  /** Its deletion loses data: it needs approval, whatever `maxDeletions` is. The title of the object for people. @default undefined: it holds none */
  readonly dataTitle?: string;
}

/**
 * Decides whether a pass may delete objects that a changed definition no longer desires (`rollout.maxDeletions`). Deletions of a resource
 * itself are not subject to it. Contract between reconcile and runtime.
 */
export interface DeletionGuard {
  /**
   * Called by every pass that has found such objects, with all of them; before that for each object that holds data and is to be recreated.
   * Synchronous and cheap.
   * @param objects What would be deleted. Objects that would only be released (`deletionPolicy: Orphan`) are not included, and are kept too.
   * @returns why they are kept, for people: stable text that follows "No longer desired; ". Undefined: they may be deleted.
   */
  blockingReason(key: string, objects: readonly PruneCandidate[]): string | undefined;
  /** All objects that the definition desires exist, and all others are deleted or terminating. */
  onConverged(key: string): void;
}
