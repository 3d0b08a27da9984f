import { deletionLimitOf, type OperatorPlan } from '#compile';
import { approveDeletionsAnnotation } from '#util/stored-names.ts';
import type { DeletionGuard } from '../deletion-guard.ts';
import type { PruneCandidate } from '../prune-candidate.ts';

interface DeletionHoldOptions {
  /** The revision of the rollout. */
  readonly revision: string;
  /** If the change deletes more objects, or one that holds data, none is deleted without approval. */
  readonly maxDeletions: number;
  /** The resources that the change may affect: all at its start. */
  readonly keys: Iterable<string>;
  /** Called when a pass changes `state`. @default not called */
  readonly onChange?: () => void;
  /** Called with each blocked resource whose deletions are now allowed: it must be enqueued. @default not called */
  readonly onAllowed?: (key: string) => void;
}

interface HeldChangeOptions extends Pick<DeletionHoldOptions, 'onAllowed'> {
  /** The changed definition. */
  readonly plan: OperatorPlan;
  /** Its only resource. */
  readonly key: string;
}

/** The hold of a change of a definition with one resource, whose deletions are those that its passes find: there is no preview. */
export function holdChange({ plan, key, ...options }: HeldChangeOptions): DeletionHold {
  const maxDeletions = deletionLimitOf(plan.definition);
  const hold = new DeletionHold({ ...options, revision: plan.revision, maxDeletions, keys: [key] });
  hold.decide();
  return hold;
}

/**
 * Counts the deletions of one change of a definition, and blocks them all while they exceed the limit of the definition, or while an object
 * that holds data is among them. It counts the deletions of previews, and those that passes find. So at most `maxDeletions` objects, and
 * none that holds data, are deleted without approval, even if previews are incomplete. Other deletions are not counted, such as those of a resource that is edited later, or deleted.
 */
export class DeletionHold implements DeletionGuard {
  readonly #options: DeletionHoldOptions;
  /** Resources that have not converged to the revision. */
  readonly #open: Set<string>;
  /** By resource, the objects to delete by UID; the value is the title of one that holds data. */
  readonly #expected = new Map<string, Map<string, string | undefined>>();
  /** Resources that would lose data. */
  readonly #losingData = new Set<string>();
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
   * `unknown`: previews are incomplete, nothing is deleted. `held`: beyond the limit or with a loss of data, nothing is
   * deleted. `free`: within the limit, or approved. `over`: every resource has converged to the revision, the hold is no longer needed.
   */
  get state(): 'unknown' | 'held' | 'free' | 'over' {
    if (this.#open.size === 0) return 'over';
    if (this.#isApproved) return 'free';
    if (!this.#isKnown) return 'unknown';
    const isLimited = this.#losingData.size > 0 || this.deletions > this.#options.maxDeletions;
    return isLimited ? 'held' : 'free';
  }

  /** Number of deletions of the change so far, including completed ones. */
  get deletions(): number {
    let count = this.#allowed.size;
    for (const objects of this.#expected.values()) count += objects.size;
    return count;
  }

  /** Titles of the objects that hold data and are not deleted yet, sorted. */
  get dataObjects(): readonly string[] {
    const titles = [...this.#losingData].flatMap((key) => [
      ...(this.#expected.get(key)?.values() ?? []),
    ]);
    return titles.filter((title) => title !== undefined).sort();
  }

  /** The resources that would lose objects. */
  get affected(): readonly string[] {
    return [...this.#expected].flatMap(([key, { size }]) => (size === 0 ? [] : [key]));
  }

  /** Sets the deletions of the newest preview of a resource. */
  expect(key: string, objects: readonly PruneCandidate[]): void {
    if (!this.#open.has(key)) return;
    this.#set(key, new Map(), objects);
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
    this.#set(key, this.#expected.get(key) ?? new Map(), objects);
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
        this.#allow(key, objects);
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
    this.#losingData.delete(key);
    this.#blocked.delete(key);
  }

  /** Enqueues blocked resources once deletions are allowed. */
  #releaseBlocked(): void {
    if (this.state === 'unknown' || this.state === 'held') return;
    const keys = [...this.#blocked];
    this.#blocked.clear();
    for (const key of keys) this.#options.onAllowed?.(key);
  }

  #allow(key: string, objects: readonly PruneCandidate[]): void {
    const expected = this.#expected.get(key) ?? new Map<string, string | undefined>();
    for (const { uid } of objects) {
      expected.delete(uid);
      this.#allowed.add(uid);
    }
    this.#set(key, expected, []);
  }

  /** Adds the objects of a resource that are not deleted yet to the known ones. */
  #set(
    key: string,
    known: Map<string, string | undefined>,
    objects: readonly PruneCandidate[],
  ): void {
    for (const { uid, dataTitle } of objects)
      if (!this.#allowed.has(uid)) known.set(uid, dataTitle);
    if (known.size === 0) this.#expected.delete(key);
    else this.#expected.set(key, known);
    const losesData = [...known.values()].some((title) => title !== undefined);
    if (losesData) this.#losingData.add(key);
    else this.#losingData.delete(key);
  }
}
