import type { Clock } from '#util/clock.ts';

interface OutageDetectorOptions {
  readonly clock: Clock;
  /** Sends a request on a new connection. Resolves with true for any response; never rejects. */
  readonly probe: () => Promise<boolean>;
  /** Called once. */
  readonly onOutage: () => void;
}

/** Interval between two failed probes that prove an outage. */
const betweenProbesMs = 250;
/** Time without any data before a waiting request triggers a probe. */
const noResponseMs = 5_000;

/**
 * Detects outages of the API server. A broken connection or a missing response starts probes. Two failed probes in a
 * row, without data on any other connection, are an outage. Sends no request in normal operation.
 */
export class OutageDetector {
  readonly #options: OutageDetectorOptions;
  /** Requests that wait for a response. */
  #waiting = 0;
  /** Start of the first request of those that wait. */
  #waitingSinceMs = 0;
  #receivedAtMs: number;
  #cancelTimer: (() => void) | undefined;
  #isProbing = false;
  #isStopped = false;

  constructor(options: OutageDetectorOptions) {
    this.#options = options;
    this.#receivedAtMs = options.clock.monotonicMs();
  }

  /** A request was sent. Call {@link requestEnded} later. */
  requestStarted(): void {
    this.#waiting += 1;
    if (this.#waiting > 1) return;
    this.#waitingSinceMs = this.#options.clock.monotonicMs();
    this.#scheduleCheck(noResponseMs);
  }

  /** A request has ended, with or without a response. */
  requestEnded(): void {
    this.#waiting -= 1;
    if (this.#waiting > 0) return;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  /** Data arrived: any response, or a chunk of a watch. */
  responseReceived(): void {
    this.#receivedAtMs = this.#options.clock.monotonicMs();
  }

  /** A connection failed, or expected data did not arrive. */
  suspect(): void {
    if (!this.#isProbing && !this.#isStopped) void this.#verify();
  }

  /** Stops the detection. */
  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer?.();
  }

  #scheduleCheck(ms: number): void {
    this.#cancelTimer = this.#options.clock.after(ms, () => {
      const sinceMs = Math.max(this.#receivedAtMs, this.#waitingSinceMs);
      const quietMs = this.#options.clock.monotonicMs() - sinceMs;
      if (quietMs >= noResponseMs) this.suspect();
      this.#scheduleCheck(Math.max(noResponseMs - quietMs, betweenProbesMs));
    });
  }

  async #verify(): Promise<void> {
    const { clock, probe, onOutage } = this.#options;
    const since = clock.monotonicMs();
    this.#isProbing = true;
    const isReachable = (await probe()) || (await this.#probeAgain(since));
    this.#isProbing = false;
    if (isReachable || this.#isStopped || this.#receivedAtMs > since) return;
    this.stop();
    onOutage();
  }

  async #probeAgain(since: number): Promise<boolean> {
    const { clock, probe } = this.#options;
    if (this.#receivedAtMs > since || this.#isStopped) return true;
    await new Promise<void>((resolve) => void clock.after(betweenProbesMs, resolve));
    return probe();
  }
}
