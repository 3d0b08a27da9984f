import { backoffMs } from '../../util/backoff.ts';

/** Why a resource does not run now, and when it may. */
export interface Rest {
  readonly afterMs: number;
  readonly reason: 'Unstable' | 'LimitReached';
}

/** What a pass has come to, as far as the pace of its resource is concerned. */
export interface PassEnd {
  /** Of the resource as the pass began. */
  readonly generation: number | undefined;
  readonly nowMs: number;
  /** What the pass used and is different now: it is followed by another one. Undefined: nothing. */
  readonly changed: ChangedPath | undefined;
  /** Did it change anything but the status? */
  readonly hasWritten: boolean;
  readonly hasWrittenStatus: boolean;
  /** Another pass follows anyway and reports on both: nothing can be said of follow-ups yet. */
  readonly isOvertaken: boolean;
  /** Has it used up `controller.limits`? */
  readonly isLimitExceeded: boolean;
}

export interface ChangedPath {
  /** For people. */
  readonly path: string;
  /** Did this pass write it? A busy Pod that is read may change in many passes without anything being wrong. */
  readonly isOurs: boolean;
}

/** When a resource runs next. */
export interface Next {
  /** Another pass is to follow at once. */
  readonly isFollowed: boolean;
  /** The queue is to wait instead of following its own rules. */
  readonly rest?: Rest;
}

const atRest: Next = { isFollowed: false };

/** When a path has changed in so many follow-ups in a row, the next ones are delayed. */
const followUpsInARow = 5;
/** The same whatever paths change and whatever else runs the resource meanwhile: two paths may take turns. */
const followUpsWithoutRest = 20;
const unstableBackoff = { baseDelayMs: 1_000, maxDelayMs: 300_000 };
/** More writing passes than that within the window, and the resource is slowed down (definition.md section 6). */
const writesAtMost = 20;
const windowMs = 60_000;
const longestRestMs = 10_000;
/** A busy child changes the status often without anything being wrong: such a resource is slowed down step by step. */
const statusBackoff = { baseDelayMs: 1_000, maxDelayMs: longestRestMs };
/** A reconcile beyond its limits costs as much as it may: it is not repeated for every event of a child. */
const limitBackoff = { baseDelayMs: 5_000, maxDelayMs: 300_000 };
/** In the condition `Ready`. The same for each try, or each would write a status. */
export const limitRestText = 'the next reconcile is after 5 s, later ones after up to 5 min';

/**
 * How often one resource may run. It is slowed down when its passes follow each other because of what they write themselves, when too
 * many of them write (what feeds itself through others, like two definitions that read each other, shows in nothing else), and when
 * they use up `controller.limits`. All times are monotonic.
 */
export class Pace {
  /** While a patch of the resource itself is under way: its answer is no event from outside. */
  isPatchingItself = false;
  #hasOutsideEvent = false;
  /** What changed in the last follow-up. */
  #path = '';
  /** How many follow-ups in a row had that path. */
  #inARow = 0;
  /** How many passes in a row called for another one, whatever path it was and whatever ran the resource meanwhile. */
  #withoutRest = 0;
  /** The resource's own generation when its writes were counted: an edit by the user is a new start. */
  #generation: number | undefined;
  /** When its last passes that wrote have ended; oldest first, at most {@link writesAtMost}. */
  #writes: readonly number[] = [];
  /** Writing passes since there were too many of them; 0: there are not. */
  #slowedPasses = 0;
  /** Before that no pass begins, whatever runs the resource. */
  #notBeforeMs = 0;
  /** Reconciles in a row that were beyond their limits, when the last one ended, and the resource's generation then. */
  #limited = 0;
  #limitedAtMs = 0;
  #limitedGeneration: number | undefined;

  /** An event that is not the answer to a write of its own pass runs the resource. */
  noteEvent(): void {
    if (!this.isPatchingItself) this.#hasOutsideEvent = true;
  }

  /** May a pass begin now? Undefined: it may. */
  whyNotRun(generation: number | undefined, nowMs: number): Rest | undefined {
    const restMs = this.#restMs(generation, nowMs);
    if (restMs > 0) return { afterMs: restMs, reason: 'Unstable' };
    const limitMs = this.limitRestMs(generation, nowMs);
    return limitMs > 0 ? { afterMs: limitMs, reason: 'LimitReached' } : undefined;
  }

