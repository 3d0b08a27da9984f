import type { Clock } from '#util/clock.ts';
import { TokenBucket } from '#util/token-bucket.ts';
import type { PassResult } from './pass-result.ts';

export interface RolloutPacerOptions {
  /** In roll-out order. */
  readonly keys: readonly string[];
  /** False: the resource has the newer revision already (edited), or is deleted. */
  readonly isPending: (key: string) => boolean;
  /** Assigns the newer revision. Returns whether the resource failed with the older one. */
  readonly reach: (key: string) => boolean;
  /** Resources per second; 0: no limit. */
  readonly perSecond: number;
  /** Number of new failures that stops the roll-out. */
  readonly stopAfterFailures: number;
  /** Failing resources and state from an earlier process. @default none */
  readonly resumed?: { readonly failing: readonly string[]; readonly isStopped: boolean };
  readonly clock: Clock;
  readonly onStopped: () => void;
  /** The failures that stopped it are resolved. */
  readonly onResumed: () => void;
  /** Every resource has completed a pass with the newer revision. */
  readonly onDone: () => void;
}

/** Number of transient errors in a row that count as a failure. */
const maxTransient = 5;
/** Limits the burst after a late timer. */
const burstMs = 100;

/**
 * Rolls out to one resource after the other. At most `stopAfterFailures` resources are in progress or failing, so a bad revision affects no
 * more. A stopped roll-out resumes when none of them fails.
 */
export class RolloutPacer {
  readonly #options: RolloutPacerOptions;
  #next = 0;
  /** Resources whose pass with the newer revision is pending. Value: failed before. */
  readonly #inProgress = new Map<string, boolean>();
  readonly #failing: Set<string>;
  /** Transient errors in a row, by key. */
  readonly #transientCounts = new Map<string, number>();
  #isStopped: boolean;
  #isHeld = true;
  #isStoppedForGood = false;
  /** Undefined: no limit. */
  #rate: TokenBucket | undefined;
  #cancelTimer: (() => void) | undefined;

  constructor(options: RolloutPacerOptions) {
    const { resumed } = options;
    this.#options = options;
    this.#failing = new Set(resumed?.failing);
    this.#isStopped = resumed?.isStopped === true && this.#failing.size > 0;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Resources that fail with the newer revision. */
  get failing(): ReadonlySet<string> {
    return this.#failing;
  }

  /** Whether {@link passEnded} needs the results of this resource. */
  watches(key: string): boolean {
    return this.#inProgress.has(key) || this.#failing.has(key);
  }

  /** Starts, or resumes after {@link hold}. */
  start(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    // Nothing is earned while it is held.
    this.#rate = rateOf(this.#options);
    this.#updateStopped();
    this.#advance();
  }

  /** Pauses until {@link start}. */
  hold(): void {
    this.#isHeld = true;
  }

  /** Call after a pass of a watched resource. */
  passEnded(key: string, result: PassResult): void {
    if (result === 'blocked' || this.#isStoppedForGood) return;
    if (result === 'transient' && this.#countTransient(key)) return;
    this.#transientCounts.delete(key);
    const failedBefore = this.#inProgress.get(key) ?? false;
    this.#inProgress.delete(key);
    if (result === 'succeeded') this.#failing.delete(key);
    else if (!failedBefore) this.#failing.add(key);
    this.#updateStopped();
    this.#advance();
  }

  #countTransient(key: string): boolean {
    const times = (this.#transientCounts.get(key) ?? 0) + 1;
    this.#transientCounts.set(key, times);
    return times < maxTransient;
  }

  /** Stops permanently. */
  stop(): void {
    this.#isStoppedForGood = true;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  #updateStopped(): void {
    const { stopAfterFailures, onStopped, onResumed } = this.#options;
    if (!this.#isStopped && this.#failing.size >= stopAfterFailures && this.#hasNext()) {
      this.#isStopped = true;
      onStopped();
    } else if (this.#isStopped && this.#failing.size === 0) {
      this.#isStopped = false;
      onResumed();
    }
  }

  #advance(): void {
    if (this.#isStoppedForGood || this.#isHeld) return;
    if (!this.#hasNext() && this.#inProgress.size === 0) {
      this.stop();
      this.#options.onDone();
      return;
    }
    while (!this.#isStopped && this.#hasRoom() && this.#hasNext()) {
      const delayMs = this.#rate?.delayMs ?? 0;
      if (delayMs > 0) {
        this.#advanceLater(delayMs);
        return;
      }
      this.#rate?.take();
      this.#reachNext();
    }
  }

  #hasRoom(): boolean {
    return this.#inProgress.size + this.#failing.size < this.#options.stopAfterFailures;
  }

  /** Skips resources that are not pending. */
  #hasNext(): boolean {
    const { keys, isPending } = this.#options;
    for (; this.#next < keys.length; this.#next++) {
      const key = keys[this.#next];
      if (key !== undefined && isPending(key)) return true;
    }
    return false;
  }

  #reachNext(): void {
    const key = this.#options.keys[this.#next++];
    if (key === undefined) return;
    this.#inProgress.set(key, this.#options.reach(key));
  }

  #advanceLater(delayMs: number): void {
    this.#cancelTimer ??= this.#options.clock.after(delayMs, () => {
      this.#cancelTimer = undefined;
      this.#advance();
    });
  }
}

function rateOf({ clock, perSecond }: RolloutPacerOptions): TokenBucket | undefined {
  if (perSecond === 0) return undefined;
  const burst = Math.max(1, (perSecond * burstMs) / 1_000);
  return new TokenBucket({ clock, burst, refillMs: 1_000 / perSecond, initial: 1 });
}
