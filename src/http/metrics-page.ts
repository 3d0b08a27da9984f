import type { Clock } from '../util/clock.ts';

export interface MetricsPageOptions {
  readonly clock: Clock;
  /** Makes the text from all that is measured: some milliseconds of work with many definitions. */
  readonly render: () => Promise<string>;
}

/** So long a text is kept. Prometheus asks every few seconds at most. */
const keptMs = 1_000;

/** The text of `/metrics`: rendered at most once a second, however many ask for it; those who ask meanwhile share one rendering. */
export class MetricsPage {
  readonly #options: MetricsPageOptions;
  /** The last rendering, under way or kept. */
  #page: Promise<Buffer> | undefined;
  /** Until when it is kept, monotonic; undefined while it is under way. */
  #keptUntilMs: number | undefined;

  constructor(options: MetricsPageOptions) {
    this.#options = options;
  }

  /** Encoded once for all who get it. Rejects when the rendering fails; the next call renders anew. */
  read(): Promise<Buffer> {
    if (this.#page === undefined || this.#isOld()) this.#page = this.#render();
    return this.#page;
  }

  #isOld(): boolean {
    return (
      this.#keptUntilMs !== undefined && this.#options.clock.monotonicMs() >= this.#keptUntilMs
    );
  }

  async #render(): Promise<Buffer> {
    const { clock, render } = this.#options;
    this.#keptUntilMs = undefined;
    try {
      const page = Buffer.from(await render());
      this.#keptUntilMs = clock.monotonicMs() + keptMs;
      return page;
    } catch (error) {
      this.#page = undefined;
      throw error;
    }
  }
}
