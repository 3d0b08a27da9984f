import type { InjectedFault } from './injected-fault.ts';

/** No answer is held for longer: the last ones may be fewer than are waited for. */
const maxHoldMs = 300;

/** Answers that wait for each other, to be sent the other way round. */
export class HeldAnswers {
  readonly #held: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** Resolves when it is this answer's turn. */
  turn(count: number, { removed }: Pick<InjectedFault, 'removed'>): Promise<void> {
    return new Promise((resolve) => {
      this.#held.unshift(resolve);
      this.#timer ??= setTimeout(() => this.#release(), maxHoldMs);
      if (this.#held.length >= count || removed.aborted) this.#release();
    });
  }

  #release(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const release of this.#held.splice(0)) release();
  }
}
