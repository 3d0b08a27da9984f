import { backoffMs } from '#util/backoff.ts';
import type { Clock } from '#util/clock.ts';
import { isSharedByMany } from '../watch/resource-queue.ts';

/** Delays between repeated requests for one cause. */
const delays = { baseDelayMs: 1_000, maxDelayMs: 60_000 };
/** With many causes, each is repeated more rarely: at most one request a second for all of them. */
const msPerCause = 1_000;

interface Cause {
  readonly keys: Set<string>;
  /** Repeated requests so far. */
  attempts: number;
  /** The resource that repeats its request. */
  trying: string | undefined;
  cancel: () => void;
}

/** Called for a resource that is to repeat its requests. `shared`: so are many others. */
export type OnRepeat = (key: string, shared: boolean) => void;

/**
 * Causes of rejections of which no watch and no review shows the end. Of all resources that fail for one cause, one repeats its request
 * after growing delays, another one each time. When it no longer fails for the cause, all others repeat theirs.
 */
export class UnseenCauses {
  readonly #clock: Clock;
  readonly #onRepeat: OnRepeat;
  readonly #causes = new Map<string, Cause>();

  constructor(clock: Clock, onRepeat: OnRepeat) {
    this.#clock = clock;
    this.#onRepeat = onRepeat;
  }

  /** The number of resources that fail for a cause. */
  sharersOf(cause: string): number {
    return this.#causes.get(cause)?.keys.size ?? 0;
  }

  /** Replaces the causes for which the requests of a resource fail, after they were sent. */
  retain(key: string, causes: readonly string[]): void {
    if (causes.length === 0 && this.#causes.size === 0) return;
    const current = new Set(causes);
    for (const [name, cause] of this.#causes) {
      if (current.has(name) || !cause.keys.has(key)) continue;
      const isOver = cause.trying === key;
      this.#leave(name, cause, key);
      if (isOver) this.#end(name, cause);
    }
    for (const name of current) this.#join(name, key);
  }

  /** Removes a resource whose requests were not repeated. */
  forget(key: string): void {
    for (const [name, cause] of this.#causes) this.#leave(name, cause, key);
  }

  stop(): void {
    for (const { cancel } of this.#causes.values()) cancel();
    this.#causes.clear();
  }

  #join(name: string, key: string): void {
    const known = this.#causes.get(name);
    if (known !== undefined) {
      if (known.trying === key) known.trying = undefined;
      known.keys.add(key);
      return;
    }
    const cause: Cause = { keys: new Set([key]), attempts: 0, trying: undefined, cancel: noop };
    this.#causes.set(name, cause);
    this.#schedule(cause);
  }

  #leave(name: string, cause: Cause, key: string): void {
    if (!cause.keys.delete(key) || cause.keys.size > 0) return;
    cause.cancel();
    this.#causes.delete(name);
  }

  #schedule(cause: Cause): void {
    const afterMs = Math.max(backoffMs(cause.attempts, delays), this.#causes.size * msPerCause);
    cause.attempts += 1;
    cause.cancel = this.#clock.after(afterMs, () => this.#repeat(cause));
  }

  /** The first resource repeats its request, and is the last one then: its own rejection may have another cause. */
  #repeat(cause: Cause): void {
    const [key] = cause.keys;
    if (key === undefined) return;
    cause.keys.delete(key);
    cause.keys.add(key);
    cause.trying = key;
    // Not after its answer: the resource may be paused, or its reconcile may end otherwise.
    this.#schedule(cause);
    this.#onRepeat(key, false);
  }

  #end(name: string, cause: Cause): void {
    cause.cancel();
    this.#causes.delete(name);
    for (const key of cause.keys) this.#onRepeat(key, isSharedByMany(cause.keys));
  }
}

function noop(): void {}
