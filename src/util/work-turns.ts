/** How long work may go on before the event loop has its turn, in ms. */
const sliceMs = 20;
/** Shorter stretches of work are counted by the clock: to ask for the CPU time would cost more than it tells. */
const exactFromMs = 5;

/**
 * Shares the one thread between those who compute for long. Work is done by one at a time; after 20 ms the event loop has its turn,
 * and then the next owner, one after the other, however many pieces of work each of them has.
 */
export interface Turns {
  /** Begins a piece of work. Undefined: at once; else it may begin when the promise resolves. Ends with {@link Turns.leave}. */
  enter(owner: string): Promise<void> | undefined;
  /** Ends a piece of work, or interrupts it. Returns how long it has worked since it entered, in ms of CPU time. */
  leave(): number;
  /** Has so much been done since the event loop had its turn that it should have it again? */
  isOver(): boolean;
  /** Lets the event loop and the others have their turn, for work that is done without {@link Turns.enter}. */
  pause(owner: string): Promise<void>;
}

export interface WorkTurnsOptions {
  /** Calls back after the event loop has looked at sockets and timers (`setImmediate`). */
  readonly defer: (callback: () => void) => void;
  /** Monotonic. @default the clock */
  readonly nowMs?: () => number;
  /** CPU time of this thread. @default the clock */
  readonly workedMs?: () => number;
}

/** Nobody waits: for tests, and for tools that evaluate one definition and end. */
export const endlessTurns: Turns = {
  enter: () => undefined,
  leave: () => 0,
  isOver: () => false,
  pause: () => Promise.resolve(),
};

/** A piece of work that waits for its turn. */
interface Waiting {
  readonly begin: () => void;
  /** It enters, so nobody else does until it leaves. */
  readonly enters: boolean;
}

/** {@link Turns} of a process. */
export class WorkTurns implements Turns {
  readonly #defer: (callback: () => void) => void;
  readonly #nowMs: () => number;
  readonly #workedMs: () => number;
  /** By owner, the one whose turn comes next first. */
  readonly #waiting = new Map<string, Waiting[]>();
  #isTaken = false;
  #enteredAtMs = 0;
  /** When work began in this turn of the event loop, by the clock and in CPU time; undefined: none has. */
  #turn: { readonly atMs: number; readonly workedMs: number } | undefined;
  #isDeferred = false;

  constructor({ defer, nowMs = () => performance.now(), workedMs }: WorkTurnsOptions) {
    this.#defer = defer;
    this.#nowMs = nowMs;
    this.#workedMs = workedMs ?? nowMs;
  }

  enter(owner: string): Promise<void> | undefined {
    const nowMs = this.#nowMs();
    if (this.#isTaken || this.#waiting.size > 0 || this.#hasPassed(nowMs)) {
      return this.#wait(owner, true);
    }
    this.#isTaken = true;
    this.#enteredAtMs = nowMs;
    return undefined;
  }

  leave(): number {
    const nowMs = this.#nowMs();
    this.#isTaken = false;
    if (this.#waiting.size > 0 && !this.#hasPassed(nowMs)) this.#beginNext();
    return this.#workedSince(this.#enteredAtMs, nowMs);
  }

  isOver(): boolean {
    return this.#hasPassed(this.#nowMs());
  }

  pause(owner: string): Promise<void> {
    return this.#wait(owner, false);
  }

  #wait(owner: string, enters: boolean): Promise<void> {
    this.#deferOnce();
    return new Promise((begin) => {
      const waiting = this.#waiting.get(owner);
      if (waiting === undefined) this.#waiting.set(owner, [{ begin, enters }]);
      else waiting.push({ begin, enters });
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
      if (!this.#isTaken) this.#beginNext();
      if (this.#waiting.size > 0) this.#deferOnce();
    });
  }

  /** One at a time: what goes on runs until the event loop is due again, and only then the next one may. */
  #beginNext(): void {
    const [next] = this.#waiting;
    if (next === undefined) return;
    const [owner, [first, ...others]] = next;
    // Behind all the others.
    this.#waiting.delete(owner);
    if (others.length > 0) this.#waiting.set(owner, others);
    this.#isTaken = first?.enters === true;
    this.#enteredAtMs = this.#nowMs();
    this.#hasPassed(this.#enteredAtMs);
    first?.begin();
  }

  /** Where the processor was with other processes, nothing was worked. */
  #workedSince(startMs: number, nowMs: number): number {
    const byClockMs = nowMs - startMs;
    if (byClockMs < exactFromMs || this.#turn === undefined) return byClockMs;
    const { atMs, workedMs } = this.#turn;
    const share = (this.#workedMs() - workedMs) / Math.max(nowMs - atMs, byClockMs);
    return byClockMs * Math.min(1, share);
  }
}
