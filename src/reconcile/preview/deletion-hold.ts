import type { DeletionGuard, PruneCandidate } from '../deletion-guard.ts';
import { approveDeletionsAnnotation } from '../names.ts';

interface DeletionHoldOptions {
  /** The revision of the rollout. */
  readonly revision: string;
  /** If the change deletes more objects, none is deleted without approval. */
  readonly maxDeletions: number;
  /** The resources that the change may affect: all at its start. */
  readonly keys: Iterable<string>;
  /** Called when a pass changes `state`. @default not called */
  readonly onChange?: () => void;
  /** Called with each blocked resource whose deletions are now allowed: it must be enqueued. @default not called */
  readonly onAllowed?: (key: string) => void;
}

/**
 * Counts the deletions of one change of a definition, and blocks them all while they exceed the limit of the definition. It counts
 * the deletions of previews, and those that passes find. So at most `maxDeletions` objects are deleted without approval, even if
 * previews are incomplete. Other deletions are not counted, such as those of a resource that is edited later, or deleted.
 */
export class DeletionHold implements DeletionGuard {
  readonly #options: DeletionHoldOptions;
  /** Resources that have not converged to the revision. */
  readonly #open: Set<string>;
  /** UIDs of the objects to delete, by resource. */
  readonly #expected = new Map<string, Set<string>>();
  /** UIDs of the objects whose deletion was allowed. */
  readonly #allowed = new Set<string>();
  /** Resources with blocked deletions. */
  readonly #blocked = new Set<string>();
  #isKnown = false;
  #isApproved = false;

  constructor(options: DeletionHoldOptions) {
    this.#options = options;
    this.#open = new Set(options.keys);
  }

  /**
   * `unknown`: previews are incomplete, nothing is deleted. `held`: beyond the limit, nothing is deleted. `free`: within the limit, or
   * approved. `over`: every resource has converged to the revision, the hold is no longer needed.
   */
  get state(): 'unknown' | 'held' | 'free' | 'over' {
    if (this.#open.size === 0) return 'over';
    if (this.#isApproved) return 'free';
    if (!this.#isKnown) return 'unknown';
    return this.deletions > this.#options.maxDeletions ? 'held' : 'free';
  }

  /** Number of deletions of the change so far, including completed ones. */
  get deletions(): number {
    let count = this.#allowed.size;
    for (const uids of this.#expected.values()) count += uids.size;
    return count;
  }

  /** The resources that would lose objects. */
  get affected(): readonly string[] {
    return [...this.#expected].flatMap(([key, { size }]) => (size === 0 ? [] : [key]));
  }

  /** Sets the deletions of the newest preview of a resource. */
  expect(key: string, objects: readonly PruneCandidate[]): void {
    if (!this.#open.has(key)) return;
    const uids = objects.map(({ uid }) => uid).filter((uid) => !this.#allowed.has(uid));
    if (uids.length === 0) this.#expected.delete(key);
    else this.#expected.set(key, new Set(uids));
  }

  /** Called when all resources have been previewed: the number of deletions is known from here on. */
  decide(): void {
    this.#isKnown = true;
    this.#releaseBlocked();
  }

  /** Sets the approved revision; only an approval of this revision counts. */
  approve(revision: string | undefined): void {
    this.#isApproved = revision === this.#options.revision;
    this.#releaseBlocked();
  }

  /** Removes a resource that is deleted or being deleted: the change does not cause its deletions. */
  forget(key: string): void {
    this.#close(key);
    this.#releaseBlocked();
  }

  blockingReason(key: string, objects: readonly PruneCandidate[]): string | undefined {
    if (!this.#open.has(key)) return undefined;
    const before = this.state;
    const known = this.#expected.get(key) ?? new Set();
    for (const { uid } of objects) if (!this.#allowed.has(uid)) known.add(uid);
    if (known.size > 0) this.#expected.set(key, known);
    const { state } = this;
    this.#blocked.add(key);
    if (state !== before) this.#options.onChange?.();
    switch (state) {
      case 'unknown':
        return 'kept until the deletions of the changed definition are counted';
      case 'held':
        return `kept until the deletions of revision "${this.#options.revision}" are approved: annotate the definition with ${approveDeletionsAnnotation}="${this.#options.revision}"`;
      case 'free':
      case 'over':
        this.#blocked.delete(key);
        this.#allow(known, objects);
        return undefined;
    }
  }

  onConverged(key: string): void {
    if (!this.#open.has(key)) return;
    this.#close(key);
    this.#releaseBlocked();
    if (this.#open.size === 0) this.#options.onChange?.();
  }

  #close(key: string): void {
    this.#open.delete(key);
    this.#expected.delete(key);
    this.#blocked.delete(key);
  }

  /** Enqueues blocked resources once deletions are allowed. */
  #releaseBlocked(): void {
    if (this.state === 'unknown' || this.state === 'held') return;
    const keys = [...this.#blocked];
    this.#blocked.clear();
    for (const key of keys) this.#options.onAllowed?.(key);
  }

  #allow(expected: Set<string>, objects: readonly PruneCandidate[]): void {
    for (const { uid } of objects) {
      expected.delete(uid);
      this.#allowed.add(uid);
    }
  }
}
