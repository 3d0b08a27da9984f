export interface BackoffOptions {
  /** Delay after the first failure, in ms. */
  readonly baseDelayMs: number;
  /** Upper bound of the delay, in ms. */
  readonly maxDelayMs: number;
}

/** The delay after `failures` earlier failures: doubling, clamped (client-go's item exponential limiter). */
export function backoffMs(failures: number, { baseDelayMs, maxDelayMs }: BackoffOptions): number {
  return Math.min(maxDelayMs, baseDelayMs * 2 ** Math.min(failures, 62));
}
