import type { Clock } from '../../util/clock.ts';

export interface OutageWatchOptions {
  readonly clock: Clock;
  /** Sends a request on a new connection. Resolves with true for any answer, a refusal included; never rejects. */
  readonly probe: () => Promise<boolean>;
  /** Called once. */
  readonly onOutage: () => void;
}

/** Two attempts to connect that fail, so far apart, are an outage. */
const betweenProbesMs = 250;
/** A request that waits so long while nothing at all arrives is reason for a probe. */
const silenceMs = 5_000;

/**
 * Finds out when the API server is away: what was broken or waits without an answer is a suspicion, and two probes in a row that fail
 * while nothing arrives on any other connection prove it. Costs no request while all is well.
 */
export class OutageWatch {
  readonly #options: OutageWatchOptions;
  /** Requests that wait for an answer. */
  #waiting = 0;
  #heardMs: number;
  #cancelTimer: (() => void) | undefined;
  #isJudging = false;
  #isOver = false;

  constructor(options: OutageWatchOptions) {
    this.#options = options;
    this.#heardMs = options.clock.monotonicMs();
  }

  /** A request was sent. To be followed by {@link ended}. */
  began(): void {
    this.#waiting += 1;
    if (this.#waiting > 1) return;
    // Silence counts from when an answer is due.
    this.#heardMs = this.#options.clock.monotonicMs();
    this.#lookIn(silenceMs);
  }

  /** A request has ended, with or without an answer. */
  ended(): void {
    this.#waiting -= 1;
    if (this.#waiting > 0) return;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  /** Something arrived: an answer, whatever its status, or a piece of a watch. */
  heard(): void {
    this.#heardMs = this.#options.clock.monotonicMs();
  }

  /** A connection was refused or broke, or something that was due did not come. */
  suspect(): void {
    if (!this.#isJudging && !this.#isOver) void this.#judge();
  }

  /** Nothing is found out any more. */
  stop(): void {
    this.#isOver = true;
    this.#cancelTimer?.();
  }

  #lookIn(ms: number): void {
    this.#cancelTimer = this.#options.clock.after(ms, () => {
      const silentMs = this.#options.clock.monotonicMs() - this.#heardMs;
      if (silentMs >= silenceMs) this.suspect();
      this.#lookIn(Math.max(silenceMs - silentMs, betweenProbesMs));
    });
  }

  async #judge(): Promise<void> {
    const { clock, probe, onOutage } = this.#options;
    const since = clock.monotonicMs();
    this.#isJudging = true;
    const answers = (await probe()) || (await this.#again(since));
    this.#isJudging = false;
    if (answers || this.#isOver || this.#heardMs > since) return;
    this.stop();
    onOutage();
  }

  async #again(since: number): Promise<boolean> {
    const { clock, probe } = this.#options;
    if (this.#heardMs > since || this.#isOver) return true;
    await new Promise<void>((resolve) => void clock.after(betweenProbesMs, resolve));
    return probe();
  }
}
