import { monitorEventLoopDelay } from 'node:perf_hooks';

const resolutionMs = 10;
const quantiles = [0.5, 0.9, 0.99, 1] as const;

/** Measures how late the event loop runs its timers. Costs a timer every ten milliseconds, in native code. */
export class EventLoopDelay {
  readonly #histogram: ReturnType<typeof monitorEventLoopDelay>;

  constructor() {
    this.#histogram = monitorEventLoopDelay({ resolution: resolutionMs });
    this.#histogram.enable();
  }

  /** Quantiles in seconds of what was measured since the last call, and starts over. */
  take(): readonly { readonly quantile: string; readonly seconds: number }[] {
    const histogram = this.#histogram;
    const taken = quantiles.map((quantile) => {
      const nanoseconds = quantile === 1 ? histogram.max : histogram.percentile(quantile * 100);
      // What is measured is the time between two ticks of the timer; none at all reads as an endless one.
      const delayMs = histogram.count === 0 ? 0 : nanoseconds / 1e6 - resolutionMs;
      return { quantile: String(quantile), seconds: Math.max(0, delayMs) / 1_000 };
    });
    histogram.reset();
    return taken;
  }
}
