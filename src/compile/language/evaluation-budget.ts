import { limits } from './limits.ts';

/**
 * The bounds of one evaluation in the form of JSONata's options. JSONata measures time by the clock, so that a busy machine
 * makes sound expressions fail; it reads `timeout` at every step, so this counts the steps instead: a result must not depend on the load.
 * The clock remains as the last resort. One budget serves one evaluation at a time.
 */
export interface EvaluationBudget {
  /** In ms; infinitesimal when the steps are used up. Reading it is a step. */
  readonly timeout: number;
  readonly stack: number;
  readonly sequence: number;
  readonly RegexEngine: RegExpConstructor;
  /** Begins an evaluation. */
  start(): void;
  /** Takes of the time for searching. It is measured, since nothing tells how far a search had to look. */
  spendSearchTime(ms: number): void;
}

/** How long this thread has worked, in ms since whenever. Where the processor was with others, nothing was worked. */
export type WorkedMs = () => number;

/**
 * Creates a budget with the limits of {@link limits}, and with the engine for regular expressions, which JSONata takes by the same way.
 * Searches are measured by the clock, since that is cheap; `workedMs` is asked at the first one, and when the clock says that the time is over.
 */
export function createEvaluationBudget(
  regexEngine: RegExpConstructor,
  workedMs: WorkedMs,
): EvaluationBudget {
  let stepsLeft = 0;
  let searchMsLeft = 0;
  let workedBeforeMs: number | undefined;
  return {
    get timeout() {
      stepsLeft -= 1;
      return stepsLeft < 0 ? Number.MIN_VALUE : limits.wallClockMs;
    },
    stack: limits.depth,
    sequence: limits.sequence,
    RegexEngine: regexEngine,
    start() {
      stepsLeft = limits.steps;
      searchMsLeft = limits.searchMs;
      workedBeforeMs = undefined;
    },
    spendSearchTime(ms) {
      searchMsLeft -= ms;
      workedBeforeMs ??= workedMs() - ms;
      if (searchMsLeft >= 0) return;
      searchMsLeft = limits.searchMs - (workedMs() - workedBeforeMs);
      if (searchMsLeft <= 0) stepsLeft = 0;
    },
  };
}
