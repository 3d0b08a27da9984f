import type { Clock } from '../../util/clock.ts';
import type { Random } from '../../util/random.ts';
import { whenAborted } from '../../util/when-aborted.ts';

export interface ResyncOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Asked before each round. 0: there is none. */
  readonly everyMs: () => number;
  /** Runs every resource. */
  readonly runAll: () => void;
}

/** Runs every resource once in a while, as a net under all that watches might miss. */
export class Resync {
  readonly #options: ResyncOptions;
  #restart = () => {};

  constructor(options: ResyncOptions) {
    this.#options = options;
  }

  /** The time between rounds may have changed: the wait for the next one begins anew. */
  restart(): void {
    this.#restart();
  }

  /** Resolves when the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, random, everyMs, runAll } = this.#options;
    while (!signal.aborted) {
      const changed = new AbortController();
      this.#restart = () => changed.abort();
      const either = AbortSignal.any([signal, changed.signal]);
      const ms = everyMs();
      if (ms > 0) await clock.sleep(ms * (0.9 + 0.2 * random.fraction()), either).catch(() => {});
      else await whenAborted(either);
      if (!either.aborted) runAll();
    }
  }
}
