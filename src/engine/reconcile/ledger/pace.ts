import type { Outcome } from '#controller';
import { backoffMs } from '#util/backoff.ts';
import type { FollowUpCause } from '../watch/resource-queue.ts';
import type { Ledger } from './ledger.ts';

/** Why a resource does not run now, and for how long: the outcome of the reconcile that finds or causes it. */
export type Pause = Extract<Outcome, { readonly kind: 'requeue' | 'failed' }>;

/** The result of a pass, as the pace needs it. */
interface PassEnd {
  /** Of the resource as the pass began. */
  readonly generation: number | undefined;
  readonly nowMs: number;
  /** An input that has changed since: another pass follows. Undefined: none. */
  readonly changed: ChangedPath | undefined;
  /** Did it change anything but the status? */
  readonly hasWritten: boolean;
  readonly hasWrittenStatus: boolean;
  /** Another pass follows anyway and reports for both: this one does not count as a follow-up. */
  readonly isSuperseded: boolean;
  /** Did it exceed `controller.limits`? */
  readonly isLimitExceeded: boolean;
}

export interface ChangedPath {
  /** For people. */
  readonly path: string;
  /** Did this pass change it? A busy Pod that is read may change in many passes without a loop. */
  readonly isOurs: boolean;
}

/** When the resource runs next. */
interface NextRun {
  /** Another pass follows at once. @default undefined: none */
  readonly followUp?: FollowUpCause;
  /** The pause of the resource. @default the rules of the queue */
  readonly pause?: Pause;
}

const idle: NextRun = {};

/** Number of consecutive follow-ups with the same changed path before they are delayed. */
const maxFollowUpsOfPath = 5;
/** Number of consecutive follow-ups with any changed path, whatever else runs the resource: two paths may alternate. */
const maxFollowUps = 20;
const unstableBackoff = { baseDelayMs: 1_000, maxDelayMs: 300_000 };
/** Number of writing passes within the window before the resource is slowed down (docs/definition/controller.md#follow-up-reconciles). */
const maxWrites = 20;
const windowMs = 60_000;
const maxPauseMs = 10_000;
/** A busy child changes the status often without a loop: such a resource is slowed down gradually. */
const statusBackoff = { baseDelayMs: 1_000, maxDelayMs: maxPauseMs };
/** A reconcile beyond its limits is expensive: it is not repeated for every event of a child. */
const limitBackoff = { baseDelayMs: 5_000, maxDelayMs: 300_000 };
/** In the condition `Ready`. The same text for each retry, or each would write the status. */
export const limitBackoffText = 'retried after 5 s, then with delays of up to 5 min';

/**
 * Limits how often one resource runs. It is slowed down if its passes follow each other because of their own writes, if too many of them
 * write, or if they exceed `controller.limits`. Counting writes also finds loops through other definitions, as when two of them read each
 * other. All times are monotonic.
 */
export class ReconcilePace {
  /** The path that changed in the last follow-up. */
  #path = '';
  /** Number of consecutive follow-ups with that path. */
  #followUpsOfPath = 0;
  /** Number of consecutive passes that caused another one, with any path and whatever ran the resource. */
  #followUps = 0;
  /** The generation of the resource for which writes are counted: an edit by the user restarts the count. */
  #generation: number | undefined;
  /** When its last writing passes ended; oldest first, at most {@link maxWrites}. */
  #writes: readonly number[] = [];
  /** Number of writing passes since the limit was reached; 0: it is not. */
  #slowedPasses = 0;
  /** No pass starts before. */
  #notBeforeMs = 0;
  /** Number of consecutive reconciles beyond their limits, when the last one ended, and the generation of the resource then. */
  #limitedReconciles = 0;
  #limitedAtMs = 0;
  #limitedGeneration: number | undefined;

  constructor(generation: number | undefined) {
    this.#generation = generation;
  }

  /** The pause before the next pass. Undefined: it may start now. */
  pauseBefore(generation: number | undefined, nowMs: number): Pause | undefined {
    const pauseMs = this.#pauseMs(generation, nowMs);
    if (pauseMs > 0) return { kind: 'requeue', afterMs: pauseMs, reason: 'Unstable' };
    const limitMs = this.#limitPauseMs(generation, nowMs);
    if (limitMs === 0) return undefined;
    return { kind: 'requeue', afterMs: limitMs, reason: 'LimitReached' };
  }

  /** Is it as a new one would be? */
  isIdle(nowMs: number): boolean {
    const lastMs = this.#writes.at(-1) ?? Number.NEGATIVE_INFINITY;
    return (
      this.#followUpsOfPath + this.#followUps + this.#slowedPasses + this.#limitedReconciles ===
        0 && nowMs - lastMs > windowMs
    );
  }

  /** A pass starts after an event from outside, which restarts the count of follow-ups. */
  restart(): void {
    this.#followUpsOfPath = 0;
  }

  /** A pass has patched the resource itself: the new generation is not an edit by the user. */
  noteOwnEdit(generation: number | undefined): void {
    this.#generation = generation;
  }

