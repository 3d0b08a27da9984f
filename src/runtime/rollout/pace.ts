import type { Clock } from '../../util/clock.ts';

/**
 * What the first pass of a resource with the newer revision has shown. `open`: nothing, it was not let; `unclear`: it failed in a way
 * that goes by itself, and is tried again.
 */
export type Verdict = 'well' | 'failed' | 'open' | 'unclear';

export interface PaceOptions {
  /** In the order in which they are reached. */
  readonly keys: readonly string[];
  /** False: somebody else has reached it meanwhile (an edit), or it is gone. */
  readonly isPending: (key: string) => boolean;
  /** Reaches it: its next pass is one with the newer revision. Says whether it failed with the older one as well. */
  readonly reach: (key: string) => { readonly failedBefore: boolean };
  /** Per second; 0: as fast as passes end. */
  readonly perSecond: number;
  /** So many that fail, and did not before, stop it. */
  readonly stopAfterFailures: number;
  readonly clock: Clock;
  readonly onStopped: () => void;
  /** What it had stopped for is over. */
  readonly onResumed: () => void;
  /** All are reached, and each has been seen with the newer revision. */
  readonly onDone: () => void;
}

/** What does not become clear in so many passes has failed. */
const mostUnclear = 5;
/** Resources of half this time are reached together at most, so that a timer that fires late does not make a crowd. */
const burstMs = 100;

/**
 * Reaches one resource after the other. Never are more on their way or failing than may fail altogether: whatever the text does to all
 * of them, it does to no more than `stopAfterFailures`. Stopped, it goes on when none of those fails any more.
 */
export class Pace {
  readonly #options: PaceOptions;
  #next = 0;
  /** Reached, and not yet seen with the newer revision. The value: did it fail before? */
  readonly #onTheWay = new Map<string, boolean>();
  readonly #failing = new Set<string>();
  /** How often the passes of those on the way have not been clear. */
  readonly #unclear = new Map<string, number>();
  #isStopped = false;
  #isHeld = true;
  #isOver = false;
  /** May be above 1 by what {@link burstMs} allows. */
  #tokens = 1;
  #countedAtMs: number;
  #cancelTimer: (() => void) | undefined;

  constructor(options: PaceOptions) {
    this.#options = options;
    this.#countedAtMs = options.clock.monotonicMs();
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Resources that it has stopped for, or may stop for. */
  get failing(): ReadonlySet<string> {
    return this.#failing;
  }

  /** Is it of interest how the passes of this resource end? */
  watches(key: string): boolean {
    return this.#onTheWay.has(key) || this.#failing.has(key);
  }

  /** Begins, or goes on after {@link hold}. */
  start(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#countedAtMs = this.#options.clock.monotonicMs();
    this.#go();
  }

  /** Reaches nothing until {@link start}. */
  hold(): void {
    this.#isHeld = true;
  }

  /** A pass of a resource that it {@link watches} has ended. */
  passEnded(key: string, verdict: Verdict): void {
    if (verdict === 'open' || this.#isOver) return;
    if (verdict === 'unclear' && this.#mayBecomeClear(key)) return;
    this.#unclear.delete(key);
    const failedBefore = this.#onTheWay.get(key) ?? false;
    this.#onTheWay.delete(key);
    if (verdict === 'well') this.#failing.delete(key);
    else if (!failedBefore) this.#failing.add(key);
    this.#judge();
    this.#go();
  }

  #mayBecomeClear(key: string): boolean {
    const times = (this.#unclear.get(key) ?? 0) + 1;
    this.#unclear.set(key, times);
    return times < mostUnclear;
  }

  /** Reaches nothing more. */
  end(): void {
    this.#isOver = true;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  #judge(): void {
    const { stopAfterFailures, onStopped, onResumed } = this.#options;
    if (!this.#isStopped && this.#failing.size >= stopAfterFailures && this.#hasNext()) {
      this.#isStopped = true;
      onStopped();
    } else if (this.#isStopped && this.#failing.size === 0) {
      this.#isStopped = false;
      onResumed();
    }
  }

  #go(): void {
    if (this.#isOver || this.#isHeld) return;
    if (!this.#hasNext() && this.#onTheWay.size === 0) {
      this.end();
      this.#options.onDone();
      return;
    }
    this.#refill();
    while (!this.#isStopped && this.#hasRoom() && this.#hasNext()) {
      if (this.#tokens < 1) {
        this.#goLater();
        return;
      }
      this.#tokens -= 1;
      this.#reachNext();
    }
  }

  #hasRoom(): boolean {
    return this.#onTheWay.size + this.#failing.size < this.#options.stopAfterFailures;
  }

  /** Passes over those that need not be reached any more. */
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
    const { failedBefore } = this.#options.reach(key);
    this.#onTheWay.set(key, failedBefore);
  }

  #refill(): void {
    const { clock, perSecond } = this.#options;
    const nowMs = clock.monotonicMs();
    const earned = ((nowMs - this.#countedAtMs) * perSecond) / 1_000;
    const most =
      perSecond === 0 ? Number.POSITIVE_INFINITY : Math.max(1, (perSecond * burstMs) / 1_000);
    this.#tokens = perSecond === 0 ? most : Math.min(most, this.#tokens + earned);
    this.#countedAtMs = nowMs;
  }

  #goLater(): void {
    if (this.#cancelTimer !== undefined) return;
    const { clock, perSecond } = this.#options;
    const delayMs = Math.max(1, Math.ceil(((1 - this.#tokens) * 1_000) / perSecond));
    this.#cancelTimer = clock.after(delayMs, () => {
      this.#cancelTimer = undefined;
      this.#go();
    });
  }
}
