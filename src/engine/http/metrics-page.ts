import type { Clock } from '#util/clock.ts';

interface MetricsPageOptions {
  readonly clock: Clock;
  /** Renders all metrics: some milliseconds with many definitions. */
  readonly render: () => Promise<string>;
}

/** Lifetime of a rendered page. Prometheus scrapes every few seconds at most. */
const cacheMs = 1_000;

/** The `/metrics` page. It is rendered at most once a second; concurrent requests share one rendering. */
export class MetricsPage {
  readonly #options: MetricsPageOptions;
  /** The last rendering, pending or cached. */
  #page: Promise<Buffer> | undefined;
  /** Monotonic time at which the cached page expires. Undefined while the rendering is pending. */
  #expiresAtMs: number | undefined;

  constructor(options: MetricsPageOptions) {
    this.#options = options;
  }

  /** The encoded page, shared by all callers. Rejects when the rendering fails; the next call renders again. */
  read(): Promise<Buffer> {
    if (this.#page === undefined || this.#isExpired()) this.#page = this.#render();
    return this.#page;
  }

  #isExpired(): boolean {
    return (
      this.#expiresAtMs !== undefined && this.#options.clock.monotonicMs() >= this.#expiresAtMs
    );
  }

  async #render(): Promise<Buffer> {
    const { clock, render } = this.#options;
    this.#expiresAtMs = undefined;
    try {
      const page = Buffer.from(await render());
      this.#expiresAtMs = clock.monotonicMs() + cacheMs;
      return page;
    } catch (error) {
      this.#page = undefined;
      throw error;
    }
  }
}
