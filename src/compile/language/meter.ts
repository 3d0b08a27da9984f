import { ExpressionError } from './expression-error.ts';
import { limits } from './limits.ts';
import { WorkBudget } from './work-budget.ts';

/** How long this thread has worked, in ms since whenever. Where the processor was with others, nothing was worked. */
export type WorkedMs = () => number;

export interface MeterOptions {
  /** @default {@link limits.steps} */
  readonly steps?: number;
  /** @default the clock */
  readonly workedMs?: WorkedMs;
}

/**
 * What one evaluation takes: steps and bytes, by {@link limits} and by the budget of its reconcile. Every function and operator
 * whose work grows with its values charges it by their size.
 */
export class Meter {
  readonly budget: WorkBudget;
  readonly #workedMs: WorkedMs;
  readonly #steps: number;
  #stepsLeft: number;
  #bytes = 0;
  #searchMsLeft: number = limits.searchMs;
  #workedBeforeMs: number | undefined;

  constructor(budget: WorkBudget = new WorkBudget(), options: MeterOptions = {}) {
    const { steps = limits.steps, workedMs = clockMs } = options;
    this.budget = budget;
    this.#workedMs = workedMs;
    this.#steps = steps;
    this.#stepsLeft = steps;
  }

  get stepsLeft(): number {
    return this.#stepsLeft;
  }

  /** Counts work. @throws ExpressionError */
  spend(steps: number): void {
    this.#stepsLeft -= steps;
    if (this.#stepsLeft < 0) throw this.#tooManySteps();
    this.budget.spend(steps);
  }

  /** Refuses work that may take so many steps, without counting it: how many it takes is known afterwards. */
  allow(steps: number): void {
    if (steps > this.#stepsLeft) throw this.#tooManySteps();
  }

  /** Counts what is made. @throws ExpressionError */
  produce(bytes: number): void {
    this.#bytes += bytes;
    this.budget.produced(this.#bytes);
    if (this.#bytes > limits.producedBytes) {
      throw new ExpressionError(
        'too-large',
        `Expected at most ${limits.producedBytes} bytes of texts, lists and maps in one evaluation`,
      );
    }
  }

  /** Counts a text that is made. */
  produceText(text: string): void {
    this.produce(text.length);
  }

  /**
   * Takes of the time for searching with regular expressions, beside the steps. It is measured by the clock, since that is cheap; the
   * CPU time is asked at the first search, and when the clock says that the time is over.
   */
  spendSearchTime(ms: number): void {
    this.#searchMsLeft -= ms;
    this.#workedBeforeMs ??= this.#workedMs() - ms;
    if (this.#searchMsLeft >= 0) return;
    this.#searchMsLeft = limits.searchMs - (this.#workedMs() - this.#workedBeforeMs);
    if (this.#searchMsLeft <= 0) throw this.#tooManySteps();
  }

  #tooManySteps(): ExpressionError {
    const message = `Expected at most ${this.#steps} steps in one evaluation`;
    return new ExpressionError('limit-exceeded', message);
  }
}

function clockMs(): number {
  return performance.now();
}
