import type { ObjectRef } from '../kube/roles.ts';

/** An object of ours that nobody wants any more. */
export interface DoomedObject {
  readonly ref: ObjectRef;
  readonly uid: string;
  readonly childId: string;
}

/**
 * Says whether objects may go that the definition does not want any more, while it has been changed (`rollout.maxDeletions`). Not asked
 * about what goes because its resource is being deleted. CONTRACT between reconcile and runtime.
 */
export interface DeletionGuard {
  /**
   * Asked by every pass that has found such objects, for all of them at once. Synchronous and cheap.
   * @param objects What would be deleted; what would only be released (`deletionPolicy: Orphan`) is not among it, and stays too.
   * @returns why they stay, for people: stable text that goes on after "Not wanted; "; undefined: they may go.
   */
  whyNot(key: string, objects: readonly DoomedObject[]): string | undefined;
  /** A pass has found all that the definition wants of the resource, and nothing that it does not want is left but what is on its way out. */
  settled(key: string): void;
}