  /** A pass has ended. */
  end(end: PassEnd): NextRun {
    const { changed, generation, nowMs } = end;
    this.#countLimit(end);
    if (end.isSuperseded) {
      if (end.hasWritten) this.#countWrites(end);
      return idle;
    }
    const wasUnstable = this.#isUnstable;
    this.#countFollowUp(changed);
    const wasSlowed = this.#slowedPasses > 0;
    const isSlowed = this.#countWrites(end);
    // A stable resource still reports `Unstable`: one more pass removes that.
    const isOver = (wasSlowed && !isSlowed) || (wasUnstable && changed === undefined);
    const isHeld = this.#isUnstable || isSlowed;
    const next = followUpOf(changed !== undefined && !isHeld, isOver);
    const isRepeating = changed !== undefined && this.#isUnstable;
    const unstableMs = isRepeating ? this.#unstableDelayMs : undefined;
    // A short pause, also for events from outside.
    if (unstableMs !== undefined) this.#notBeforeMs = nowMs + Math.min(unstableMs, maxPauseMs);
    if (end.isLimitExceeded) {
      const afterMs = this.#limitPauseMs(generation, nowMs);
      return { ...next, pause: { kind: 'failed', afterMs, reason: 'LimitReached' } };
    }
    if (unstableMs === undefined && !isSlowed) return next;
    const afterMs = unstableMs ?? this.#pauseMs(generation, nowMs);
    return { ...next, pause: { kind: 'requeue', afterMs, reason: 'Unstable' } };
  }

  /** Why the resource runs repeatedly, for people; undefined: it does not. */
  get instability(): string | undefined {
    if (this.#isUnstable)
      return `Every reconcile changes ${this.#path}, which triggers another reconcile`;
    return this.#slowedPasses > 0 ? tooManyWrites : undefined;
  }

  /** The pause after a reconcile beyond its limits, in ms. An edit shortens it but does not end it: edits are cheap. */
  #limitPauseMs(generation: number | undefined, nowMs: number): number {
    if (this.#limitedReconciles === 0) return 0;
    const isSame = this.#limitedGeneration === generation;
    const pauseMs = isSame
      ? backoffMs(this.#limitedReconciles - 1, limitBackoff)
      : limitBackoff.baseDelayMs;
    return Math.max(0, this.#limitedAtMs + pauseMs - nowMs);
  }

  #pauseMs(generation: number | undefined, nowMs: number): number {
    if (this.#generation !== generation) {
      this.#forgetWrites();
      this.#generation = generation;
    }
    return Math.max(0, this.#notBeforeMs - nowMs);
  }

  /** Does the resource run repeatedly because of its own writes? The first change is not yet a follow-up. */
  get #isUnstable(): boolean {
    return this.#followUpsOfPath > maxFollowUpsOfPath || this.#followUps > maxFollowUps;
  }

  get #unstableDelayMs(): number {
    const times = Math.max(
      this.#followUpsOfPath - maxFollowUpsOfPath,
      this.#followUps - maxFollowUps,
      1,
    );
    return backoffMs(times - 1, unstableBackoff);
  }

  #countLimit({ isLimitExceeded, generation, nowMs }: PassEnd): void {
    if (!isLimitExceeded) {
      this.#limitedReconciles = 0;
      return;
    }
    this.#limitedReconciles =
      this.#limitedGeneration === generation ? this.#limitedReconciles + 1 : 1;
    this.#limitedGeneration = generation;
    this.#limitedAtMs = nowMs;
  }

  #countFollowUp(changed: ChangedPath | undefined): void {
    if (changed === undefined) {
      this.#followUpsOfPath = 0;
      this.#followUps = 0;
    } else {
      this.#followUpsOfPath = changed.path === this.#path ? this.#followUpsOfPath + 1 : 1;
      if (changed.isOurs) this.#followUps += 1;
    }
    this.#path = changed?.path ?? '';
  }

  /** Counts passes that write. Beyond the limit, the next one is delayed, until a pass writes nothing. */
  #countWrites({ hasWritten, hasWrittenStatus, nowMs }: PassEnd): boolean {
    if (!hasWritten && !hasWrittenStatus) {
      if (this.#slowedPasses > 0) this.#forgetWrites();
      return false;
    }
    this.#writes = [...this.#writes, nowMs]
      .filter((atMs) => nowMs - atMs <= windowMs)
      .slice(-maxWrites);
    if (this.#writes.length < maxWrites && this.#slowedPasses === 0) return false;
    this.#slowedPasses += 1;
    const pauseMs = hasWritten ? maxPauseMs : backoffMs(this.#slowedPasses - 1, statusBackoff);
    this.#notBeforeMs = nowMs + pauseMs;
    return true;
  }

  #forgetWrites(): void {
    this.#writes = [];
    this.#slowedPasses = 0;
    this.#notBeforeMs = 0;
  }
}

function followUpOf(hasNewInput: boolean, isOver: boolean): NextRun {
  if (hasNewInput) return { followUp: 'input-changed' };
  return isOver ? { followUp: 'stable-again' } : idle;
}

/** A pass has ended. One that changed nothing, of a resource that has not run often, costs nothing. */
export function endOfPass(ledger: Ledger, end: PassEnd): NextRun {
  const { changed, hasWritten, hasWrittenStatus, isLimitExceeded, generation, nowMs } = end;
  const isQuiet = changed === undefined && !hasWritten && !hasWrittenStatus && !isLimitExceeded;
  if (isQuiet && ledger.pace === undefined) return idle;
  ledger.pace ??= new ReconcilePace(generation);
  const next = ledger.pace.end(end);
  if (isQuiet && ledger.pace.isIdle(nowMs)) ledger.pace = undefined;
  return next;
}

/** A pass has patched the resource itself: the new generation is not an edit by the user. */
export function noteOwnEdit(ledger: Ledger, generation: number | undefined): void {
  ledger.pace ??= new ReconcilePace(generation);
  ledger.pace.noteOwnEdit(generation);
}

const tooManyWrites = `${maxWrites} reconciles within ${windowMs / 1_000} s wrote its children or status although the resource did not change`;
