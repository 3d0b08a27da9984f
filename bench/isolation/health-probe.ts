import { setTimeout as sleep } from 'node:timers/promises';

const everyMs = 100;

/** Asks for `/healthz` ten times a second, as a kubelet would less often. */
export class HealthProbe {
  readonly #stop = new AbortController();
  readonly #asking: Promise<void>;
  #maxMs = 0;

  constructor(url: string) {
    this.#asking = this.#run(`${url}/healthz`);
  }

  /** Resolves with the slowest answer, in ms; infinite when one was no 200. */
  async stop(): Promise<number> {
    this.#stop.abort();
    await this.#asking;
    return this.#maxMs;
  }

  async #run(url: string): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const startMs = performance.now();
      const status = await fetch(url).then(
        (answer) => answer.status,
        () => 0,
      );
      const tookMs = status === 200 ? performance.now() - startMs : Number.POSITIVE_INFINITY;
      this.#maxMs = Math.max(this.#maxMs, tookMs);
      await sleep(everyMs);
    }
  }
}
