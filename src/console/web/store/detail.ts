/** Something that is fetched for a page. `value` stays while it is fetched again, and when that fails. */
export interface DetailState<Value> {
  readonly isLoading: boolean;
  readonly value?: Value;
  /** Why the last fetch failed. */
  readonly error?: unknown;
}

export interface DetailNeed {
  readonly key: string;
  /** Another version is fetched again. */
  readonly version: string;
  readonly load: (signal: AbortSignal) => Promise<unknown>;
}

/** A value that is fetched again when its version changes; one fetch at a time, the latest version last. */
export class Detail {
  #state: DetailState<unknown> = { isLoading: true };
  #version: string | undefined;
  #wanted: DetailNeed | undefined;
  #isRunning = false;
  readonly #stopper = new AbortController();
  readonly #onChange: () => void;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get state(): DetailState<unknown> {
    return this.#state;
  }

  need(need: DetailNeed): void {
    this.#wanted = need;
    if (!this.#isRunning && need.version !== this.#version) void this.#run();
  }

  stop(): void {
    this.#stopper.abort();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopper;
    this.#isRunning = true;
    while (
      this.#wanted !== undefined &&
      this.#wanted.version !== this.#version &&
      !signal.aborted
    ) {
      const { version, load } = this.#wanted;
      this.#version = version;
      this.#state = { ...this.#state, isLoading: true };
      try {
        this.#state = { isLoading: false, value: await load(signal) };
      } catch (error) {
        if (signal.aborted) break;
        this.#state = { ...this.#state, isLoading: false, error };
      }
      if (!signal.aborted) this.#onChange();
    }
    this.#isRunning = false;
  }
}
