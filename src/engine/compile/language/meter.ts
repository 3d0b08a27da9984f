import { ExpressionError } from './evaluation-error.ts';
import { limits } from './limits.ts';
import { WorkBudget } from './work-budget.ts';

/**
 * Counts steps and bytes of one evaluation, limited by {@link limits} and by the budget of the reconcile. Functions
 * and operators whose work depends on the size of their values charge the meter accordingly.
 */
export class Meter {
  readonly budget: WorkBudget;
  readonly #steps: number;
  #stepsLeft: number;
  #bytes = 0;

  /** @param steps limit of the evaluation. */
  constructor(budget: WorkBudget = new WorkBudget(), steps: number = limits.steps) {
    this.budget = budget;
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

  /**
   * Rejects work that may exceed the remaining steps, without counting it. Used if the actual steps are only known
   * afterwards.
   */
  ensureAvailable(steps: number): void {
    if (steps > this.#stepsLeft) throw this.#tooManySteps();
    this.budget.expectSteps(steps);
  }

  /** Counts created bytes. @throws ExpressionError */
  allocate(bytes: number): void {
    this.#bytes += bytes;
    this.budget.setProduced(this.#bytes);
    if (this.#bytes > limits.producedBytes) {
      throw new ExpressionError(
        'too-large',
        `Expected at most ${limits.producedBytes} bytes of strings, lists and maps in one evaluation`,
      );
    }
  }

  #tooManySteps(): ExpressionError {
    const message = `Expected at most ${this.#steps} steps in one evaluation`;
    return new ExpressionError('limit-exceeded', message);
  }
}
