import { type ApiClient, KubeError } from '#kube';
import type { Clock } from '#util/clock.ts';
import { pause } from '#util/pause.ts';
import type { Random } from '#util/random.ts';

interface OutageBackoffOptions {
  readonly clock: Clock;
  readonly random: Random;
}

/** Outages within this time count as one failure: each has a longer delay than the previous one. */
const togetherMs = 300_000;
const firstPauseMs = 1_000;
const longestPauseMs = 30_000;
const betweenProbesMs = { least: 1_000, most: 5_000 };

/** Waits until the server is available again, longer if outages follow each other. */
export class OutageBackoff {
  readonly #options: OutageBackoffOptions;
  #inARow = 0;
  #lastMs: number | undefined;

  constructor(options: OutageBackoffOptions) {
    this.#options = options;
  }

  /** Resolves when the server answers, or the signal aborts. To be called at each outage. */
  async waitUntilServing(api: ApiClient, signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    const nowMs = clock.monotonicMs();
    const isTogether = this.#lastMs !== undefined && nowMs - this.#lastMs < togetherMs;
    this.#inARow = isTogether ? this.#inARow + 1 : 0;
    this.#lastMs = nowMs;
    const pauseMs = Math.min(longestPauseMs, firstPauseMs * 4 ** this.#inARow);
    await pause(clock, (pauseMs * (1 + random.fraction())) / 2, signal);
    const { least, most } = betweenProbesMs;
    while (!signal.aborted && !(await serves(api, signal)))
      await pause(clock, least + (most - least) * random.fraction(), signal);
  }
}

/** Every response counts, except those that report that the server is not ready. */
async function serves(api: ApiClient, signal: AbortSignal): Promise<boolean> {
  const flow = { name: 'discovery', priority: 'object' } as const;
  try {
    await api.request({ method: 'GET', path: '/version', flow }, signal);
    return true;
  } catch (error) {
    return error instanceof KubeError && error.status !== 0 && error.status < 500;
  }
}
