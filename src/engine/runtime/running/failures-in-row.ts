import type { BackoffOptions } from '#util/backoff.ts';

/**
 * Counts failures in a row. Those with delays of their own are counted apart: many others must not make the first wait as long as the last,
 * and others between them must not make them frequent.
 */
export class FailuresInRow {
  #usual = 0;
  #own = 0;

  get count(): number {
    return this.#usual + this.#own;
  }

  /**
   * Counts one.
   * @param delays undefined: the usual ones
   * @returns how many with such delays came before it
   */
  add(delays: BackoffOptions | undefined): number {
    if (delays === undefined) return this.#usual++;
    return this.#own++;
  }

  end(): void {
    this.#usual = 0;
    this.#own = 0;
  }
}