  /** A pass begins: an event from outside makes a new start. */
  begin(): void {
    if (this.#hasOutsideEvent) this.#inARow = 0;
    this.#hasOutsideEvent = false;
  }

  /** A pass has patched the resource itself: the one that follows is of our own making, also to what counts edits of the user. */
  noteOwnEdit(generation: number | undefined): void {
    this.#generation = generation;
  }

  /** A pass has ended. */
  end(end: PassEnd): Next {
    const { changed, generation, nowMs } = end;
    this.#countLimit(end);
    if (end.isOvertaken) {
      if (end.hasWritten) this.#countWrites(end);
      return atRest;
    }
    const wasUnstable = this.#isUnstable;
    this.#countFollowUp(changed);
    const wasSlowed = this.#slowedPasses > 0;
    const isSlowed = this.#countWrites(end);
    // What has come to rest after all still reports `Unstable`: one more pass takes that back.
    const isOver = (wasSlowed && !isSlowed) || (wasUnstable && changed === undefined);
    const isHeld = this.#isUnstable || isSlowed;
    const isFollowed = isOver || (changed !== undefined && !isHeld);
    if (changed !== undefined && this.#isUnstable) {
      const afterMs = this.#unstableDelayMs;
      // It rests a little, though events from outside run it.
      this.#notBeforeMs = nowMs + Math.min(afterMs, longestRestMs);
      return { isFollowed, rest: { afterMs, reason: 'Unstable' } };
    }
    if (!isSlowed) return isFollowed ? { isFollowed } : atRest;
    return { isFollowed, rest: { afterMs: this.#restMs(generation, nowMs), reason: 'Unstable' } };
  }

  /** Why the resource does not come to rest, for people; undefined: it does. */
  get unrest(): string | undefined {
    if (this.#isUnstable) return `${this.#path} changes again each time the resource has run`;
    return this.#slowedPasses > 0 ? tooManyWrites : undefined;
  }

  /** How long the resource rests after a reconcile beyond its limits, in ms. An edit shortens it, and does not end it: edits are cheap to make. */
  limitRestMs(generation: number | undefined, nowMs: number): number {
    if (this.#limited === 0) return 0;
    const isSame = this.#limitedGeneration === generation;
    const restMs = isSame ? backoffMs(this.#limited - 1, limitBackoff) : limitBackoff.baseDelayMs;
    return Math.max(0, this.#limitedAtMs + restMs - nowMs);
  }

  #restMs(generation: number | undefined, nowMs: number): number {
    if (this.#generation !== generation) {
      this.#forgetWrites();
      this.#generation = generation;
    }
    return Math.max(0, this.#notBeforeMs - nowMs);
  }

  /** Does the resource run again and again because of what it writes itself? The first change is not a follow-up's yet. */
  get #isUnstable(): boolean {
    return this.#inARow > followUpsInARow || this.#withoutRest > followUpsWithoutRest;
  }

  get #unstableDelayMs(): number {
    const times = Math.max(
      this.#inARow - followUpsInARow,
      this.#withoutRest - followUpsWithoutRest,
      1,
    );
    return backoffMs(times - 1, unstableBackoff);
  }

  #countLimit({ isLimitExceeded, generation, nowMs }: PassEnd): void {
    if (!isLimitExceeded) {
      this.#limited = 0;
      return;
    }
    this.#limited = this.#limitedGeneration === generation ? this.#limited + 1 : 1;
    this.#limitedGeneration = generation;
    this.#limitedAtMs = nowMs;
  }

  #countFollowUp(changed: ChangedPath | undefined): void {
    if (changed === undefined) {
      this.#inARow = 0;
      this.#withoutRest = 0;
    } else {
      this.#inARow = changed.path === this.#path ? this.#inARow + 1 : 1;
      if (changed.isOurs) this.#withoutRest += 1;
    }
    this.#path = changed?.path ?? '';
  }

  /** The safety net: a pass that wrote counts, and when too many did, the next one has to wait; until one writes nothing. */
  #countWrites({ hasWritten, hasWrittenStatus, nowMs }: PassEnd): boolean {
    if (!hasWritten && !hasWrittenStatus) {
      if (this.#slowedPasses > 0) this.#forgetWrites();
      return false;
    }
    this.#writes = [...this.#writes, nowMs]
      .filter((atMs) => nowMs - atMs <= windowMs)
      .slice(-writesAtMost);
    if (this.#writes.length < writesAtMost && this.#slowedPasses === 0) return false;
    this.#slowedPasses += 1;
    const restMs = hasWritten ? longestRestMs : backoffMs(this.#slowedPasses - 1, statusBackoff);
    this.#notBeforeMs = nowMs + restMs;
    return true;
  }

  #forgetWrites(): void {
    this.#writes = [];
    this.#slowedPasses = 0;
    this.#notBeforeMs = 0;
  }
}

const tooManyWrites = `Its children or status were written in ${writesAtMost} passes within ${windowMs / 1_000} s though nothing of its own has changed`;
