/** Where a search for a change begins and ends. */
export interface SearchRange {
  /** The test has its present result here. */
  readonly fromMs: number;
  /** A change at this time or later is of no interest. */
  readonly beforeMs: number;
  /** From a time on: the end of the period in which the test changes at most once. @default never */
  readonly until?: ((ms: number) => number) | undefined;
  /** Number of periods to search. Beyond a day fewer are searched. */
  readonly mostPeriods: number;
}

/** More than a day is searched in so many periods only: of what starts again every day, so many days. */
const mostLongPeriods = 64;
const longMs = 26 * 3_600_000;

/**
 * The first millisecond at which a test has another result. If there is none in as many periods as are searched, the end of the last one:
 * the search continues there. Undefined: the result does not change before the end of the range.
 */
export function nextChange(
  test: (ms: number) => unknown,
  { fromMs, beforeMs, until, mostPeriods }: SearchRange,
): number | undefined {
  const present = test(fromMs);
  const isChanged = (ms: number) => test(ms) !== present;
  let startMs = fromMs;
  for (let period = 0; period < mostPeriods; period++) {
    if (period >= mostLongPeriods && startMs - fromMs >= longMs) break;
    const endMs = Math.min(until?.(startMs) ?? beforeMs, beforeMs);
    // Also for a period whose end is not known (NaN).
    if (!(endMs > startMs)) return undefined;
    if (endMs - 1 > startMs && isChanged(endMs - 1)) return firstOf(isChanged, startMs, endMs - 1);
    if (endMs >= beforeMs) return undefined;
    if (isChanged(endMs)) return endMs;
    startMs = endMs;
  }
  return startMs;
}

/** The first of the milliseconds after `lowMs` for which a test is true; it is true for `highMs`. */
export function firstOf(test: (ms: number) => boolean, lowMs: number, highMs: number): number {
  let low = lowMs;
  let high = highMs;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (test(middle)) high = middle;
    else low = middle;
  }
  return high;
}
