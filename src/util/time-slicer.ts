/** CPU time before the event loop gets its turn, in ms. */
const sliceMs = 20;
/** Shorter slices are measured by the clock: reading the CPU time costs too much. */
const exactFromMs = 5;

/**
 * Shares the thread between CPU-bound owners. One piece of work runs at a time. After 20 ms the event loop gets its
 * turn, then the next owner, round-robin regardless of how much work each owner has.
 */
export interface TimeSlicer {
  /**
   * Starts a piece of work. Undefined: start at once. Otherwise start when the promise resolves. End it with {@link
   * TimeSlicer.release}.
   */
  acquire(owner: string): Promise<void> | undefined;
  /** Ends or interrupts a piece of work. Returns its CPU time since `acquire`, in ms. */
  release(): number;
  /** Whether the current slice is used up. */
  isExpired(): boolean;
  /** Yields to the event loop and other owners, for work without {@link TimeSlicer.acquire}. */
  yield(owner: string): Promise<void>;
}

interface FairTimeSlicerOptions {
  /** Calls back after the event loop has polled I/O and timers (`setImmediate`). */
  readonly defer: (callback: () => void) => void;
  /** Monotonic. @default the clock */
  readonly nowMs?: () => number;
  /** CPU time of this thread. @default the clock */
  readonly workedMs?: () => number;
}

/** Never waits: for tests, and for tools that evaluate one definition and exit. */
export const unlimitedTimeSlicer: TimeSlicer = {
  acquire: () => undefined,
  release: () => 0,
  isExpired: () => false,
  yield: () => Promise.resolve(),
};

/** A waiting piece of work. */
interface Waiting {
  readonly begin: () => void;
  /** Whether it acquires the thread until its release. */
  readonly acquires: boolean;
}

/** The {@link TimeSlicer} of a process. */
export class FairTimeSlicer implements TimeSlicer {
  readonly #defer: (callback: () => void) => void;
  readonly #nowMs: () => number;
  readonly #workedMs: () => number;
  /** Waiting work by owner. The next owner comes first. */
  readonly #waiting = new Map<string, Waiting[]>();
  #isAcquired = false;
  #acquiredAtMs = 0;
  /** Start of work in this turn of the event loop, by the clock and in CPU time. Undefined: none. */
  #turn: { readonly atMs: number; readonly workedMs: number } | undefined;
  #isDeferred = false;

  constructor({ defer, nowMs = () => performance.now(), workedMs }: FairTimeSlicerOptions) {
    this.#defer = defer;
    this.#nowMs = nowMs;
    this.#workedMs = workedMs ?? nowMs;
  }

  acquire(owner: string): Promise<void> | undefined {
    const nowMs = this.#nowMs();
    if (this.#isAcquired || this.#waiting.size > 0 || this.#hasPassed(nowMs)) {
      return this.#wait(owner, true);
    }
    this.#isAcquired = true;
    this.#acquiredAtMs = nowMs;
    return undefined;
  }

  release(): number {
    const nowMs = this.#nowMs();
    this.#isAcquired = false;
    if (this.#waiting.size > 0 && !this.#hasPassed(nowMs)) this.#beginNext();
    return this.#workedSince(this.#acquiredAtMs, nowMs);
  }

  isExpired(): boolean {
    return this.#hasPassed(this.#nowMs());
  }

  yield(owner: string): Promise<void> {
    return this.#wait(owner, false);
  }

  #wait(owner: string, acquires: boolean): Promise<void> {
    this.#deferOnce();
    return new Promise((begin) => {
      const waiting = this.#waiting.get(owner);
      if (waiting === undefined) this.#waiting.set(owner, [{ begin, acquires }]);
      else waiting.push({ begin, acquires });
    });
  }

  #hasPassed(nowMs: number): boolean {
    if (this.#turn !== undefined) return nowMs - this.#turn.atMs > sliceMs;
    this.#turn = { atMs: nowMs, workedMs: this.#workedMs() };
    this.#deferOnce();
    return false;
  }

  #deferOnce(): void {
    if (this.#isDeferred) return;
    this.#isDeferred = true;
    this.#defer(() => {
      this.#isDeferred = false;
      this.#turn = undefined;
      if (!this.#isAcquired) this.#beginNext();
      if (this.#waiting.size > 0) this.#deferOnce();
    });
  }

  /** Starts one waiting piece of work of the next owner. */
  #beginNext(): void {
    const [next] = this.#waiting;
    if (next === undefined) return;
    const [owner, [first, ...others]] = next;
    // Requeue the owner behind all others.
    this.#waiting.delete(owner);
    if (others.length > 0) this.#waiting.set(owner, others);
    this.#isAcquired = first?.acquires === true;
    this.#acquiredAtMs = this.#nowMs();
    this.#hasPassed(this.#acquiredAtMs);
    first?.begin();
  }

  /** Excludes time in which the CPU ran other processes. */
  #workedSince(startMs: number, nowMs: number): number {
    const byClockMs = nowMs - startMs;
    if (byClockMs < exactFromMs || this.#turn === undefined) return byClockMs;
    const { atMs, workedMs } = this.#turn;
    const share = (this.#workedMs() - workedMs) / Math.max(nowMs - atMs, byClockMs);
    return byClockMs * Math.min(1, share);
  }
}
