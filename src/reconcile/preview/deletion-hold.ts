import type { DeletionGuard, DoomedObject } from '../deletion-guard.ts';
import { approveDeletionsAnnotation } from '../names.ts';

export interface DeletionHoldOptions {
  /** The revision that is being rolled out. */
  readonly revision: string;
  /** If more objects than this would go, none does until that is approved. */
  readonly maxDeletions: number;
  /** The resources that a change of the definition may take something from: those that there are as it begins. */
  readonly keys: Iterable<string>;
  /** Called when `state` has changed by something that a pass has found. @default nobody is told */
  readonly onChange?: () => void;
  /** Called with each resource that was refused something and may have it now: somebody has to run it again. @default nobody is told */
  readonly onLetGo?: (key: string) => void;
}

/**
 * Keeps count of what one change of a definition deletes, and holds all of it while it is more than the definition allows: what previews
 * expect, and what passes come upon that no preview could know. So never more than `maxDeletions` objects go without approval, whatever
 * the previews have missed. What is deleted for other reasons (a resource that is edited after it has settled, or deleted) is none
 * of its business.
 */
export class DeletionHold implements DeletionGuard {
  readonly #options: DeletionHoldOptions;
  /** Resources that have not come to rest with the revision. */
  readonly #open: Set<string>;
  /** UIDs of what is to go, by resource. */
  readonly #expected = new Map<string, Set<string>>();
  /** UIDs of what has been let go. */
  readonly #spent = new Set<string>();
  /** Resources that were refused something. */
  readonly #refused = new Set<string>();
  #isKnown = false;
  #isApproved = false;

  constructor(options: DeletionHoldOptions) {
    this.#options = options;
    this.#open = new Set(options.keys);
  }

  /**
   * `unknown`: not all previews are there, nothing goes; `held`: too much would go, nothing does; `free`: what it deletes is within
   * bounds, or approved; `over`: every resource has come to rest with the revision, nobody needs to ask any more.
   */
  get state(): 'unknown' | 'held' | 'free' | 'over' {
    if (this.#open.size === 0) return 'over';
    if (this.#isApproved) return 'free';
    if (!this.#isKnown) return 'unknown';
    return this.deletions > this.#options.maxDeletions ? 'held' : 'free';
  }

  /** How many objects the change deletes, as far as it is known: those that are gone by it too. */
  get deletions(): number {
    let count = this.#spent.size;
    for (const uids of this.#expected.values()) count += uids.size;
    return count;
  }

  /** The resources that would lose something. */
  get losers(): readonly string[] {
    return [...this.#expected].flatMap(([key, { size }]) => (size === 0 ? [] : [key]));
  }

  /** What the newest preview of a resource says. */
  expect(key: string, objects: readonly DoomedObject[]): void {
    if (!this.#open.has(key)) return;
    const uids = objects.map(({ uid }) => uid).filter((uid) => !this.#spent.has(uid));
    if (uids.length === 0) this.#expected.delete(key);
    else this.#expected.set(key, new Set(uids));
  }

  /** All resources have been previewed: from here on it is known what the change deletes. */
  decide(): void {
    this.#isKnown = true;
    this.#letGo();
  }

  /** A user has approved the deletions of a revision; of any other than this one it does not count, nor does none. */
  approve(revision: string | undefined): void {
    this.#isApproved = revision === this.#options.revision;
    this.#letGo();
  }

  /** A resource is gone or being deleted: what goes with it is not the change's doing. */
  forget(key: string): void {
    this.#close(key);
    this.#letGo();
  }

  whyNot(key: string, objects: readonly DoomedObject[]): string | undefined {
    if (!this.#open.has(key)) return undefined;
    const before = this.state;
    const known = this.#expected.get(key) ?? new Set();
    for (const { uid } of objects) if (!this.#spent.has(uid)) known.add(uid);
    if (known.size > 0) this.#expected.set(key, known);
    const { state } = this;
    this.#refused.add(key);
    if (state !== before) this.#options.onChange?.();
    switch (state) {
      case 'unknown':
        return 'it stays until it is known how much the change of the definition deletes';
      case 'held':
        return `it stays until the deletions of revision "${this.#options.revision}" are approved (annotation ${approveDeletionsAnnotation} of the definition)`;
      case 'free':
      case 'over':
        this.#refused.delete(key);
        this.#spend(known, objects);
        return undefined;
    }
  }

  settled(key: string): void {
    if (!this.#open.has(key)) return;
    this.#close(key);
    this.#letGo();
    if (this.#open.size === 0) this.#options.onChange?.();
  }

  #close(key: string): void {
    this.#open.delete(key);
    this.#expected.delete(key);
    this.#refused.delete(key);
  }

  /** What was refused is asked for again, as soon as it may be had. */
  #letGo(): void {
    if (this.state === 'unknown' || this.state === 'held') return;
    const keys = [...this.#refused];
    this.#refused.clear();
    for (const key of keys) this.#options.onLetGo?.(key);
  }

  #spend(expected: Set<string>, objects: readonly DoomedObject[]): void {
    for (const { uid } of objects) {
      expected.delete(uid);
      this.#spent.add(uid);
    }
  }
}
